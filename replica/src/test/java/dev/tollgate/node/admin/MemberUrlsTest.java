package dev.tollgate.node.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.tollgate.log.LogStatus;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which URLs n1 gives to clients on its host and elsewhere. */
class MemberUrlsTest {
  private static final String HERE = "127.0.0.1";
  private static final String ELSEWHERE = "10.0.0.99";

  private static String url(String url, String raftAddress, String client) throws Exception {
    LogStatus status =
        new LogStatus(
            "n1",
            LogStatus.Role.FOLLOWER,
            "n2",
            1,
            1,
            1,
            List.of(
                new LogStatus.Member("n1", "10.0.0.1:7410", 1),
                new LogStatus.Member("n2", raftAddress, 1)));
    return new MemberUrls(status, Map.of("n2", url))
        .forClient("n2", InetAddress.getAllByName(client)[0]);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://10.0.0.2:7480",
        "https://db2.example.org:7480",
        "http://[2001:db8::2]:80",
        "http://localhost.example.org:7480",
        "http://[::1:1]:7480"
      })
  void addressOfAHostIsForEveryClient(String url) throws Exception {
    assertEquals(url, url(url, "10.0.0.2:7410", ELSEWHERE));
    assertEquals(url, url(url, "10.0.0.2:7410", HERE));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://127.0.0.1:7480",
        "http://127.8.9.10:7480",
        "http://localhost:7480",
        "http://[::1]:7480",
        "http://[0:0:0:0:0:0:0:1]:7480"
      })
  void addressOnLoopbackIsForClientsOfTheMembersHost(String url) throws Exception {
    assertNull(url(url, "10.0.0.2:7410", HERE), "the member runs on another host");
    assertNull(url(url, "10.0.0.1:7510", ELSEWHERE), "the client runs on another host");
    assertEquals(url, url(url, "10.0.0.1:7510", HERE));
    assertEquals(url, url(url, "10.0.0.1:7510", "::1"));
  }

  @Test
  void memberThatHasSaidNoneHasNone() throws Exception {
    MemberUrls urls =
        new MemberUrls(LogStatus.of("n1", LogStatus.Role.STARTING), Map.of("n2", "http://a:1"));
    assertNull(urls.forClient("n3", InetAddress.getAllByName(HERE)[0]));
  }

  /** Such a node knows no members, so it cannot know where they run. */
  @Test
  void nodeThatStartsGivesNoAddressOnLoopback() throws Exception {
    MemberUrls urls =
        new MemberUrls(
            LogStatus.of("n1", LogStatus.Role.STARTING), Map.of("n2", "http://127.0.0.1:7480"));
    assertNull(urls.forClient("n2", InetAddress.getAllByName(HERE)[0]));
  }
}
