package dev.tollgate.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Simulated clusters keep their promises, and broken ones are found out.
 *
 * <p>{@code -Dtollgate.seeds=1000} runs more seeds, {@code -Dtollgate.seed=17} begins with another,
 * and {@code -Dtollgate.simulated.seconds=600} makes each run longer; those with sparse work last
 * ten times as long.
 */
class SimulationTest {
  private static final int SEEDS = Integer.getInteger("tollgate.seeds", 6);
  private static final long FIRST_SEED = Long.getLong("tollgate.seed", 1);
  private static final long FAULTY_MILLIS = 1_000 * Long.getLong("tollgate.simulated.seconds", 60);
  private static final int SEEDS_AT_NIGHT = 50;
  private static final int SPARSE_IS_LONGER = 10;
  private static final long BROKEN_MILLIS = 60_000;
  private static final int SHRINKING_RUNS = 60;

  @ParameterizedTest
  @EnumSource
  void clusterKeepsItsPromisesWhateverGoesWrong(Workload workload) {
    requirePromises(workload, FIRST_SEED, SEEDS);
  }

  /** From another seed each night. */
  @Tag("nightly")
  @ParameterizedTest
  @EnumSource
  void clusterKeepsItsPromisesAllNight(Workload workload) {
    long first = Long.getLong("tollgate.seed", System.nanoTime());
    System.out.println("SimulationTest: -Dtollgate.seed=" + first);
    requirePromises(workload, first, SEEDS_AT_NIGHT);
  }

  private static void requirePromises(Workload workload, long firstSeed, int seeds) {
    long faultyMillis = FAULTY_MILLIS * (workload == Workload.SPARSE ? SPARSE_IS_LONGER : 1);
    Map<String, Long> counts = new TreeMap<>();
    long nanos = 0;
    long faults = 0;
    long checks = 0;
    long refused = 0;
    long fencedOff = 0;
    for (long seed = firstSeed; seed < firstSeed + seeds; seed++) {
      Simulation.Settings settings =
          Simulation.Settings.of(seed, workload, faultyMillis, Breakage.NONE);
      Simulation.Result result = Simulation.run(settings);
      if (result.violation() != null) {
        fail(
            "seed " + seed + ": " + Shrinking.of(settings, result, SHRINKING_RUNS).describe(),
            result.violation());
      }
      result.counts().forEach((what, times) -> counts.merge(what, times, Long::sum));
      nanos += result.simulatedNanos();
      faults += result.faults();
      checks += result.checks();
      refused += result.refusedWrites();
      fencedOff += result.refusedBySessionFence();
    }
    System.out.printf(
        "simulation, %s: seeds %d to %d, %.2f hours, %.2f of them with %d faults, %d checks,"
            + " %d writes refused, %d of them by the fence of a session, %s%n",
        workload,
        firstSeed,
        firstSeed + seeds - 1,
        nanos / 3.6e12,
        seeds * faultyMillis / 3.6e6,
        faults,
        checks,
        refused,
        fencedOff,
        counts);
    assertTrue(faults >= seeds * faultyMillis / 20_000, "hardly a fault");
    assertTrue(refused > seeds, "hardly a write was fenced off");
    assertTrue(fencedOff > seeds, "hardly a write was refused by the fence of a session");
    assertTrue(counts.getOrDefault("sessions moved", 0L) > seeds, "hardly a session moved");
    assertTrue(counts.getOrDefault("snapshots restored", 0L) > 0, "no snapshot was restored");
    assertTrue(counts.getOrDefault("limits set", 0L) > seeds, "hardly a limit was set");
    assertTrue(counts.getOrDefault("times reset", 0L) > 0, "no time of the log was set back");
    assertTrue(counts.getOrDefault("keeps ended", 0L) > 0, "hardly a lock was kept");
    assertTrue(counts.getOrDefault("series", 0L) > seeds, "hardly a series");
    assertTrue(counts.getOrDefault("series sent again", 0L) > 0, "no series was sent again");
    assertTrue(counts.getOrDefault("definitions with marks", 0L) > 0, "no marked definition");
    assertTrue(counts.getOrDefault("statements sent again", 0L) > seeds, "hardly a retry");
    if (seeds > 2) {
      assertTrue(counts.getOrDefault("upgrades called", 0L) > 0, "no feature level was raised");
      assertTrue(
          counts.getOrDefault("upgrades refused", 0L) > 0, "no node was of an earlier version");
    }
    if (seeds > 1) {
      assertTrue(counts.getOrDefault("users dropped", 0L) > 0, "no user was dropped");
      assertTrue(counts.getOrDefault("users created", 0L) > 0, "no user came back");
      assertTrue(counts.getOrDefault("work limits set", 0L) > 0, "no work limit was set");
      assertTrue(counts.getOrDefault("users locked", 0L) > 0, "no user was locked");
      assertTrue(counts.getOrDefault("users made to expire", 0L) > 0, "no user was to expire");
      assertTrue(counts.getOrDefault("lock managers made", 0L) > 0, "nobody managed locks");
      assertTrue(counts.getOrDefault("rights changed", 0L) > seeds, "hardly a right was changed");
      assertTrue(
          counts.getOrDefault("refused for want of a right", 0L) > seeds,
          "hardly a request was without its right");
      assertTrue(
          counts.getOrDefault("waits ended for want of a right", 0L) > 0, "no wait lost its right");
    }
  }

