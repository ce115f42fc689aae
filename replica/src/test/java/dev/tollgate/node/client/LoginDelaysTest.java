package dev.tollgate.node.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class LoginDelaysTest {
  private static final ClientLimits LIMITS =
      new ClientLimits(
          1,
          1,
          1,
          1,
          1,
          1,
          1,
          1,
          1,
          1,
          1,
          1,
          1,
          1,
          /* loginAddresses= */ 3,
          /* loginUsers= */ 5,
          ConnectionLimits.STANDARD);

  private long now = -5;
  private final LoginDelays delays = new LoginDelays(LIMITS, () -> now);

  private void fail(String user, String address, int times) {
    for (int i = 0; i < times; i++) {
      delays.failed(user, address);
    }
  }

  private void pass(Duration time) {
    now += time.toNanos();
  }

  @Test
  void delayDoublesUpToItsMaximum() {
    fail("jo", "a", LoginDelays.FREE_FAILURES);
    assertEquals(Duration.ZERO, delays.enter("jo", "a"));
    Duration expected = LoginDelays.FIRST_DELAY;
    for (int i = 0; i < 100; i++) {
      fail("jo", "a", 1);
      assertEquals(expected, delays.enter("jo", "a"), "failure " + i);
      // a login that had its turn has the next one wait longer
      pass(LoginDelays.LONGEST_DELAY.multipliedBy(2));
      expected = expected.multipliedBy(2);
      if (expected.compareTo(LoginDelays.LONGEST_DELAY) > 0) {
        expected = LoginDelays.LONGEST_DELAY;
      }
    }
  }

  @Test
  void nobodyIsLockedOutForever() {
    fail("jo", "a", 1_000);
    pass(LoginDelays.LONGEST_DELAY);
    assertEquals(LoginDelays.LONGEST_HELD, delays.enter("jo", "a"), "the address is slow");
    fail("jo", "a", 1);
    pass(LoginDelays.REMEMBERED.plusMillis(1));
    assertEquals(Duration.ZERO, delays.enter("jo", "a"));
    assertEquals(Duration.ZERO, delays.enter("jo", "a"));
  }

  @Test
  void loginsAtTheSameTimeWaitOneAfterTheOther() {
    fail("jo", "a", LoginDelays.FREE_FAILURES + 2);
    assertEquals(Duration.ofMillis(500), delays.enter("jo", "a"));
    assertEquals(Duration.ofSeconds(1), delays.enter("jo", "a"));
    assertEquals(Duration.ofMillis(1500), delays.enter("jo", "a"));
    assertEquals(Duration.ofSeconds(2), delays.enter("jo", "a"));
    // these have no turn, and so do not have others wait
    assertEquals(Duration.ofMillis(2500), delays.enter("jo", "a"));
    assertEquals(Duration.ofMillis(2500), delays.enter("jo", "a"));
  }

  @Test
  void successForgetsTheFailuresOfThisUserAlone() {
    fail("jo", "a", 9);
    fail("mo", "a", 9);
    delays.succeeded("jo", "a");
    assertEquals(Duration.ZERO, delays.enter("jo", "a"));
    assertTrue(delays.enter("mo", "a").compareTo(Duration.ofSeconds(1)) > 0);
  }

  @Test
  void otherAddressesAreNotSlowed() {
    fail("jo", "a", 100);
    assertEquals(Duration.ZERO, delays.enter("jo", "b"));
  }

  /** Behind one address may be a whole company. */
  @Test
  void failuresOfOthersAtAnAddressSlowAUserAndRefuseNone() {
    for (int i = 0; i < LoginDelays.FREE_OF_ADDRESS; i++) {
      fail("invented" + i, "a", 1);
    }
    assertEquals(Duration.ZERO, delays.enter("jo", "a"));
    fail("another", "a", 1);
    assertEquals(LoginDelays.FIRST_DELAY, delays.enter("jo", "a"));
    for (int i = 0; i < 1_000; i++) {
      fail("invented" + i, "a", 1);
      assertTrue(delays.enter("jo", "a").compareTo(LoginDelays.LONGEST_HELD) <= 0);
    }
    delays.succeeded("jo", "a");
    assertEquals(LoginDelays.LONGEST_HELD, delays.enter("jo", "a"), "it ends with its attackers");
    assertEquals(Duration.ZERO, delays.enter("jo", "b"));
    pass(LoginDelays.REMEMBERED.plusMillis(1));
    assertEquals(Duration.ZERO, delays.enter("jo", "a"));
  }

  @Test
  void attackerNeedsAllPlacesToBeForgotten() {
    fail("jo", "a", 9);
    for (int i = 0; i < 4; i++) {
      fail("x" + i, "b", 1);
    }
    assertTrue(delays.enter("jo", "a").compareTo(LoginDelays.LONGEST_HELD) > 0);
    // each failure takes the place of what has been quiet longest
    fail("jo", "a", 1);
    fail("y", "b", 4);
    assertTrue(delays.enter("jo", "a").compareTo(LoginDelays.LONGEST_HELD) > 0);
    for (int i = 0; i < 5; i++) {
      fail("z" + i, "c", 1);
    }
    assertEquals(Duration.ZERO, delays.enter("jo", "a"));
  }
}
