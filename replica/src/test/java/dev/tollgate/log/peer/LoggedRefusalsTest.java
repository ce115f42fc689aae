package dev.tollgate.log.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Limits;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class LoggedRefusalsTest {
  private long nowNanos = Long.MAX_VALUE - 5; // the clock may wrap around
  private final LoggedRefusals refusals = new LoggedRefusals(() -> nowNanos);

  @Test
  void refusalIsLoggedOnce() {
    assertTrue(refusals.add("n2 OTHER_CLUSTER"));
    nowNanos += TimeUnit.HOURS.toNanos(1);
    assertFalse(refusals.add("n2 OTHER_CLUSTER"));
    assertTrue(refusals.add("n2 SENDER_UNKNOWN"));
  }

  @Test
  void floodSilencesWhatComesLaterForAMinuteAtMost() {
    int logged = 0;
    for (int i = 0; i < 10_000; i++) {
      logged += refusals.add("n" + i + " OTHER_CLUSTER") ? 1 : 0;
    }
    assertEquals(Limits.LOGGED_REFUSALS, logged);
    assertFalse(refusals.add("n2 SENDER_UNPROVEN"));
    nowNanos += TimeUnit.MINUTES.toNanos(1);
    assertTrue(refusals.add("n2 SENDER_UNPROVEN"));
  }
}