  @Test
  void runsOfOneSeedAreAlike() {
    long first = digest(3);
    assertEquals(first, digest(3));
    long withUsers = digest(4);
    assertEquals(withUsers, digest(4));
    assertNotEquals(first, withUsers);
  }

  private static long digest(long seed) {
    return Simulation.run(Simulation.Settings.of(seed, Workload.DENSE, 10_000, Breakage.NONE))
        .digest();
  }

  /** Which bug, from which seed on it is looked for, and what it is found by. */
  static Stream<Arguments> bugs() {
    return Stream.of(
        arguments(Breakage.EXPIRY_BY_LOCAL_CLOCK, 1, Set.of("I7", "I9", "I4")),
        arguments(Breakage.TOKEN_COUNTER_NOT_RESTORED, 5, Set.of("I2", "I7")),
        arguments(Breakage.TRANSACTION_LIMITS_FORGOTTEN, 1, Set.of("I7")),
        arguments(Breakage.SESSION_FENCE_FORGOTTEN, 1, Set.of("I7")),
        arguments(Breakage.TIME_ZONE_FORGOTTEN, 1, Set.of("I7")),
        arguments(Breakage.DEFINITIONS_NOT_FENCED, 1, Set.of("I3")),
        arguments(Breakage.SESSION_TABLE_FORGOTTEN, 1, Set.of("I6", "I7")),
        arguments(Breakage.RENEWAL_WITHOUT_BARRIER, 1, Set.of("I4")),
        arguments(Breakage.READ_WITHOUT_BARRIER, 35, Set.of("I10")),
        arguments(Breakage.SILENCE_CONFIRMS, 8, Set.of("I4", "I10")),
        arguments(Breakage.CONFIRMED_BEFORE_THE_READ, 1, Set.of("I4")),
        arguments(Breakage.TIMED_OUT_WAITER_STAYS, 1, Set.of("I9")),
        arguments(Breakage.ANSWER_BEFORE_COMMIT, 2, Set.of("I6")),
        arguments(Breakage.ACKNOWLEDGED_BEFORE_SYNC, 6, Set.of("I6")),
        arguments(Breakage.RETRY_UNDER_NEW_NUMBER, 1, Set.of("I6")),
        arguments(Breakage.FENCE_CHECKED_ON_RECEIPT, 30, Set.of("I3")),
        arguments(Breakage.NEW_LEADER_GIVES_NO_TIME, 1, Set.of("I4")),
        arguments(Breakage.RENEWAL_NOT_RECORDED, 1, Set.of("I4")),
        arguments(Breakage.QUEUE_NOT_FIFO, 2, Set.of("I6", "I9")),
        arguments(Breakage.LEASE_COUNTED_FROM_ANSWER, 40, Set.of("I4")),
        arguments(Breakage.LEASE_ALWAYS_TRUSTED, 1, Set.of("I8")),
        arguments(Breakage.LEADER_APPLIES_WHAT_IT_SENT, 1, Set.of("I7")),
        arguments(Breakage.PERMIT_COUNTED_TWICE, 1, Set.of("I1", "I9")),
        arguments(Breakage.SET_GRANTED_IN_PART, 1, Set.of("I6", "I9")),
        arguments(Breakage.KEEP_ENDS_EARLY, 1, Set.of("I11")),
        arguments(Breakage.TRANSACTION_LOCK_OUTLIVES_ROLLBACK, 1, Set.of("I9")),
        arguments(Breakage.ONE_CONNECTION_IS_ALL, 1, Set.of("I12")),
        arguments(Breakage.RETURN_OF_PROCESS_IGNORED, 1, Set.of("I12")),
        arguments(Breakage.NEW_LEADER_HEARS_NOBODY, 1, Set.of("I12")),
        arguments(Breakage.SERIES_UNDER_NEW_NUMBER, 5, Set.of("I6")),
        arguments(Breakage.SERIES_FENCED_BY_ITS_FIRST, 2, Set.of("I3")),
        arguments(Breakage.SERIES_GOES_ON_AFTER_FAILURE, 1, Set.of("I6", "I10")),
        arguments(Breakage.SERIES_NOT_COMMITTED, 1, Set.of("I6")),
        arguments(Breakage.MARK_WITHOUT_DEFINITION, 1, Set.of("I6")),
        arguments(Breakage.DEFINITION_WITHOUT_MARK, 1, Set.of("I3", "I6")),
        arguments(Breakage.RIGHTS_CHECKED_ON_RECEIPT, 58, Set.of("I6", "I9")),
        arguments(Breakage.DROPPED_USER_KEEPS_LOCKS, 1, Set.of("I9")),
        arguments(Breakage.REVOKE_SPARES_WAITS, 1, Set.of("I6", "I9")),
        arguments(Breakage.RIGHTS_FORGOTTEN, 1, Set.of("I7")),
        arguments(Breakage.WORK_LIMITS_FORGOTTEN, 1, Set.of("I7")),
        arguments(Breakage.CLOSED_ACCOUNTS_FORGOTTEN, 1, Set.of("I7")),
        arguments(Breakage.LOCKED_USER_KEEPS_SESSIONS, 1, Set.of("I6", "I9")),
        arguments(Breakage.EXPIRY_OF_USER_IGNORED, 1, Set.of("I6", "I9")),
        arguments(Breakage.GRANT_COUNTS_FOR_ALL, 1, Set.of("I6", "I9")),
        arguments(Breakage.LEVEL_OF_MEMBERS_UNCHECKED, 1, Set.of("levels")),
        arguments(Breakage.COMMAND_BEFORE_ITS_LEVEL, 1, Set.of("levels")),
        arguments(Breakage.FEATURE_LEVEL_FORGOTTEN, 1, Set.of("I7")),
        arguments(Breakage.ROW_CHANGES_BEHIND_ITS_BACK, 1, Set.of("digest")),
        arguments(Breakage.LOCAL_TIME_WHILE_APPLYING, 1, Set.of("I7")),
        arguments(Breakage.LEADER_GOES_BY_ITS_CLOCK, 1, Set.of("time")),
        arguments(Breakage.RESET_OF_TIME_IGNORED, 1, Set.of("time")));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("bugs")
  void bugIsFound(Breakage bug, long firstSeed, Set<String> invariants) {
    for (long seed = firstSeed; seed < firstSeed + 3; seed++) {
      Violation found =
          Simulation.run(Simulation.Settings.of(seed, Workload.DENSE, BROKEN_MILLIS, bug))
              .violation();
      if (found != null) {
        assertTrue(invariants.contains(found.invariant()), () -> "found by " + found);
        return;
      }
    }
    fail(bug + " was not found");
  }

  @Test
  void failingRunIsTriedWithLess() {
    Simulation.Settings settings =
        Simulation.Settings.of(1, Workload.DENSE, BROKEN_MILLIS, Breakage.NEW_LEADER_GIVES_NO_TIME);
    Simulation.Result failed = Simulation.run(settings);
    Shrinking.Shrunk shrunk = Shrinking.of(settings, failed, 25);
    assertTrue(shrunk.faults().size() < Faults.plan(settings).size() / 2, shrunk::describe);
    assertEquals(1, shrunk.faults().size(), shrunk::describe);
    assertTrue(shrunk.describe().contains("I4"), shrunk::describe);
  }
}
