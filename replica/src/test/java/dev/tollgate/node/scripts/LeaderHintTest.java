package dev.tollgate.node.scripts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.log.LogStatus;
import dev.tollgate.log.MemoryLog;
import dev.tollgate.log.ReplicatedLog;
import dev.tollgate.node.admin.AdminRequest;
import dev.tollgate.node.admin.Caller;
import dev.tollgate.node.admin.Presence;
import dev.tollgate.node.admin.ShownAnswer;
import dev.tollgate.node.replica.Duties;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What n1 answers while n2 leads, or nobody does. */
class LeaderHintTest {
  private static final String HERE = "127.0.0.1";
  private static final String ELSEWHERE = "10.0.0.99";

  private @Nullable String leader = "n2";
  private String raftAddressOfLeader = "10.0.0.2:7410";
  private final SortedMap<String, String> urls = new TreeMap<>();

  private final ReplicatedLog log =
      (ReplicatedLog)
          Proxy.newProxyInstance(
              MemoryLog.class.getClassLoader(),
              new Class<?>[] {ReplicatedLog.class},
              (proxy, method, arguments) ->
                  switch (method.getName()) {
                    case "leaderId" -> leader;
                    case "adminUrls" -> urls;
                    case "status" ->
                        new LogStatus(
                            "n1",
                            LogStatus.Role.FOLLOWER,
                            leader,
                            1,
                            1,
                            1,
                            List.of(
                                new LogStatus.Member("n1", "10.0.0.1:7410", 1),
                                new LogStatus.Member("n2", raftAddressOfLeader, 1)));
                    default -> throw new UnsupportedOperationException(method.getName());
                  });

  private ShownAnswer ask(String from, boolean maybeDone) throws Exception {
    TreeMap<String, String> clientAddresses = new TreeMap<>();
    clientAddresses.put("n2", "db2.example.org:7400");
    AdminRequest request =
        new AdminRequest(
            "DELETE",
            "/v1/locks/a%2Fb",
            "a%2Fb",
            "lease=1&keep=5m",
            new byte[0],
            new Caller(true, null, Duties.ALL),
            InetAddress.getAllByName(from)[0],
            name -> null,
            new Presence());
    return ShownAnswer.of(
        new LeaderHint("n1", log, () -> clientAddresses).answer(request, maybeDone));
  }

  private ShownAnswer ask(String from) throws Exception {
    return ask(from, /* maybeDone= */ false);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"http://10.0.0.2:7480", "https://db2.example.org:7480", "http://[2001:db8::2]:80"})
  void clientIsSentToTheLeader(String url) throws Exception {
    urls.put("n2", url);
    ShownAnswer answer = ask(ELSEWHERE);
    assertEquals(307, answer.status());
    assertEquals(url + "/v1/locks/a%2Fb?lease=1&keep=5m", answer.headers().get("Location"));
    assertTrue(
        answer
            .body()
            .endsWith(
                "\"leader\":{\"node\":\"n2\",\"client_address\":\"db2.example.org:7400\",\"url\":\""
                    + url
                    + "\"}}"),
        answer.body());
    assertTrue(answer.body().contains("n2 does; nothing was done"), answer.body());
  }

  @Test
  void leaderThatHasNotSaidItsAddressIsNamed() throws Exception {
    ShownAnswer answer = ask(ELSEWHERE);
    assertEquals(421, answer.status());
    assertFalse(answer.headers().containsKey("Location"));
    assertTrue(answer.body().contains("which it has not told this node"), answer.body());
    assertTrue(
        answer
            .body()
            .contains("\"leader\":{\"node\":\"n2\",\"client_address\":\"db2.example.org:7400\"}"),
        answer.body());
  }

  @Test
  void addressOnLoopbackIsForClientsOfTheLeadersHost() throws Exception {
    urls.put("n2", "http://127.0.0.1:7480");
    ShownAnswer answer = ask(HERE);
    assertEquals(421, answer.status(), "the leader runs on another host");
    assertTrue(answer.body().contains("which is on the loopback of its host"), answer.body());
    raftAddressOfLeader = "10.0.0.1:7510";
    assertEquals(421, ask(ELSEWHERE).status(), "the client runs on another host");
    assertEquals(307, ask(HERE).status());
  }

  @Test
  void withoutALeaderTheClientTriesAgain() throws Exception {
    leader = null;
    ShownAnswer answer = ask(HERE);
    assertEquals(503, answer.status());
    assertEquals("1", answer.headers().get("Retry-After"));
    assertTrue(
        answer.body().contains("node n1 knows no leader: try again; nothing was done"),
        answer.body());
    leader = "n1";
    assertTrue(ask(HERE).body().contains("node n1 is about to lead: try again"));
  }

  /** Leadership was lost while the request was under way. */
  @Test
  void whatMayBeDoneIsNotCalledUndone() throws Exception {
    urls.put("n2", "http://10.0.0.2:7480");
    for (String next : new String[] {"n2", "n1", null}) {
      leader = next;
      ShownAnswer answer = ask(HERE, /* maybeDone= */ true);
      assertTrue(answer.body().startsWith("{\"error\":{\"sql_state\":\"08007\""), answer.body());
      assertTrue(
          answer.body().contains("may have taken effect, and it is safe to send it again"),
          answer.body());
      assertFalse(answer.body().contains("nothing was done"), answer.body());
    }
  }
}
