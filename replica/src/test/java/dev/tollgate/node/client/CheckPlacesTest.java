package dev.tollgate.node.client;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class CheckPlacesTest {
  private final CheckPlaces places = new CheckPlaces(6, 4, 2);

  @Test
  void guessesLeaveRoomForOthers() {
    assertTrue(places.take("jo", "a"));
    assertTrue(places.take("jo", "a"));
    assertFalse(places.take("jo", "a"), "a user");
    assertTrue(places.take("mo", "a"));
    assertTrue(places.take("lu", "a"));
    assertFalse(places.take("al", "a"), "an address");
    assertTrue(places.take("jo", "b"));
    assertTrue(places.take("jo", "c"));
    assertFalse(places.take("jo", "d"), "all");
  }

  @Test
  void placesComeBack() {
    for (int i = 0; i < 100; i++) {
      assertTrue(places.take("jo", "a"));
      assertTrue(places.take("jo", "a"));
      assertFalse(places.take("jo", "a"));
      places.giveBack("jo", "a");
      places.giveBack("jo", "a");
    }
  }
}
