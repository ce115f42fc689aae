package dev.tollgate.node;

import static dev.tollgate.node.TestSql.run;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.log.RaftSettings;
import dev.tollgate.log.SkipList;
import dev.tollgate.log.ratis.NodeDirectory;
import dev.tollgate.store.Poison;
import dev.tollgate.store.SqlDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A command of the log that all nodes, most nodes, or one node cannot carry out. */
@Timeout(120)
class PoisonTest {
  private static final Duration DEADLINE = Duration.ofSeconds(60);
  private static final String POISON = "INSERT INTO T SELECT 666 AS POISON";
  private static final List<String> NODES = List.of("n1", "n2", "n3");
  private static final Map<String, String> ALL_EQUAL =
      Map.of("n1", "EQUAL", "n2", "EQUAL", "n3", "EQUAL");

  private final Set<SqlDatabase> healthy = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean allHealthy = new AtomicBoolean();
  @TempDir private Path directory;
  private LocalCluster cluster;
  private Connection bystander;
  private Connection victim;

  @BeforeEach
  void startCluster() throws Exception {
    cluster = new LocalCluster(directory, 3, Duration.ZERO, RaftSettings.SNAPSHOT_LOG_BYTES);
    cluster.useDatabases(
        () -> Poison.ofWrites(database -> !allHealthy.get() && !healthy.contains(database)));
    cluster.audit(Files.createDirectory(directory.resolve("audit")));
    cluster.startAll();
    bystander = connect();
    victim = connect();
    run(bystander, "CREATE TABLE T(ID INT PRIMARY KEY)");
    run(bystander, "INSERT INTO T VALUES(1)");
    run(victim, "INSERT INTO T VALUES(2)");
  }

  @AfterEach
  void close() throws SQLException {
    victim.close();
    bystander.close();
    cluster.close();
  }

  private Connection connect() throws SQLException {
    return DriverManager.getConnection(cluster.url() + "?failoverTimeout=2m");
  }

