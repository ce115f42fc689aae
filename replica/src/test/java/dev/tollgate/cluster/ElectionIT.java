package dev.tollgate.cluster;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.lock.Leader;
import dev.tollgate.lock.LeaderElection;
import dev.tollgate.lock.Leadership;
import dev.tollgate.lock.LockClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Elections on three nodes in processes of their own, with candidates in further processes. */
class ElectionIT {
  private static final Duration TTL = Duration.ofSeconds(1);

  @TempDir static Path directory;
  private static ClusterProcesses cluster;

  private final Map<String, CandidateProcess> candidates = new TreeMap<>();
  private LockClient client;

  @BeforeAll
  static void startCluster() throws Exception {
    cluster = new ClusterProcesses("ElectionIT", directory, 3);
  }

  @AfterAll
  static void stopCluster() {
    cluster.close();
  }

  @BeforeEach
  void startNodes() throws Exception {
    cluster.startAll();
    client = LockClient.connect(cluster.url(""));
    execute(Candidates.TABLE);
  }

  @AfterEach
  void stopCandidates() throws Exception {
    for (CandidateProcess each : candidates.values()) {
      each.kill();
    }
    execute("SELECT acquire_lock('chief', 0, 60000)", "DROP TABLE TERM");
    client.close();
  }

  /** On one connection, whose lease ends with it. */
  private static void execute(String... statements) throws SQLException {
    try (Connection connection = cluster.connect("");
        Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        statement.execute(sql);
      }
    }
  }

  private void startCandidates(String name, int count, Duration ttl) throws IOException {
    candidates.put(
        name,
        new CandidateProcess(
            Candidates.class,
            out(name),
            List.of(),
            cluster.url(""),
            name,
            Integer.toString(count),
            Long.toString(ttl.toMillis())));
  }

  private static Path out(String name) {
    return directory.resolve(name + ".out");
  }

  private static void awaitLine(String process, String line) {
    await()
        .atMost(ClusterProcesses.DEADLINE)
        .until(() -> Files.readAllLines(out(process)).contains(line));
  }

  private Leader awaitLeader(long afterToken) {
    return await()
        .atMost(ClusterProcesses.DEADLINE)
        .pollInterval(Duration.ofMillis(5))
        .ignoreExceptions()
        .until(
            () -> client.holder(Candidates.ELECTION),
            found -> found.isPresent() && found.get().token() > afterToken)
        .orElseThrow();
  }

  @Test
  void leaderStaysWhenALeaderOfTheClusterDies() throws Exception {
    BlockingQueue<Leadership> terms = new LinkedBlockingQueue<>();
    try (LeaderElection election =
        client.elect(
            Candidates.ELECTION,
            "here",
            Duration.ofSeconds(15),
            term -> {
              terms.add(term);
              new CountDownLatch(1).await();
            })) {
      List<Optional<Leader>> told = new CopyOnWriteArrayList<>();
      election.onLeaderChange(told::add);
      Leadership term = terms.poll(30, TimeUnit.SECONDS);
      Optional<Leader> here = Optional.of(new Leader("here", term.token()));
      NodeProcess leader = cluster.leader();
      leader.kill();
      assertEquals(here, election.currentLeader());
      await().atMost(ClusterProcesses.DEADLINE).until(() -> term.remaining().toMillis() > 9_000);
      assertTrue(term.isLeader());
      assertTrue(terms.isEmpty());
      assertEquals(here, told.get(told.size() - 1));
      election.resign();
      Leadership next = terms.poll(30, TimeUnit.SECONDS);
      await()
          .atMost(ClusterProcesses.DEADLINE)
          .until(() -> told.contains(Optional.of(new Leader("here", next.token()))));
    }
  }

  @Test
  void pausedLeaderIsInterruptedWhenItWakesUpAndItsWriteIsRefused() throws Exception {
    startCandidates("paused", 1, TTL);
    Leader first = awaitLeader(0);
    awaitLine("paused", "elected " + first.token());
    await().atMost(ClusterProcesses.DEADLINE).until(() -> rows(first.token()) > 0);
    CandidateProcess paused = candidates.get("paused");
    paused.pause();
    CountDownLatch end = new CountDownLatch(1);
    try (LeaderElection election =
        client.elect(Candidates.ELECTION, "second", term -> end.await())) {
      Leader second = awaitLeader(first.token());
      assertEquals("second", second.candidate());
      paused.resume();
      awaitLine("paused", "interrupted " + first.token());
      awaitLine("paused", "ended " + first.token());
      awaitLine("paused", "refused with 23T01 " + first.token());
      assertTrue(election.isLeader());
      long before = rows(first.token());
      assertEquals(before, rows(first.token()));
      assertFalse(Files.readString(out("paused")).contains("written"));
    }
  }

  private static long rows(long token) throws SQLException {
    try (Connection connection = cluster.connect("");
        Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery("SELECT COUNT(*) FROM TERM WHERE TOKEN = " + token)) {
      row.next();
      return row.getLong(1);
    }
  }

  @Test
  void candidatesTakeOverFromEachKilledLeader() throws Exception {
    takeOver(2, 8, 3);
  }

  @Test
  @Tag("nightly")
  void hundredCandidatesTakeOverFromALeaderThatIsKilledEverySecond() throws Exception {
    takeOver(4, 100, 60);
  }

  private void takeOver(int processes, int count, int kills) throws Exception {
    for (int i = 0; i < processes; i++) {
      startCandidates("p" + i, count / processes, TTL);
    }
    List<Long> millis = new ArrayList<>();
    Leader leader = awaitLeader(0);
    for (int kill = 0; kill < kills; kill++) {
      long token = leader.token();
      await().atMost(ClusterProcesses.DEADLINE).until(() -> rows(token) > 0);
      String name = leader.candidate().substring(0, leader.candidate().indexOf('-'));
      candidates.get(name).kill();
      long killed = System.nanoTime();
      startCandidates(name, count / processes, TTL);
      leader = awaitLeader(token);
      millis.add((System.nanoTime() - killed) / 1_000_000);
    }
    millis.sort(null);
    System.out.println(
        count
            + " candidates, "
            + kills
            + " kills: median time to the next leader "
            + millis.get(millis.size() / 2)
            + " ms, longest "
            + millis.get(millis.size() - 1)
            + " ms");
    checkOneLeaderAtATime(kills);
  }

  /** The rows are in the order of the log, so tokens that fall back are two leaders at once. */
  private static void checkOneLeaderAtATime(int kills) throws SQLException {
    List<Long> terms = new ArrayList<>();
    try (Connection connection = cluster.connect("");
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT TOKEN FROM TERM ORDER BY ID")) {
      long last = 0;
      while (rows.next()) {
        long token = rows.getLong(1);
        assertTrue(token >= last, token + " after " + last);
        if (token > last) {
          terms.add(token);
        }
        last = token;
      }
    }
    assertTrue(terms.size() >= kills, terms.toString());
  }
}
