package dev.tollgate.node.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.log.LogStatus;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What the console shows of nodes that this node hears, does not hear, and never listens to. */
class ConsoleMembersTest {
  private static String members(String self, LogStatus.Role role, List<LogStatus.Member> members) {
    ConsoleJson json = new ConsoleJson().open('{');
    LogStatus status = new LogStatus(self, role, "n1", 3, 90, 100, members);
    ConsoleMembers.write(json, self, status, Map.of("n2", "h2:7400"));
    return json.close('}').toString();
  }

  private static String member(String json, String id) {
    int from = json.indexOf("{\"id\":\"" + id + "\"");
    assertTrue(from >= 0, json);
    return json.substring(from, json.indexOf('}', from) + 1);
  }

  @Test
  void nodeThatTheLeaderHearsHasARoleAndALag() {
    String json =
        members(
            "n1",
            LogStatus.Role.LEADER,
            List.of(
                new LogStatus.Member("n1", "h1:7500", 100, 0L),
                new LogStatus.Member("n2", "h2:7500", 93, 20L)));
    assertEquals(
        "{\"id\":\"n2\",\"self\":false,\"role\":\"FOLLOWER\",\"clientAddress\":\"h2:7400\","
            + "\"raftAddress\":\"h2:7500\",\"commitIndex\":93,\"entriesBehind\":7,"
            + "\"silentMillis\":20,\"reach\":\"REACHABLE\"}",
        member(json, "n2"));
    assertTrue(member(json, "n1").contains("\"role\":\"LEADER\""), json);
  }

  @Test
  void nodeThatTheLeaderDoesNotHearIsUnreachableAndHasNoLag() {
    String json =
        members(
            "n1",
            LogStatus.Role.LEADER,
            List.of(
                new LogStatus.Member("n1", "h1:7500", 100, 0L),
                new LogStatus.Member("n2", "h2:7500", 100, ConsoleLimits.SILENCE.toMillis())));
    String shown = member(json, "n2");
    assertTrue(shown.contains("\"reach\":\"UNREACHABLE\""), shown);
    assertTrue(shown.contains("\"entriesBehind\":null"), shown);
    assertTrue(shown.contains("\"role\":null"), shown);
  }

  @Test
  void followerSaysNothingOfOtherFollowers() {
    String json =
        members(
            "n2",
            LogStatus.Role.FOLLOWER,
            List.of(
                new LogStatus.Member("n1", "h1:7500", 100, 10L),
                new LogStatus.Member("n2", "h2:7500", 100, 0L),
                new LogStatus.Member("n3", "h3:7500", 100, null)));
    String shown = member(json, "n3");
    assertTrue(shown.contains("\"reach\":\"UNKNOWN\""), shown);
    assertTrue(shown.contains("\"entriesBehind\":null"), shown);
  }
}