  private static List<Integer> ids(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT ARRAY_AGG(ID ORDER BY ID) FROM T")) {
      assertTrue(rows.next());
      return List.of((Object[]) rows.getArray(1).getArray()).stream()
          .map(id -> (Integer) id)
          .toList();
    }
  }

  private static SQLException refused(Connection connection, String sql) {
    return assertThrows(SQLException.class, () -> run(connection, sql));
  }

  private static void assertSkipped(SQLException answer) {
    assertEquals("58T01", answer.getSQLState(), answer.getMessage());
    assertTrue(answer.getMessage().contains("skipped"), answer.getMessage());
  }

  private void awaitEqual() {
    await()
        .atMost(DEADLINE)
        .ignoreExceptions()
        .until(() -> LocalCluster.verify(bystander).equals(ALL_EQUAL));
  }

  private List<SkipList.Skip> skips(String id) throws IOException {
    return SkipList.read(directory.resolve(id)).skips();
  }

  private void assertSkippedEverywhere(int count) throws IOException {
    List<SkipList.Skip> first = skips("n1");
    assertEquals(count, first.size(), first.toString());
    for (String id : NODES) {
      assertEquals(Set.copyOf(first), Set.copyOf(skips(id)), id);
    }
  }

  private void assertNothingSkipped() throws IOException {
    for (String id : NODES) {
      assertEquals(List.of(), skips(id), id);
    }
  }

  private void restartAll() throws IOException {
    cluster.stopAll();
    cluster.startAll();
    cluster.leader();
    awaitEqual();
  }

  private void assertAudited() {
    for (String id : NODES) {
      await()
          .atMost(DEADLINE)
          .until(
              () ->
                  Files.readString(directory.resolve("audit").resolve(id))
                      .contains("skip_command"));
    }
  }

  @Test
  void nodesGoOnWithoutACommandThatNoneCanCarryOut() throws Exception {
    try (Connection transaction = connect()) {
      transaction.setAutoCommit(false);
      run(transaction, "INSERT INTO T VALUES(50)");
      long begun = System.nanoTime();
      SQLException answer = refused(victim, POISON);
      run(bystander, "INSERT INTO T VALUES(3)");
      System.out.printf(
          "from the command to serving again: %d ms%n",
          TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun));
      assertSkipped(answer);
      transaction.commit();
    }
    run(victim, "INSERT INTO T VALUES(4)");
    assertEquals(List.of(1, 2, 3, 4, 50), ids(bystander));
    awaitEqual();
    assertSkippedEverywhere(1);
    assertAudited();
    for (Node node : cluster.nodes().values()) {
      assertEquals(0, node.takenStates());
    }
    restartAll();
    assertEquals(List.of(1, 2, 3, 4, 50), ids(bystander));
    assertSkippedEverywhere(1);
  }

  @Test
  void nodeThatWasDownLeavesOutWhatTwoOfThreeCouldNotCarryOut() throws Exception {
    run(bystander, "CALL take_snapshot()");
    String down = cluster.follower();
    cluster.stop(down);
    assertSkipped(refused(victim, POISON));
    run(bystander, "INSERT INTO T VALUES(3)");
    cluster.start(down);
    awaitEqual();
    assertSkippedEverywhere(1);
    restartAll();
    assertEquals(List.of(1, 2, 3), ids(bystander));
  }

  @Test
  void nodeThatSkipsMoreThanTheOthersTakesTheStateOfTheLeader() throws Exception {
    String other = cluster.follower();
    cluster.stop(other);
    run(bystander, "INSERT INTO T VALUES(4)");
    long next = cluster.node(cluster.leader()).status().lastAppliedIndex() + 1;
    // nobody else skips what comes next, be it after an entry of an idle leader
    NodeDirectory.skip(directory.resolve(other), new SkipList.Skip(next, null));
    NodeDirectory.skip(directory.resolve(other), new SkipList.Skip(next + 1, null));
    cluster.start(other);
    run(bystander, "INSERT INTO T VALUES(5)");
    await().atMost(DEADLINE).until(() -> cluster.node(other).takenStates() == 1);
    awaitEqual();
    assertEquals(List.of(1, 2, 4, 5), ids(bystander));
  }

  @Test
  void twoCommandsAtOnceAreBothLeftOut() throws Exception {
    List<CompletableFuture<SQLException>> answers = new ArrayList<>();
    List<Thread> clients = new ArrayList<>();
    for (Connection connection : List.of(victim, bystander)) {
      CompletableFuture<SQLException> answer = new CompletableFuture<>();
      answers.add(answer);
      Thread client = new Thread(() -> answer.complete(refused(connection, POISON)));
      clients.add(client);
      client.start();
    }
    for (CompletableFuture<SQLException> answer : answers) {
      assertSkipped(answer.get(DEADLINE.toMillis(), TimeUnit.MILLISECONDS));
    }
    for (Thread client : clients) {
      client.join();
    }
    awaitEqual();
    assertSkippedEverywhere(2);
    assertEquals(List.of(1, 2), ids(bystander));
  }

  @Test
  void leaderThatFailsAloneTakesTheStateOfTheOthers() throws Exception {
    String leader = cluster.leader();
    NODES.stream()
        .filter(id -> !id.equals(leader))
        .forEach(id -> healthy.add(cluster.database(id)));
    run(victim, POISON);
    tookTheStateOfALeader(List.of(leader));
  }

  @Test
  void followersThatFailTakeTheStateOfTheLeader() throws Exception {
    String leader = cluster.leader();
    healthy.add(cluster.database(leader));
    run(victim, POISON);
    tookTheStateOfALeader(NODES.stream().filter(id -> !id.equals(leader)).toList());
  }

  @Test
  void followerThatCarriedOutWhatTheOthersLeaveOutTakesTheStateOfTheLeader() throws Exception {
    String follower = cluster.follower();
    healthy.add(cluster.database(follower));
    assertSkipped(refused(victim, POISON));
    run(bystander, "INSERT INTO T VALUES(3)");
    await().atMost(DEADLINE).until(() -> cluster.node(follower).takenStates() == 1);
    awaitEqual();
    assertEquals(List.of(1, 2, 3), ids(bystander));
  }

  private void tookTheStateOfALeader(List<String> failed) throws Exception {
    run(bystander, "INSERT INTO T VALUES(3)");
    for (String id : failed) {
      await().atMost(DEADLINE).until(() -> cluster.node(id).takenStates() == 1);
    }
    awaitEqual();
    assertEquals(List.of(1, 2, 3, 666), ids(bystander));
    assertNothingSkipped();
  }

  @Test
  void commandThatClientsHaveAnAnswerForIsNotSkipped() throws Exception {
    allHealthy.set(true);
    run(victim, POISON);
    run(bystander, "INSERT INTO T VALUES(3)");
    cluster.stopAll();
    allHealthy.set(false);
    cluster.start("n1");
    cluster.start("n2");
    await().atMost(DEADLINE).until(() -> cluster.node("n1").replica().isStanding());
    await().atMost(DEADLINE).until(() -> cluster.node("n2").replica().isStanding());
    allHealthy.set(true);
    cluster.start("n3");
    awaitEqual();
    assertEquals(List.of(1, 2, 3, 666), ids(bystander));
    assertNothingSkipped();
  }
}
