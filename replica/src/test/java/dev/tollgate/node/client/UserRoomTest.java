package dev.tollgate.node.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.UserName;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.SqlState;
import org.junit.jupiter.api.Test;

/** One user cannot take all of the room of a node. */
class UserRoomTest {
  private static final UserName EVE = new UserName("EVE");
  private static final UserName BOB = new UserName("BOB");

  private final UserRoom room = new UserRoom(10, 6, "things");

  private void assertFull(String message, UserRoom.Full full) {
    assertNotNull(full);
    assertNotNull(full.ofUser());
    assertTrue(full.ofUser().contains(message), full.ofUser());
  }

  @Test
  void userHasItsShareAndOthersTheRest() {
    assertNull(room.take(EVE, 5, "have fewer"));
    assertFull(
        "the number of things of user EVE with 2 more would be above 6, as many as may be: have"
            + " fewer",
        room.take(EVE, 2, "have fewer"));
    assertNull(room.take(EVE, 1, "have fewer"));
    assertFull("things of user EVE is 6", room.take(EVE, 1, "have fewer"));
    assertNull(room.take(BOB, 4, ""));
    assertEquals(new UserRoom.Full(10, null), room.take(BOB, 1, ""));
    room.give(EVE, 6);
    assertNull(room.take(EVE, 6, ""));
    assertEquals(10, room.taken());
  }

  @Test
  void clusterWithoutUsersHasNoShares() {
    assertNull(room.take(UserName.ANONYMOUS, 10, ""));
  }

  @Test
  void requestsOfOneUserLeaveRoomForThoseOfOthers() {
    Traffic traffic = new Traffic("n1", ClientLimits.STANDARD.withRequestBytes(128L << 20));
    assertNull(traffic.admit(EVE, 60L << 20));
    Reply.Failure full = traffic.admit(EVE, 5L << 20);
    assertNotNull(full);
    assertEquals(SqlState.BUSY.state(), full.sqlState());
    assertTrue(full.message().contains("of user EVE"), full.message());
    assertNotNull(traffic.holds(EVE, 5 << 20), "bytes that arrive count too");
    assertNull(traffic.admit(BOB, 48L << 20));
    traffic.answered(EVE, 60L << 20);
    assertNull(traffic.admit(EVE, 48L << 20), "a request of any size");
  }
}
