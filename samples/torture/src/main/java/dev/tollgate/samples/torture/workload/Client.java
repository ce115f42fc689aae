package dev.tollgate.samples.torture.workload;

import dev.tollgate.samples.torture.history.Journal;
import dev.tollgate.samples.torture.history.Outcome;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * A client in a process of its own, which can be stopped with all its threads. It acquires the lock
 * of a register, reads the register, and writes the next number under its token. Now and then it
 * holds the lock for longer than a lease, or has itself stopped between check and write. Now and
 * then it writes under a token that it has released, or under none.
 *
 * <p>The client writes its journal to standard output, and {@value #STOP} with a number of
 * milliseconds when it wants to be stopped. It reads {@value #GO} and {@value #END} from standard
 * input.
 */
public final class Client {
  static final String READY = "ready";
  static final String STOP = "stop";
  static final String GO = "go";
  static final String END = "end";

  private static final double WAITS = 0.5;
  private static final double HOLDS_LONG = 0.08;
  private static final double IS_STOPPED = 0.04;
  private static final double WRITES_AFTER_RELEASE = 0.2;
  private static final double WRITES_WITHOUT_TOKEN = 0.03;
  private static final int SHORT_HOLD_MILLIS = 100;
  private static final int PAUSE_MILLIS = 100;
  private static final int LONGEST_GAP_MILLIS = 400;
  private static final long WATCH_MILLIS = 50;

  private final RegisterCalls calls;
  private final Journal journal;
  private final Random random;
  private final List<String> resources;
  private final long leaseMillis;
  private final Semaphore resumed = new Semaphore(0);
  private volatile boolean ended;

  private Client(
      RegisterCalls calls,
      Journal journal,
      Random random,
      List<String> resources,
      long leaseMillis) {
    this.calls = calls;
    this.journal = journal;
    this.random = random;
    this.resources = resources;
    this.leaseMillis = leaseMillis;
  }

  /**
   * @param arguments name, URL, seed, milliseconds of the lease, when the run began on the
   *     monotonic clock of this machine, and the registers
   */
  public static void main(String[] arguments) throws Exception {
    String name = arguments[0];
    long origin = Long.parseLong(arguments[4]);
    Journal journal = new Journal(name, Client::say, () -> System.nanoTime() - origin);
    Client client =
        new Client(
            new RegisterCalls(name, arguments[1], journal),
            journal,
            new Random(Long.parseLong(arguments[2])),
            List.of(arguments).subList(5, arguments.length),
            Long.parseLong(arguments[3]));
    daemon("input", client::listen);
    daemon("watch", () -> client.watch(origin));
    say(READY + "\t" + (System.nanoTime() - origin));
    client.run();
    System.exit(0);
  }

  private static synchronized void say(String line) {
    System.out.println(line);
    System.out.flush();
  }

  private static void daemon(String name, Runnable work) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    thread.start();
  }

  private void listen() {
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.equals(GO)) {
          resumed.release();
        } else if (line.equals(END)) {
          ended = true;
        }
      }
      System.exit(1); // no process is left to read what this client writes
    } catch (IOException e) {
      System.exit(1);
    }
  }

  /** Notices when this process did not run for longer than the interval between heartbeats. */
  private void watch(long origin) {
    long last = System.nanoTime();
    while (true) {
      try {
        TimeUnit.MILLISECONDS.sleep(WATCH_MILLIS);
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      long now = System.nanoTime();
      if (now - last > TimeUnit.MILLISECONDS.toNanos(leaseMillis / 3)) {
        journal.stalled(last - origin, now - origin);
      }
      last = now;
    }
  }

  private void run() throws InterruptedException {
    while (!ended) {
      try {
        calls.connect();
        while (!ended) {
          cycle(resources.get(random.nextInt(resources.size())));
          TimeUnit.MILLISECONDS.sleep(random.nextInt(PAUSE_MILLIS));
        }
      } catch (SQLException e) {
        if (!Failure.of(e).endsConnection()) {
          throw new IllegalStateException("not a failure that a client has to expect", e);
        }
        TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
      }
    }
    calls.close();
  }

  private boolean chance(double probability) {
    return random.nextDouble() < probability;
  }

  private void cycle(String resource) throws SQLException, InterruptedException {
    if (chance(WRITES_WITHOUT_TOKEN)) {
      calls.write(resource, 0, calls.check(resource) + 1);
      return;
    }
    long token = calls.acquire(resource, chance(WAITS));
    if (token == 0 || !hold(resource, token)) {
      return;
    }
    calls.release(resource, token);
    if (chance(WRITES_AFTER_RELEASE)) {
      calls.write(resource, token, calls.check(resource) + 1);
    }
  }

  /** Returns false when the lock was lost. */
  private boolean hold(String resource, long token) throws SQLException, InterruptedException {
    long millis =
        chance(HOLDS_LONG)
            ? leaseMillis + random.nextInt((int) leaseMillis)
            : random.nextInt(SHORT_HOLD_MILLIS);
    boolean stop = chance(IS_STOPPED);
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    do {
      long sequence = calls.check(resource) + 1;
      if (stop) {
        awaitStopAndGo();
        stop = false;
      }
      Outcome outcome = calls.write(resource, token, sequence);
      if (outcome != Outcome.DONE) {
        return false;
      }
      long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
      if (left > 0) {
        TimeUnit.MILLISECONDS.sleep(Math.min(left, random.nextInt(LONGEST_GAP_MILLIS)));
      }
    } while (System.nanoTime() < end && !ended);
    return true;
  }

  private void awaitStopAndGo() throws InterruptedException {
    long millis = leaseMillis * 6 / 5 + random.nextInt((int) leaseMillis * 4 / 5);
    say(STOP + "\t" + millis);
    resumed.acquire();
  }
}
