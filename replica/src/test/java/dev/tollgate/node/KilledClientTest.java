package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.TransactionMode;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of the rows that a client has locked, when its process or its nodes end. */
@Timeout(180)
class KilledClientTest {
  /** Long before the session expires, which takes a minute. */
  private static final Duration SOON = Duration.ofSeconds(10);

  /** The next leader waits before it gives a process up, and was elected before that. */
  private static final Duration SOON_AFTER_ELECTION =
      Duration.ofMillis(Limits.SHOW_PATIENCE_MILLIS).plusSeconds(10);

  private static final Duration DEADLINE = Duration.ofSeconds(40);

  @TempDir private Path directory;
  private LocalCluster cluster;
  private Connection other;
  private @Nullable Process holder;

  @BeforeEach
  void start() throws Exception {
    cluster = LocalCluster.started(directory, 3);
    other = cluster.connect();
    execute(other, "CREATE TABLE T(ID INT PRIMARY KEY, V INT)");
    execute(other, "INSERT INTO T VALUES (1, 0)");
    execute(other, "SET LOCK_TIMEOUT " + SOON.toMillis());
  }

  @AfterEach
  void stop() throws Exception {
    if (holder != null) {
      holder.destroyForcibly();
    }
    other.close();
    cluster.close();
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private long number(String sql) throws SQLException {
    try (Statement statement = other.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      assertTrue(row.next());
      return row.getLong(1);
    }
  }

  /** A process that holds the row. */
  private Process startHolder(int further) throws Exception {
    List<String> java =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx128m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1");
    Process process =
        new ProcessBuilder(
                Stream.concat(
                        java.stream(),
                        Stream.of(
                            "-cp",
                            System.getProperty("java.class.path"),
                            RowHolder.class.getName(),
                            cluster.url(),
                            String.valueOf(further)))
                    .toList())
            .redirectError(directory.resolve("holder.err").toFile())
            .start();
    holder = process;
    BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
    assertEquals(RowHolder.HOLDS, out.readLine());
    return process;
  }

  /** Kills the process, and has another client change the row. */
  private void killAndTakeItsRow(Process killed, String how) throws Exception {
    long since = System.nanoTime();
    killed.destroyForcibly();
    takeItsRow(how, since);
  }

  private void takeItsRow(String how, long since) throws SQLException {
    execute(other, "UPDATE T SET V = V + 10");
    System.out.printf(
        "%s: the row of a killed client was free after %d ms%n",
        how, (System.nanoTime() - since) / 1_000_000);
    assertEquals(10, number("SELECT V FROM T"), "what the killed client had done is undone");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 3})
  void rowsOfAKilledClientAreFree(int further) throws Exception {
    killAndTakeItsRow(startHolder(further), further + " further connections");
  }

  /** The session's connection is still at the former leader. */
  @Test
  void rowsOfAClientThatIsKilledAfterAChangeOfLeadersAreFree() throws Exception {
    Process moved = startHolder(1);
    String former = cluster.leader();
    execute(other, "CALL transfer_leadership('" + cluster.follower() + "')");
    await().atMost(DEADLINE).until(() -> !cluster.leader().equals(former));
    // the short session lives as long as its process sends heartbeats to the next leader
    await()
        .atMost(DEADLINE)
        .during(Duration.ofSeconds(4))
        .until(() -> number("SELECT COUNT(*) FROM TOLLGATE.SESSIONS") == 3);
    killAndTakeItsRow(moved, "after a change of leaders");
  }

  /** The next leader has seen nothing of it. */
  @Test
  void rowsOfAClientThatIsKilledTogetherWithItsLeaderAreFree() throws Exception {
    execute(other, "SET LOCK_TIMEOUT " + SOON_AFTER_ELECTION.toMillis());
    Process killed = startHolder(1);
    String leader = cluster.leader();
    long since = System.nanoTime();
    killed.destroyForcibly();
    cluster.stop(leader);
    takeItsRow("together with its leader", since);
  }

  /** It sees the process, which need not send anything. */
  @Test
  void processThatIsConnectedToTheNextLeaderKeepsItsTransactions() throws Exception {
    execute(other, "CREATE TABLE U(ID INT)");
    String next = cluster.follower();
    try (RawClient stopped = connect(cluster.leader(), "stopped");
        RawClient watching = connect(next, "stopped");
        RawClient gone = connect(cluster.leader(), "gone")) {
      assertInstanceOf(Reply.NodeStatus.class, watching.call(new Request.AskNodeStatus()));
      long connected = insertInTransaction(stopped);
      long silent = insertInTransaction(gone);
      execute(other, "CALL transfer_leadership('" + next + "')");
      await().atMost(DEADLINE).until(() -> cluster.leader().equals(next));
      await().atMost(DEADLINE).until(() -> !isInTransaction(next, silent));
      assertTrue(isInTransaction(next, connected));
    }
  }

  private RawClient connect(String node, String process) throws IOException {
    RawClient client = new RawClient(cluster.clientAddress(node));
    assertInstanceOf(Reply.Welcome.class, client.greet(process));
    return client;
  }

  private static long insertInTransaction(RawClient client) throws IOException {
    Reply.SessionReady session =
        assertInstanceOf(
            Reply.SessionReady.class,
            client.call(
                new Request.OpenSession(
                    300_000,
                    300_000,
                    new Request.SessionOptions(ReadConsistency.LINEARIZABLE, 0))));
    assertInstanceOf(
        Reply.Result.class,
        client.call(
            RawClient.execute(1, TransactionMode.READ_COMMITTED, "INSERT INTO U VALUES(1)")));
    return session.sessionId();
  }

  private boolean isInTransaction(String node, long session) {
    return cluster.node(node).replica().facts().isInTransaction(new SessionId(session));
  }

  @Test
  void transactionOutlivesTheNodesOfItsClient() throws Exception {
    try (Connection connection = cluster.connect()) {
      connection.setAutoCommit(false);
      execute(connection, "UPDATE T SET V = 1");
      for (int i = 0; i < 2; i++) {
        String leader = cluster.leader();
        cluster.stop(leader);
        assertNotEquals(leader, cluster.leader());
        cluster.start(leader);
      }
      // longer than a process has to come back, or to show itself to the next leader
      await()
          .atMost(DEADLINE)
          .during(Duration.ofMillis(Limits.SHOW_PATIENCE_MILLIS).plusSeconds(2))
          .until(() -> number("SELECT COUNT(*) FROM TOLLGATE.TRANSACTIONS") == 1);
      connection.commit();
    }
    assertEquals(1, number("SELECT V FROM T"));
    assertEquals(Map.of("n1", "EQUAL", "n2", "EQUAL", "n3", "EQUAL"), LocalCluster.verify(other));
  }
}
