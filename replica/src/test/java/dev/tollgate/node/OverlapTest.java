package dev.tollgate.node;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.lock.Leadership;
import dev.tollgate.lock.LockClient;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * How long two terms of an election are led at once when an operator takes the lock away: the next
 * candidate is elected at once, and the former leader is told.
 */
@Timeout(300)
class OverlapTest {
  private static final int CANDIDATES = 20;
  private static final Duration TTL = Duration.ofSeconds(5);

  /** What the documentation promises. */
  private static final Duration BOUND = TTL.dividedBy(10);

  @TempDir Path directory;
  private final List<LockClient> clients = new ArrayList<>();
  private final List<Leadership> terms = new CopyOnWriteArrayList<>();
  private LocalCluster cluster;
  private Connection administrator;
  private final AtomicLong longestNanos = new AtomicLong();

  @AfterEach
  void close() throws SQLException {
    clients.forEach(LockClient::close);
    administrator.close();
    if (cluster != null) {
      cluster.close();
    }
  }

  private void stand(String url) throws SQLException {
    administrator = DriverManager.getConnection(url);
    for (int i = 0; i < CANDIDATES; i++) {
      LockClient client = LockClient.connect(url + "&applicationName=candidate" + i);
      clients.add(client);
      client.elect(
          "e",
          "candidate " + i,
          TTL,
          term -> {
            terms.add(term);
            new CountDownLatch(1).await();
          });
    }
  }

  private long number(String sql) throws SQLException {
    try (Statement statement = administrator.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getLong(1);
    }
  }

  /** Looks at the last terms until the former ones have ended, and notes how long two were led. */
  private void takeAwayAndMeasure(Way way) throws SQLException {
    int before = terms.size();
    Leadership former = terms.get(before - 1);
    long other = number("SELECT create_lease(60000)");
    number(String.format(way.sql, former.lock().lease().id(), other));
    number("SELECT revoke_lease(" + other + ")");
    Awaitility.await()
        .atMost(Duration.ofSeconds(60))
        .pollInSameThread()
        .pollInterval(Duration.ofNanos(100_000))
        .until(() -> terms.size() > before);
    long since = System.nanoTime();
    while (former.isLeader()) {
      Thread.onSpinWait();
    }
    longestNanos.accumulateAndGet(System.nanoTime() - since, Math::max);
  }

  private enum Way {
    FORCED("SELECT force_release_lock('e')"),
    TRANSFERRED("SELECT transfer_lock('e', %d, %d)"),
    REVOKED("SELECT revoke_lease(%d)");

    private final String sql;

    Way(String sql) {
      this.sql = sql;
    }
  }

  private void measure(int rounds) throws SQLException {
    Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> !terms.isEmpty());
    for (int i = 0; i < rounds; i++) {
      for (Way way : Way.values()) {
        takeAwayAndMeasure(way);
      }
    }
    assertLongestWithinBound();
  }

  private void assertLongestWithinBound() {
    long longestMicros = longestNanos.get() / 1_000;
    assertTrue(longestMicros < BOUND.toNanos() / 1_000, "two led for " + longestMicros + " us");
  }

  @Test
  void formerLeaderLearnsBeforeATenthOfTheTtlHasPassed() throws Exception {
    stand("jdbc:tollgate:mem:" + UUID.randomUUID() + "?failoverTimeout=40s");
    measure(30);
  }

  @Test
  void formerLeaderOfThreeNodesLearnsBeforeATenthOfTheTtlHasPassed() throws Exception {
    cluster = LocalCluster.started(directory, 3);
    stand(cluster.url() + "?failoverTimeout=40s");
    measure(30);
  }

  /** While the leaders change, the process of the former leader looks for the next one too. */
  @Test
  void changeOfLeadersMakesNoOverlapLonger() throws Exception {
    cluster = LocalCluster.started(directory, 3);
    stand(cluster.url() + "?failoverTimeout=40s");
    Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> !terms.isEmpty());
    for (int i = 0; i < 8; i++) {
      try (Statement statement = administrator.createStatement()) {
        statement.execute("CALL transfer_leadership('" + cluster.follower() + "')");
      }
      takeAwayAndMeasure(Way.FORCED);
    }
    assertLongestWithinBound();
  }

  @Test
  void deathOfTheLeaderOfTheClusterMakesNoOverlapLonger() throws Exception {
    cluster = LocalCluster.started(directory, 3);
    stand(cluster.url() + "?failoverTimeout=40s");
    Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> !terms.isEmpty());
    for (int i = 0; i < 4; i++) {
      String leader = cluster.leader();
      Thread dies = new Thread(() -> cluster.stop(leader));
      dies.start();
      takeAwayAndMeasure(Way.FORCED);
      dies.join();
      cluster.start(leader);
    }
    assertLongestWithinBound();
  }
}
