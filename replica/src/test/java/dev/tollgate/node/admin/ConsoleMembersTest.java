package dev.tollgate.node.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.log.LogStatus;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What the console shows of nodes that this node hears, does not hear, and never listens to. */
class ConsoleMembersTest {
  private static final InetAddress HERE = InetAddress.getLoopbackAddress();

  private static String members(String self, LogStatus.Role role, List<LogStatus.Member> members) {
    return members(status(self, role, members), Map.of(), HERE);
  }

  private static LogStatus status(
      String self, LogStatus.Role role, List<LogStatus.Member> members) {
    return new LogStatus(self, role, "n1", 3, 90, 100, members);
  }

  private static String members(LogStatus status, Map<String, String> urls, InetAddress client) {
    ConsoleJson json = new ConsoleJson().open('{');
    ConsoleMembers.write(json, new MemberUrls(status, urls), client, Map.of("n2", "h2:7400"));
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
                new LogStatus.Member("n2", "h2:7500", 93, 20L, true)));
    assertEquals(
        "{\"id\":\"n2\",\"self\":false,\"role\":\"FOLLOWER\",\"clientAddress\":\"h2:7400\","
            + "\"raftAddress\":\"h2:7500\",\"consoleUrl\":null,\"appliedIndex\":93,\"entriesBehind\":7,"
            + "\"silentMillis\":20,\"lostEntries\":true,\"reach\":\"REACHABLE\"}",
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

  private static LogStatus onOneHost() {
    return status(
        "n2",
        LogStatus.Role.FOLLOWER,
        List.of(
            new LogStatus.Member("n1", "h:7500", 100, 10L),
            new LogStatus.Member("n2", "h:7501", 100, 0L),
            new LogStatus.Member("n3", "h:7502", 100, null)));
  }

  @Test
  void consoleOfAMemberHasAUrlIfTheMemberHasSaidIt() {
    String json =
        members(
            onOneHost(),
            Map.of("n1", "https://h1.example.org:7480", "n2", "https://h2.example.org:7480"),
            HERE);
    String url = "\"consoleUrl\":\"https://h1.example.org:7480/console\"";
    assertTrue(member(json, "n1").contains(url), json);
    assertTrue(member(json, "n2").contains("\"consoleUrl\":null"), "the node itself: " + json);
    assertTrue(member(json, "n3").contains("\"consoleUrl\":null"), json);
  }

  /** Both pages are made of one picture. */
  @Test
  void urlOnLoopbackIsForClientsOfThisHostAlone() throws Exception {
    Map<String, String> urls = Map.of("n1", "http://127.0.0.1:7480");
    String url = "\"consoleUrl\":\"http://127.0.0.1:7480/console\"";
    assertTrue(members(onOneHost(), urls, HERE).contains(url));
    InetAddress elsewhere = InetAddress.getByAddress(new byte[] {10, 0, 0, 99});
    assertFalse(members(onOneHost(), urls, elsewhere).contains("7480"));
  }
}
