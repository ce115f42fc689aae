package dev.tollgate.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/**
 * Three nodes with a log, one connection that does all it can to stall them, and an honest client
 * that acquires a lock, writes a fenced row and releases the lock, over and over. Prints the
 * longest of these three statements beside each attack.
 *
 * <p>{@code -Dtollgate.attack.millis} says how long each attack lasts, {@code -Dtollgate.attack}
 * which one runs alone.
 */
@Tag("alone") // it measures how long others wait
@Timeout(900)
class ClusterAttackTest {
  private static final long ATTACK_MILLIS = Long.getLong("tollgate.attack.millis", 300);
  private static final String ONLY = System.getProperty("tollgate.attack", "");

  /** A second at leisure; this machine may be busy, and compiles with one compiler. */
  private static final Duration BOUND = Duration.ofSeconds(8);

  private static final Duration ENDS_WITHIN = Duration.ofSeconds(30);

  @TempDir Path directory;

  private final List<Pause> pauses = new ArrayList<>();
  private volatile boolean honestEnds;
  private volatile String failure = "";
  private volatile long worstNanos;
  private volatile long begunNanos;
  private final AtomicLong cycles = new AtomicLong();

  private record Pause(String attack, long millis, long cycles) {}

  @Test
  void oneConnectionStallsNobody() throws Exception {
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    Logger root = (Logger) LoggerFactory.getLogger("dev.tollgate");
    root.addAppender(log);
    try (LocalCluster cluster = LocalCluster.started(directory, 3);
        Connection honest = cluster.connect()) {
      try (Statement statement = honest.createStatement()) {
        statement.execute("CREATE TABLE HONEST(ID INT PRIMARY KEY, N BIGINT)");
        statement.execute("INSERT INTO HONEST VALUES(1, 0)");
        statement.execute("ALTER TABLE HONEST FENCED BY LOCK 'honest'");
        ClusterAttacks.prepare(statement);
      }
      Thread client = new Thread(() -> workHonestly(honest), "honest");
      client.start();
      ClusterAttacks attacks =
          new ClusterAttacks(cluster.url(), cluster.clientAddress(cluster.leader()));
      run("nothing", () -> {}, attacks);
      for (Map.Entry<String, Runnable> attack : attacks.all().entrySet()) {
        if (attack.getKey().contains(ONLY)) {
          run(attack.getKey(), attack.getValue(), attacks);
        }
      }
      honestEnds = true;
      client.join();
      report();
      assertEquals("", failure);
      assertEquals(
          Map.of("n1", "EQUAL", "n2", "EQUAL", "n3", "EQUAL"), LocalCluster.verify(honest));
    } finally {
      root.detachAppender(log);
    }
    assertEquals(
        List.of(),
        List.copyOf(log.list).stream()
            .filter(event -> event.getLevel().isGreaterOrEqual(Level.ERROR))
            .map(ILoggingEvent::toString)
            .toList());
    for (Pause pause : pauses) {
      assertTrue(pause.millis < BOUND.toMillis(), pause::toString);
    }
  }

  private void run(String name, Runnable attack, ClusterAttacks attacks) throws Exception {
    worstNanos = 0;
    long before = cycles.get();
    attacks.begin();
    Thread attacker = new Thread(attack, "attacker");
    attacker.start();
    await(ATTACK_MILLIS);
    attacks.stop();
    long end = System.nanoTime() + ENDS_WITHIN.toNanos();
    while (attacker.isAlive() && System.nanoTime() < end) {
      attacks.stop();
      attacker.join(50);
    }
    assertTrue(!attacker.isAlive(), name + " does not end");
    // a statement that has begun counts for as long as it has taken
    long nanos = Math.max(worstNanos, System.nanoTime() - begunNanos);
    pauses.add(new Pause(name, TimeUnit.NANOSECONDS.toMillis(nanos), cycles.get() - before));
  }

  private static void await(long millis) {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }

  private void workHonestly(Connection connection) {
    String attempt = "acquire";
    try (Statement locks = connection.createStatement();
        PreparedStatement write =
            connection.prepareStatement(
                "UPDATE HONEST SET N = N + 1 WHERE ID = 1 FENCED BY LOCK 'honest' TOKEN ?")) {
      while (!honestEnds) {
        begunNanos = System.nanoTime();
        long token;
        try (ResultSet granted = locks.executeQuery("SELECT acquire_lock('honest')")) {
          granted.next();
          token = granted.getLong(1);
        }
        attempt = "write";
        done();
        write.setLong(1, token);
        write.executeUpdate();
        attempt = "release";
        done();
        locks.execute("SELECT release_lock('honest')");
        done();
        cycles.incrementAndGet();
      }
    } catch (SQLException e) {
      failure = attempt + ": " + e.getSQLState() + " " + e.getMessage();
    }
  }

  private void done() {
    long now = System.nanoTime();
    worstNanos = Math.max(worstNanos, now - begunNanos);
    begunNanos = now;
  }

  private void report() {
    pauses.sort(Comparator.comparingLong(Pause::millis).reversed());
    StringBuilder report = new StringBuilder("ClusterAttackTest: longest statement in ms\n");
    for (Pause pause : pauses) {
      report.append(
          String.format("  %6d beside %s (%d cycles)%n", pause.millis, pause.attack, pause.cycles));
    }
    System.out.print(report);
  }
}
