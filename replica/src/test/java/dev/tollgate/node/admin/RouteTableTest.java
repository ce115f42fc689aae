package dev.tollgate.node.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;

class RouteTableTest {
  private static Route route(String method, String path) {
    return new Route(method, path, Audience.USERS, request -> Answer.text(Answer.OK, path));
  }

  private final Route root = route("GET", "/");
  private final Route locks = route("GET", "/v1/locks/");
  private final Route special = route("GET", "/v1/locks/all");
  private final Route release = route("DELETE", "/v1/locks/");
  private final RouteTable table = new RouteTable(List.of(root, locks, special, release));

  @Test
  void longestPathServes() {
    assertSame(special, table.find("GET", "/v1/locks/all"));
    assertSame(locks, table.find("GET", "/v1/locks/all/more"));
    assertSame(locks, table.find("GET", "/v1/locks/"));
    assertEquals("all/more", locks.rest("/v1/locks/all/more"));
  }

  @Test
  void rootServesItselfAlone() {
    assertSame(root, table.find("GET", "/"));
    assertNull(table.find("GET", "/other"));
    assertNull(table.find("GET", "/v1/locks"));
  }

  @Test
  void methodsOfAPathAreThoseOfAllItsRoutes() {
    assertEquals(List.of("DELETE", "GET", "HEAD"), List.copyOf(table.methods("/v1/locks/a")));
    assertEquals(List.of(), List.copyOf(table.methods("/nowhere")));
    assertNull(table.find("PUT", "/v1/locks/a"));
  }

  @Test
  void twoRoutesOfAMethodAndPathAreRefused() {
    assertThrows(
        IllegalArgumentException.class, () -> new RouteTable(List.of(root, route("GET", "/"))));
    assertThrows(IllegalArgumentException.class, () -> route("GET", "metrics"));
  }
}
