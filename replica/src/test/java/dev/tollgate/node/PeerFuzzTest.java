package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.tollgate.LivingDirectory;
import dev.tollgate.log.peer.NodeIdentity;
import dev.tollgate.log.peer.PeerFuzzer;
import dev.tollgate.seal.DataKeys;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.protocol.RaftGroupId;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/**
 * Nodes that lie, as {@link PeerFuzzer} makes them, talk to three nodes with a log. An honest
 * client is served, no node fails or logs an error, and all replicas stay equal, also one that
 * starts again from its log.
 *
 * <p>{@code -Dtollgate.fuzz.seed} chooses another run, {@code -Dtollgate.fuzz.seconds} its length.
 */
@Timeout(2 * 3_600)
class PeerFuzzTest {
  private static final long SEED = Long.getLong("tollgate.fuzz.seed", 1);
  private static final long SECONDS = Long.getLong("tollgate.fuzz.seconds", 12);
  private static final int ACTS_PER_ROUND = 40;
  private static final Map<String, String> ALL_EQUAL =
      Map.of("n1", "EQUAL", "n2", "EQUAL", "n3", "EQUAL");

  @TempDir Path directory;

  @Test
  void nodesThatLieDoNoHarm() throws Exception {
    run(SEED, SECONDS);
  }

  @Tag("nightly")
  @Test
  void nodesThatLieDoNoHarmForAnHour() throws Exception {
    run(System.nanoTime(), Long.getLong("tollgate.fuzz.seconds", 3_600));
  }

  private void run(long seed, long seconds) throws Exception {
    System.out.println("PeerFuzzTest: -Dtollgate.fuzz.seed=" + seed);
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    Logger root = (Logger) LoggerFactory.getLogger("dev.tollgate");
    root.addAppender(log);
    int acts = 0;
    PeerFuzzer fuzzer;
    try (LocalCluster cluster = LocalCluster.started(directory, 3);
        Connection honest = cluster.connect()) {
      try (Statement statement = honest.createStatement()) {
        statement.execute("CREATE TABLE H(N BIGINT) FENCED BY LOCK 'honest'");
        statement.execute("INSERT INTO H VALUES(0) FENCED BY LOCK 'honest' TOKEN " + lock(honest));
      }
      fuzzer = fuzzer(cluster, seed);
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
      do {
        for (int i = 0; i < ACTS_PER_ROUND; i++) {
          fuzzer.act();
        }
        acts += ACTS_PER_ROUND;
        requireService(cluster, honest, "seed " + seed + " after " + acts);
      } while (System.nanoTime() < end);
      requireEqual(honest, log, "seed " + seed);
      String again = cluster.follower();
      cluster.stop(again);
      cluster.start(again);
      requireEqual(honest, log, "seed " + seed + ", " + again + " from its log");
    } finally {
      root.detachAppender(log);
    }
    System.out.println("PeerFuzzTest: " + acts + " connections, " + fuzzer.counts());
  }

  private PeerFuzzer fuzzer(LocalCluster cluster, long seed) throws IOException {
    SortedMap<String, String> addresses = new TreeMap<>();
    Map<String, NodeIdentity> identities = new TreeMap<>();
    for (String id : cluster.nodes().keySet()) {
      addresses.put(id, cluster.raftAddress(id));
      identities.put(id, NodeIdentity.open(cluster.data(id), id, cluster.data(id), DataKeys.off()));
    }
    return new PeerFuzzer(new Random(seed), group(cluster.data("n1")), addresses, identities);
  }

  /** The group by the directory that Ratis keeps for it. */
  private static RaftGroupId group(Path data) throws IOException {
    Path named = LivingDirectory.find(data, "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}").get(0);
    return RaftGroupId.valueOf(UUID.fromString(named.getFileName().toString()));
  }

  private static long lock(Connection honest) throws SQLException {
    try (Statement statement = honest.createStatement();
        ResultSet token = statement.executeQuery("SELECT acquire_lock('honest')")) {
      assertTrue(token.next() && token.getLong(1) > 0);
      return token.getLong(1);
    }
  }

  private static void requireService(LocalCluster cluster, Connection honest, String where)
      throws SQLException {
    cluster.nodes().forEach((id, node) -> assertNull(node.failure(), where + ", node " + id));
    long token = lock(honest);
    try (Statement statement = honest.createStatement()) {
      assertEquals(
          1,
          statement.executeUpdate("UPDATE H SET N = N + 1 FENCED BY LOCK 'honest' TOKEN " + token),
          where);
      statement.execute("SELECT release_lock('honest')");
    }
  }

  private static void requireEqual(Connection honest, ListAppender<ILoggingEvent> log, String when)
      throws SQLException {
    // a node that starts again after an hour has many entries to apply
    Map<String, String> verdicts =
        await()
            .atMost(Duration.ofMinutes(2))
            .until(() -> LocalCluster.verify(honest), known -> !known.containsValue("NO ANSWER"));
    List<String> errors =
        List.copyOf(log.list).stream()
            .filter(event -> event.getLevel().isGreaterOrEqual(Level.ERROR))
            .map(ILoggingEvent::toString)
            .toList();
    assertEquals(List.of(), errors, when);
    assertEquals(ALL_EQUAL, verdicts, when);
  }
}
