package dev.tollgate.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.UserName;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class UserSharesTest {
  private static final UserName EVE = new UserName("EVE");

  private final UserShares shares = new UserShares(10, "bytes");

  @Test
  void amountsAreCounted() {
    shares.add(EVE, 7);
    assertNull(shares.full(EVE, 3, "wait"));
    Outcome.Refused full = shares.full(EVE, 4, "wait");
    assertNotNull(full);
    assertEquals(
        "the number of bytes of user EVE with 4 more would be above 10, as many as may be: wait",
        full.message());
    shares.remove(EVE, 5);
    assertNull(shares.full(EVE, 8, "wait"));
    shares.checkInvariants(new TreeMap<>(Map.of(EVE, 2L)));
    assertThrows(IllegalStateException.class, () -> shares.remove(EVE, 3));
    assertThrows(IllegalStateException.class, () -> shares.checkInvariants(List.of(EVE)));
  }

  @Test
  void nothingIsNoAmount() {
    shares.add(EVE, 0);
    shares.checkInvariants(new TreeMap<>());
    shares.checkInvariants(new TreeMap<>(Map.of(EVE, 0L)));
    shares.remove(EVE, 0);
  }
}
