package dev.tollgate.node;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.AppenderBase;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.slf4j.LoggerFactory;

/**
 * A run of a fuzzer: rounds of conversations, of which some are under way at a time. All that a
 * conversation says follows from the seed of its round and its number, so each round is a run of
 * its own: {@code -Dtollgate.fuzz.seed} with the seed that a failure names, and {@code
 * -Dtollgate.fuzz.rounds=1}. {@code -Dtollgate.fuzz.seconds} is the time after which no further
 * round begins.
 */
final class FuzzRun implements AutoCloseable {
  private static final int THREADS = 4;
  private static final long NIGHT_SECONDS = 3_600;
  private static final List<String> LOGGERS = List.of("dev.tollgate", "io.netty");

  /** One conversation; what it complains of fails the run. */
  interface Conversation {
    void hold(int number, Random random) throws Exception;
  }

  /** Keeps errors, and nothing else: a run may take an hour. */
  private static final class Errors extends AppenderBase<ILoggingEvent> {
    private final List<String> lines = new ArrayList<>();

    @Override
    protected void append(ILoggingEvent event) {
      if (event.getLevel().isGreaterOrEqual(Level.ERROR)) {
        String trace =
            event.getThrowableProxy() == null
                ? ""
                : "\n" + ThrowableProxyUtil.asString(event.getThrowableProxy());
        synchronized (lines) {
          lines.add(event + trace);
        }
      }
    }

    List<String> lines() {
      synchronized (lines) {
        return List.copyOf(lines);
      }
    }
  }

  private final String name;
  private final long seed;
  private final int rounds;
  private final long seconds;
  private final long begunNanos = System.nanoTime();
  private final Errors errors = new Errors();
  private final Map<String, Integer> counts = new TreeMap<>();
  private final ExecutorService threads =
      Executors.newFixedThreadPool(
          THREADS,
          work -> {
            Thread thread = new Thread(work, "fuzz");
            thread.setDaemon(true);
            return thread;
          });
  private int round = -1;

  private FuzzRun(String name, long seed, int rounds, long seconds) {
    this.name = name;
    this.seed = seed;
    this.rounds = rounds;
    this.seconds = seconds;
    errors.start();
    LOGGERS.forEach(each -> ((Logger) LoggerFactory.getLogger(each)).addAppender(errors));
    System.out.println(name + ": -Dtollgate.fuzz.seed=" + seed);
  }

  /** The run of every build, from the same seed each time. */
  static FuzzRun inTheBuild(String name, int rounds, long seconds) {
    return new FuzzRun(
        name,
        Long.getLong("tollgate.fuzz.seed", 1),
        Integer.getInteger("tollgate.fuzz.rounds", rounds),
        Long.getLong("tollgate.fuzz.seconds", seconds));
  }

  /** An hour from a new seed. */
  static FuzzRun atNight(String name) {
    return new FuzzRun(
        name,
        System.nanoTime(),
        Integer.MAX_VALUE,
        Long.getLong("tollgate.fuzz.seconds", NIGHT_SECONDS));
  }

  /** Begins the next round; false if there is none. */
  boolean next() {
    round++;
    return round < rounds && secondsSince(begunNanos) < seconds;
  }

  private static long secondsSince(long begun) {
    return TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begun);
  }

  /** The seed of this round alone, for messages. */
  String where() {
    return "seed " + (seed + round) + " (round " + round + " of seed " + seed + ")";
  }

  /** Holds conversations, some at a time, and returns what they complain of. */
  List<String> hold(int conversations, Conversation conversation) throws InterruptedException {
    List<Future<?>> held = new ArrayList<>();
    for (int i = 0; i < conversations; i++) {
      int number = i;
      held.add(
          threads.submit(
              () -> {
                conversation.hold(number, new Random((seed + round) * 1_000_003L + number));
                return null;
              }));
    }
    List<String> complaints = new ArrayList<>();
    for (int i = 0; i < conversations; i++) {
      try {
        held.get(i).get();
      } catch (ExecutionException e) {
        complaints.add("conversation " + i + ": " + e.getCause());
        if (!(e.getCause() instanceof AssertionError)) {
          e.getCause().printStackTrace(System.out);
        }
      }
    }
    count("conversations", conversations);
    return complaints;
  }

  void count(String what) {
    count(what, 1);
  }

  private synchronized void count(String what, int more) {
    counts.merge(what, more, Integer::sum);
  }

  synchronized int counted(String what) {
    return counts.getOrDefault(what, 0);
  }

  void requireNoErrors() {
    assertEquals(List.of(), errors.lines(), where());
  }

  @Override
  public synchronized void close() {
    threads.shutdownNow();
    LOGGERS.forEach(each -> ((Logger) LoggerFactory.getLogger(each)).detachAppender(errors));
    System.out.println(
        name + ": " + round + " rounds in " + secondsSince(begunNanos) + " s, " + counts);
  }
}
