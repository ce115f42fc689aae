package dev.tollgate.samples.torture.workload;

import dev.tollgate.samples.torture.cluster.Cluster;
import dev.tollgate.samples.torture.history.Action;
import dev.tollgate.samples.torture.history.History;
import dev.tollgate.samples.torture.history.Journal;
import dev.tollgate.samples.torture.history.Outcome;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Writes a number again and again, to see when the cluster answers, and asks which node leads. The
 * probe uses the driver as every application does, with the driver's own patience.
 */
public final class Probe implements AutoCloseable {
  private static final long PAUSE_MILLIS = 20;
  private static final long LEADER_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  private final String url;
  private final LongSupplier nanos;
  private final Journal journal;
  private final List<Leadership> leaderships = new ArrayList<>();
  private final CompletableFuture<Void> work;
  private volatile String leader = "";
  private volatile long answeredNanos;
  private volatile boolean closed;

  /** A node that was seen to lead, and from when on. */
  public record Leadership(String node, long fromNanos) {}

  public Probe(String url, History history, LongSupplier nanos) {
    this.url = url;
    this.nanos = nanos;
    this.journal = new Journal("probe", history::add, nanos);
    this.work = CompletableFuture.runAsync(this::run, task -> new Thread(task, "probe").start());
  }

  private void run() {
    while (!closed) {
      try (Connection connection = DriverManager.getConnection(url);
          Statement statement = connection.createStatement()) {
        long asked = nanos.getAsLong() - LEADER_NANOS;
        while (!closed) {
          beat(statement);
          if (nanos.getAsLong() - asked > LEADER_NANOS) {
            asked = nanos.getAsLong();
            led(Cluster.leader(connection));
          }
          TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
        }
      } catch (SQLException e) {
        Failure.of(e); // if this failure is expected, the next round connects again
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  private void beat(Statement statement) throws SQLException {
    int number = journal.invoke(Action.PROBE, "", 0, 0);
    try {
      statement.executeUpdate("UPDATE beat SET n = n + 1");
      answeredNanos = nanos.getAsLong();
      journal.returned(number, Outcome.DONE, 0, "");
    } catch (SQLException e) {
      Failure expected = Failure.of(e);
      journal.returned(number, expected.outcome(), 0, expected.state());
      throw e;
    }
  }

  private void led(String node) {
    if (!node.isEmpty() && !node.equals(leader)) {
      leader = node;
      synchronized (leaderships) {
        leaderships.add(new Leadership(node, nanos.getAsLong()));
      }
    }
  }

  /**
   * Waits until an answer has come since this moment and the leader is known; returns false if the
   * limit passes first.
   */
  public boolean awaitAnswerSince(long moment, long limitMillis) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limitMillis);
    while (answeredNanos <= moment || leader.isEmpty()) {
      if (System.nanoTime() > end) {
        return false;
      }
      TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
    }
    return true;
  }

  /** The name of the node that led when the cluster was last asked. */
  public String leader() {
    return leader;
  }

  /** The leaderships in the order of time. */
  public List<Leadership> leaderships() {
    synchronized (leaderships) {
      return List.copyOf(leaderships);
    }
  }

  /** Ends the probe; fails with the cause if the probe has ended by itself. */
  @Override
  public void close() {
    closed = true;
    work.join();
  }
}
