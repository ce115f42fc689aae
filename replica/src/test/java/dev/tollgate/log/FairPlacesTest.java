package dev.tollgate.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.IOException;
import java.net.InetAddress;
import java.util.List;
import org.junit.jupiter.api.Test;

class FairPlacesTest {
  private final FairPlaces<String> places =
      new FairPlaces<>(4, connection -> !connection.startsWith("busy"));

  private String take(String connection, int address) throws IOException {
    return places.take(connection, InetAddress.getByAddress(new byte[] {10, 0, 0, (byte) address}));
  }

  @Test
  void oldestOfTheAddressWithTheMostGoes() throws Exception {
    assertNull(take("member", 1));
    assertNull(take("a", 2));
    assertNull(take("b", 2));
    assertNull(take("c", 2));
    assertEquals("a", take("d", 2));
    assertEquals("b", take("other", 3));
    assertEquals("c", take("e", 2));
    places.giveBack("member");
    assertNull(take("f", 2));
    assertEquals("d", take("g", 2));
    assertEquals(List.of("other", "e", "f", "g"), List.copyOf(places.all()));
  }

  @Test
  void oldestGoesIfNoAddressHasMore() throws Exception {
    for (int i = 0; i < 4; i++) {
      assertNull(take("p" + i, i));
    }
    assertEquals("p0", take("p4", 4));
    assertEquals("p1", take("p5", 5));
  }

  @Test
  void thoseThatMayNotGoStay() throws Exception {
    assertNull(take("busy1", 1));
    assertNull(take("busy2", 1));
    assertNull(take("busy3", 1));
    assertNull(take("p", 2));
    assertEquals("p", take("busy4", 1), "of another address with fewer");
    assertEquals("new", take("new", 3), "all are busy");
    places.giveBack("busy2");
    assertNull(take("new", 3));
  }

  /** A customer of a provider has a whole /64, so its addresses count together. */
  @Test
  void addressesOfOneNetworkCountTogether() throws Exception {
    assertNull(places.take("client", InetAddress.getByName("2001:db8:0:1::1")));
    assertNull(places.take("a", InetAddress.getByName("2001:db8:0:2::1")));
    assertNull(places.take("b", InetAddress.getByName("2001:db8:0:2::2")));
    assertNull(places.take("c", InetAddress.getByName("2001:db8:0:2:ffff::3")));
    assertEquals("a", places.take("d", InetAddress.getByName("2001:db8:0:2::4")));
  }

  /** Nodes have neighbors in their network. */
  @Test
  void withinANetworkTheAddressWithTheMostGivesWay() throws Exception {
    assertNull(places.take("node", InetAddress.getByName("fd00::1")));
    assertNull(places.take("a", InetAddress.getByName("fd00::2")));
    assertNull(places.take("b", InetAddress.getByName("fd00::2")));
    assertNull(places.take("other", InetAddress.getByName("10.0.0.1")));
    assertEquals("a", places.take("c", InetAddress.getByName("fd00::2")));
  }
}
