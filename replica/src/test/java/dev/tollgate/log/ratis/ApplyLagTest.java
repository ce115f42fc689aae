package dev.tollgate.log.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tollgate.log.LogStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ApplyLagTest {
  private static final long LONGEST = 100;
  private static final long LEADERLESS = 1_000;

  /** Entry 10 was committed at 0; applied and now are what the node is asked with. */
  @ParameterizedTest
  @CsvSource({
    "10, 10, 5000, true",
    "11, 10, 5000, true",
    "11, 9, 100, true",
    "11, 9, 101, false",
    "11, 0, 101, false",
  })
  void lacksNoEntryForLong(long committed, long applied, long now, boolean caughtUp) {
    ApplyLag lag = new ApplyLag(LONGEST, LEADERLESS);
    lag.note(10, 9, 0);
    lag.note(11, 9, 50);
    assertEquals(caughtUp, lag.hasCaughtUp(committed, applied, now));
  }

  @Test
  void timeBeginsAgainWithEntriesThatWereCommittedLater() {
    ApplyLag lag = new ApplyLag(LONGEST, LEADERLESS);
    lag.note(10, 9, 0);
    lag.note(20, 10, 90);
    assertEquals(true, lag.hasCaughtUp(20, 10, 190));
    assertEquals(false, lag.hasCaughtUp(20, 19, 191));
    assertEquals(true, lag.hasCaughtUp(21, 20, 191));
  }

  /** Or there is no leader for ever, if this node alone has the whole log and cannot apply it. */
  @Test
  void entriesThatItLacksCountNoMoreOnceNoNodeHasLedForLong() {
    ApplyLag lag = new ApplyLag(LONGEST, LEADERLESS);
    lag.note(10, 9, 0);
    assertEquals(false, lag.hasCaughtUp(11, 9, 200));
    assertEquals(false, lag.hasCaughtUp(11, 9, 1_200));
    assertEquals(true, lag.hasCaughtUp(11, 9, 1_201));
    lag.note(11, 9, 1_300);
    assertEquals(false, lag.hasCaughtUp(11, 9, 1_301), "a leader was heard");
    assertEquals(true, lag.hasCaughtUp(11, 11, 1_400));
    lag.note(12, 11, 1_500);
    assertEquals(false, lag.hasCaughtUp(12, 11, 2_500));
  }

  @Test
  void lacksFewEntries() {
    ApplyLag lag = new ApplyLag(LONGEST, LEADERLESS);
    assertEquals(true, lag.hasCaughtUp(LogStatus.CAUGHT_UP_ENTRIES, 0, 0));
    assertEquals(false, lag.hasCaughtUp(LogStatus.CAUGHT_UP_ENTRIES + 1, 0, 0));
  }
}
