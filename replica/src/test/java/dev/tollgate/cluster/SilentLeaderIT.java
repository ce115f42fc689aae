package dev.tollgate.cluster;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.tollgate.transport.ClusterRegistry;
import dev.tollgate.transport.ClusterSession;
import dev.tollgate.transport.ClusterTarget;
import dev.tollgate.transport.KeptLease;
import dev.tollgate.transport.NodeAddress;
import dev.tollgate.transport.PatientDriver;
import dev.tollgate.transport.SessionSettings;
import dev.tollgate.transport.TransportException;
import dev.tollgate.wire.KeyRequest;
import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.TransactionMode;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The process of the leader stands still and its connections stay open. The driver of these tests
 * takes no silence for the death of a node, so whatever goes on does so because a node has pushed
 * who leads.
 */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class SilentLeaderIT {
  private static final Duration TTL = Duration.ofSeconds(4);
  private static final int WORKERS = 8;

  @TempDir Path directory;

  private final ClusterRegistry registry = PatientDriver.registry();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private ClusterProcesses cluster;

  @BeforeEach
  void start() throws Exception {
    cluster = new ClusterProcesses("SilentLeaderIT", directory, 3);
  }

  @AfterEach
  void stop() {
    threads.shutdownNow();
    cluster.close();
  }

  private ClusterSession open() throws TransportException {
    List<NodeAddress> nodes =
        cluster.nodes().stream()
            .map(node -> NodeAddress.parse("127.0.0.1:" + cluster.clientPort(node)))
            .toList();
    return registry.open(
        new ClusterTarget.Remote(nodes),
        new SessionSettings(
            Duration.ofMinutes(1),
            TTL,
            Duration.ofSeconds(10),
            Duration.ofMinutes(1),
            Duration.ofSeconds(3),
            Duration.ZERO,
            ReadConsistency.LINEARIZABLE,
            "silent"),
        Duration.ZERO);
  }

  private static Reply run(ClusterSession session, String sql) throws TransportException {
    return session
        .run(
            new ClusterSession.Statement(
                sql,
                TransactionMode.AUTOCOMMIT,
                false,
                new KeyRequest.None(),
                0,
                0,
                List.of(new byte[] {0, 0}),
                Duration.ZERO))
        .reply();
  }

  private long number(Statement statement, String sql) throws Exception {
    try (ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getLong(1);
    }
  }

  @Test
  void clientsMoveToTheNextLeaderBeforeSilenceTells() throws Exception {
    long leaseId;
    try (Connection connection = cluster.connect("");
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE COUNTERS(ID INT PRIMARY KEY, N INT)");
      for (int i = 0; i < WORKERS; i++) {
        statement.execute("INSERT INTO COUNTERS VALUES(" + i + ", 0)");
      }
      leaseId = number(statement, "SELECT create_lease(INTERVAL '" + TTL.toSeconds() + "' SECOND)");
    }
    AtomicBoolean over = new AtomicBoolean();
    List<AtomicInteger> done = new ArrayList<>();
    List<Future<?>> workers = new ArrayList<>();
    AtomicInteger losses = new AtomicInteger();
    try (ClusterSession first = open();
        KeptLease lease = first.keepAlive(leaseId, TTL, Duration.ZERO, losses::incrementAndGet)) {
      for (int i = 0; i < WORKERS; i++) {
        int id = i;
        AtomicInteger counter = new AtomicInteger();
        done.add(counter);
        workers.add(threads.submit(() -> count(id, counter, over)));
      }
      ClusterProcesses.awaitProgress(() -> fewest(done), 20, workers);
      NodeProcess former = cluster.leader();
      former.pause();
      try {
        long paused = System.nanoTime();
        ClusterProcesses.awaitProgress(() -> fewest(done), 20, workers);
        await()
            .atMost(ClusterProcesses.DEADLINE)
            .until(
                () ->
                    lease.remaining().toNanos() + System.nanoTime() > paused + TTL.toNanos()
                        || losses.get() > 0);
      } finally {
        former.resume();
      }
      over.set(true);
      for (Future<?> worker : workers) {
        worker.get(60, TimeUnit.SECONDS);
      }
      assertEquals(0, losses.get());
    }
    try (Connection connection = cluster.connect("");
        Statement statement = connection.createStatement()) {
      for (int i = 0; i < WORKERS; i++) {
        assertEquals(
            done.get(i).get(), number(statement, "SELECT N FROM COUNTERS WHERE ID = " + i));
      }
    }
  }

  private static int fewest(List<AtomicInteger> done) {
    return done.stream().mapToInt(AtomicInteger::get).min().orElseThrow();
  }

  private Void count(int id, AtomicInteger done, AtomicBoolean over) throws TransportException {
    try (ClusterSession session = open()) {
      while (!over.get()) {
        Reply reply = run(session, "UPDATE COUNTERS SET N = N + 1 WHERE ID = " + id);
        assertInstanceOf(Reply.Result.class, reply, reply::toString);
        done.incrementAndGet();
      }
    }
    return null;
  }
}
