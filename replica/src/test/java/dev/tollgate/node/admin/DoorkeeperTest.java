package dev.tollgate.node.admin;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Which pages may send requests that change something. Logins are tested at a whole node. */
class DoorkeeperTest {
  private static boolean isOwnPage(String... headers) {
    TreeMap<String, String> all = new TreeMap<>();
    for (int i = 0; i < headers.length; i += 2) {
      all.put(headers[i], headers[i + 1]);
    }
    return Doorkeeper.isOwnPage(
        new Doorkeeper.Credentials(
            "GET /", InetAddress.getLoopbackAddress(), null, all::get, /* waited= */ false));
  }

  @Test
  void programsSendNoOrigin() {
    assertTrue(isOwnPage("Host", "127.0.0.1:7480"));
    assertTrue(isOwnPage());
  }

  @Test
  void pageOfTheSameHostAndPortIsOwn() {
    assertTrue(isOwnPage("Host", "n1.example:7480", "Origin", "https://n1.example:7480"));
    assertTrue(isOwnPage("Host", "N1.example:7480", "Origin", "http://n1.example:7480"));
  }

  @Test
  void otherPageIsNotOwn() {
    assertFalse(isOwnPage("Host", "127.0.0.1:7480", "Origin", "http://evil.example"));
    assertFalse(isOwnPage("Host", "127.0.0.1:7480", "Origin", "http://127.0.0.1:8080"));
    assertFalse(isOwnPage("Host", "127.0.0.1:7480", "Origin", "null"), "a page in a sandbox");
    assertFalse(isOwnPage("Host", "127.0.0.1:7480", "Origin", ""));
    assertFalse(isOwnPage("Origin", "http://127.0.0.1:7480"));
    assertFalse(
        isOwnPage("Host", "evil.example", "Origin", "http://evil.example.org"), "no beginning");
  }
}
