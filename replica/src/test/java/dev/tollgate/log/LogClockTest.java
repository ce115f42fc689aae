package dev.tollgate.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.CapturedLines;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class LogClockTest {
  private static final long START = TimeUnit.DAYS.toMicros(20_000);
  private static final long SECOND = TimeUnit.SECONDS.toMicros(1);
  private static final long YEARS = TimeUnit.DAYS.toMicros(50 * 365);

  private final SortedMap<String, ClockReading> others = new TreeMap<>();
  private int members = 3;
  private long nanos = 7;
  private long ownAhead;
  private final LogClock clock =
      new LogClock(
          "n1", ((InstantSource) this::own).withZone(ZoneOffset.UTC), () -> nanos, this::known);

  private Instant own() {
    return Instant.EPOCH.plusNanos(TimeUnit.MICROSECONDS.toNanos(right() + ownAhead));
  }

  private MemberClocks known() {
    return new MemberClocks(members, others);
  }

  /** What a clock says that nobody has set wrong. */
  private long right() {
    return START + TimeUnit.NANOSECONDS.toMicros(nanos);
  }

  private void passes(Duration time) {
    nanos += time.toNanos();
  }

  private void answers(String node, long ahead) {
    others.put(node, new ClockReading(right() + ahead, nanos));
  }

  @Test
  void leaderStampsItsOwnClockWhileAMajorityAgreesWithIt() {
    ownAhead = 59 * SECOND;
    answers("n2", 0);
    answers("n3", YEARS);
    assertEquals(right() + ownAhead, clock.stampMicros());
    assertTrue(clock.look().agreed());
  }

  @Test
  void leaderWhoseClockIsYearsAheadStampsTheTimeOfTheOthers() {
    ownAhead = YEARS;
    answers("n2", 2 * SECOND);
    answers("n3", 5 * SECOND);
    assertEquals(right() + 2 * SECOND, clock.stampMicros());
    assertEquals(
        Map.of("n1", YEARS - 2 * SECOND, "n2", 0L, "n3", 3 * SECOND), clock.look().aheadMicros());
  }

  @Test
  void leaderWhoseClockIsYearsBehindStampsTheTimeOfTheOthers() {
    ownAhead = -YEARS / 2;
    answers("n2", 0);
    answers("n3", 0);
    assertEquals(right(), clock.stampMicros());
  }

  @Test
  void clocksThatAreWrongInDifferentWaysAreNoMajority() {
    answers("n2", 0);
    answers("n3", 0);
    clock.stampMicros();
    passes(Duration.ofSeconds(3));
    answers("n2", YEARS);
    answers("n3", -YEARS / 2);
    assertEquals(right(), clock.stampMicros(), "the time of the last entry goes on");
    assertFalse(clock.look().agreed());
    ownAhead = YEARS / 3;
    passes(Duration.ofSeconds(3));
    assertEquals(right(), clock.stampMicros());
  }

  @Test
  void clockOfOneOfTwoDecidesNothing() {
    members = 2;
    clock.applied(right(), right());
    passes(Duration.ofHours(1));
    ownAhead = YEARS;
    answers("n2", 0);
    assertEquals(right(), clock.stampMicros());
  }

  @Test
  void aMajorityThatIsWrongIsBelieved() {
    answers("n2", YEARS);
    answers("n3", YEARS + SECOND);
    assertEquals(right() + YEARS, clock.stampMicros());
  }

  @Test
  void clockThatHasNotBeenReadForLongCountsAsUnknown() {
    answers("n2", 0);
    answers("n3", 0);
    assertEquals(right(), clock.stampMicros());
    passes(LogClock.LONGEST_SILENCE.plusSeconds(1));
    ownAhead = YEARS;
    assertEquals(right(), clock.stampMicros(), "no majority is known");
    assertFalse(clock.look().agreed());
    assertEquals(Map.of("n1", YEARS), clock.look().aheadMicros());
  }

  @Test
  void nodeThatIsAloneGoesByItsClock() {
    members = 1;
    clock.applied(right(), right());
    passes(Duration.ofDays(300));
    assertEquals(right(), clock.stampMicros());
    ownAhead = YEARS;
    assertEquals(right() + YEARS, clock.stampMicros());
    ownAhead = 0;
    assertEquals(right(), clock.stampMicros());
  }

  @Test
  void newClusterWithoutAMajorityBeginsWithTheMedian() {
    ownAhead = YEARS;
    answers("n2", 0);
    answers("n3", -YEARS / 2);
    assertEquals(right(), clock.stampMicros());
  }

  /** Each entry is applied some time after it was stamped. */
  @Test
  void timeThatGoesOnWithoutAMajorityDoesNotFallBehindWithEachEntry() {
    answers("n2", YEARS);
    answers("n3", -YEARS / 2);
    clock.applied(right(), right());
    ownAhead = YEARS / 2;
    for (int i = 0; i < 1_000; i++) {
      long stamp = clock.stampMicros();
      assertEquals(right(), stamp);
      passes(Duration.ofMillis(7));
      clock.applied(stamp, stamp);
      answers("n2", YEARS);
      answers("n3", -YEARS / 2);
    }
  }

  @Test
  void timeOfAnEntryThatHasNoneCountsForNothing() {
    clock.applied(right(), right());
    passes(Duration.ofSeconds(9));
    clock.applied(0, right());
    ownAhead = YEARS;
    assertEquals(right(), clock.stampMicros());
  }

  @Test
  void logWhoseTimeIsAheadOfTheClocksStands() {
    answers("n2", 0);
    answers("n3", 0);
    clock.applied(right(), right() + 59 * SECOND);
    assertFalse(clock.look().logStands());
    clock.applied(right(), right() + YEARS);
    assertTrue(clock.look().logStands());
    assertEquals(YEARS, clock.look().logAheadMicros());
    assertEquals(right(), clock.stampMicros());
  }

  /**
   * A node that replays its log after hours is asked to stamp by each client that takes it for the
   * leader.
   */
  @Test
  void entriesThatAreAppliedAgainAreNoJumpOfTheTime() {
    answers("n2", 0);
    answers("n3", 0);
    try (CapturedLines lines = new CapturedLines(LogClock.class)) {
      for (int i = 0; i < 10; i++) {
        clock.applied(right() - 5_000 * SECOND + i, right());
        clock.stampMicros();
      }
      assertEquals(List.of(), lines.warnings());
      ownAhead = -3_600 * SECOND;
      answers("n2", -3_600 * SECOND);
      answers("n3", -3_600 * SECOND);
      clock.stampMicros();
      assertEquals(1, lines.warnings().size(), () -> "" + lines.warnings());
    }
  }
}
