package dev.tollgate.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.store.OddRun.Fault;
import dev.tollgate.store.OddRun.Step;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * No statement of a client stops, stalls or spoils a cluster: odd statements, made from H2's own
 * list of functions and from objects that need each other, on three replicas (see {@link OddRun}).
 * Replays with {@code -Dtollgate.odd.seed}; longer with {@code -Dtollgate.odd.seconds}. What fails
 * is made as small as it can be and printed as SQL; the run then goes on with new replicas.
 */
class OddStatementsTest {
  /** Not so many seconds: a machine that is busy would run none. */
  private static final int STATEMENTS = 1_200;

  private static final int SECONDS_AT_NIGHT = 3_600;
  private static final int STATEMENTS_PER_RUN = 200;
  private static final int MAX_FAULTS = 40;
  private static final Duration SHRINKING = Duration.ofSeconds(60);

  /** A statement that is not done by then will never be. */
  private static final Duration ENDLESS = Duration.ofMinutes(2);

  /** Much less than the apply thread has, because a recursion without end takes that long. */
  private static final long STACK_BYTES = 16 << 20;

  private static final long SLOW_NANOS = 1_000_000_000L;

  /** What no statement may take of a processor; generous, because machines are busy. */
  private static final long MAX_NANOS = 20_000_000_000L;

  private final Map<String, String> faults = new LinkedHashMap<>();
  private final Map<String, Integer> times = new TreeMap<>();
  private final Map<String, Integer> outcomes = new TreeMap<>();
  private final Map<String, String> otherTexts = new TreeMap<>();
  private final List<String> slow = new ArrayList<>();
  private volatile String running = "";
  private volatile long startedNanos = System.nanoTime();
  private int statements;
  private long longestNanos;

  @Test
  void noStatementStopsStallsOrSpoilsAReplica() throws Exception {
    int seconds = Integer.getInteger("tollgate.odd.seconds", 0);
    run(seconds == 0 ? STATEMENTS : 0, seconds);
    requireNoFault();
  }

  private void requireNoFault() {
    assertEquals(List.of(), List.copyOf(faults.values()));
    assertTrue(
        outcomes.getOrDefault(Planned.OK, 0) > statements / 10,
        () -> "few statements are carried out: " + outcomes);
  }

  /** Runs so many statements, and as many more as it can in a time. */
  private void run(int count, int seconds) throws Exception {
    long seed = Long.getLong("tollgate.odd.seed", System.nanoTime());
    System.out.println("OddStatementsTest: -Dtollgate.odd.seed=" + seed);
    CompletableFuture<Void> done = new CompletableFuture<>();
    Thread thread =
        new Thread(
            null,
            () -> {
              try {
                long endNanos = System.nanoTime() + Duration.ofSeconds(seconds).toNanos();
                runUntil(count, endNanos, new Random(seed));
                done.complete(null);
              } catch (Throwable e) {
                done.completeExceptionally(e);
              }
            },
            "odd statements",
            STACK_BYTES);
    thread.setDaemon(true);
    thread.start();
    try {
      awaitProgress(done);
    } finally {
      System.out.println("OddStatementsTest: " + statements + " statements: " + outcomes);
      otherTexts.forEach(
          (kind, texts) ->
              System.out.println("OddStatementsTest: other texts of " + kind + ": " + texts));
      slow.forEach(statement -> System.out.println("OddStatementsTest: slow: " + statement));
      faults.forEach(
          (key, fault) ->
              System.out.println("OddStatementsTest: " + times.get(key) + " times " + fault));
    }
  }

  private void awaitProgress(CompletableFuture<Void> done) throws Exception {
    while (true) {
      try {
        done.get(1, TimeUnit.SECONDS);
        return;
      } catch (TimeoutException e) {
        assertTrue(
            System.nanoTime() - startedNanos < ENDLESS.toNanos(),
            () -> "a statement does not end: " + running);
      }
    }
  }

  private void runUntil(int count, long endNanos, Random random) throws Fault {
    OddStatements generated = new OddStatements(random);
    System.out.println("OddStatementsTest: " + generated.functionCount() + " functions");
    assertTrue(generated.functionCount() > 200, "H2 has other topics in its help");
    while (isToGoOn(count, endNanos) && faults.size() < MAX_FAULTS) {
      List<Step> steps = new ArrayList<>();
      OddRun run = new OddRun(OddRun.REPLICAS);
      try (run) {
        while (steps.size() < STATEMENTS_PER_RUN && isToGoOn(count, endNanos)) {
          Step step = random.nextInt(12) == 0 ? Step.SNAPSHOT : new Step(generated.next());
          steps.add(step);
          start(step);
          run.run(step);
          statements++;
          longestNanos = Math.max(longestNanos, run.cpuNanos());
          if (run.cpuNanos() > SLOW_NANOS) {
            slow.add(run.cpuNanos() / 1_000_000 + " ms: " + step);
          }
        }
        steps.add(Step.SNAPSHOT);
        run.run(Step.SNAPSHOT);
      } catch (Fault e) {
        times.merge(e.key(), 1, Integer::sum);
        if (!faults.containsKey(e.key())) {
          faults.put(e.key(), e.key() + "\n" + smallest(steps, e));
          System.out.println("FOUND " + faults.get(e.key()));
        }
      }
      run.outcomes().forEach((outcome, often) -> outcomes.merge(outcome, often, Integer::sum));
      otherTexts.putAll(run.otherTexts());
    }
  }

  private boolean isToGoOn(int count, long endNanos) {
    return statements < count || System.nanoTime() < endNanos;
  }

  private void start(Step step) {
    running = step.toString();
    startedNanos = System.nanoTime();
  }

  /** The fewest of these steps that fail in the same way. */
  private String smallest(List<Step> steps, Fault fault) {
    List<Step> fewest = new ArrayList<>(steps);
    Fault last = fault;
    long endNanos = System.nanoTime() + SHRINKING.toNanos();
    for (int size = fewest.size() / 2; size > 0; size /= 2) {
      for (int from = fewest.size() - size; from >= 0 && System.nanoTime() < endNanos; ) {
        List<Step> fewer = new ArrayList<>(fewest);
        fewer.subList(from, from + size).clear();
        Fault same = OddRun.play(fewer, this::start);
        if (same != null && same.key().equals(fault.key())) {
          fewest = fewer;
          last = same;
        }
        from = Math.min(from - size, fewest.size() - size);
      }
    }
    StringBuilder text = new StringBuilder();
    fewest.forEach(step -> text.append("  ").append(step).append('\n'));
    return text.append("  -> ").append(last.getMessage()).append('\n').toString();
  }

  @Tag("nightly")
  @Test
  void noStatementStopsStallsOrSpoilsAReplicaInAnHour() throws Exception {
    run(0, Integer.getInteger("tollgate.odd.seconds", SECONDS_AT_NIGHT));
    requireNoFault();
    assertTrue(longestNanos < MAX_NANOS, () -> "held the log up: " + slow);
  }
}
