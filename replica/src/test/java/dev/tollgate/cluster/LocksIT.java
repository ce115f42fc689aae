package dev.tollgate.cluster;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.lock.HeldLock;
import dev.tollgate.lock.LockClient;
import dev.tollgate.lock.LockOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The lock API on three nodes in processes of their own. */
class LocksIT {
  private static final String PATIENT = "failoverTimeout=60s";

  @TempDir static Path directory;
  private static ClusterProcesses cluster;

  private final List<AutoCloseable> open = new ArrayList<>();

  @BeforeAll
  static void startCluster() throws Exception {
    cluster = new ClusterProcesses("LocksIT", directory, 3);
  }

  @AfterAll
  static void stopCluster() {
    cluster.close();
  }

  @BeforeEach
  void createTable() throws Exception {
    cluster.startAll();
    execute(
        LockHolders.TABLE,
        "TRUNCATE TABLE HELD",
        "CREATE LOCK IF NOT EXISTS 'pool' PERMITS " + LockHolders.PERMITS);
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : open) {
      each.close();
    }
  }

  private static void execute(String... statements) throws SQLException {
    try (Connection connection = cluster.connect(PATIENT);
        Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        statement.execute(sql);
      }
    }
  }

  private LockClient client() {
    LockClient client = LockClient.connect(cluster.url(PATIENT));
    open.add(client);
    return client;
  }

  @Test
  void locksOfAllKindsSurviveKillsOfTheLeader() throws Exception {
    surviveKills(6, 2);
  }

  @Test
  @Tag("nightly")
  void locksOfAllKindsSurviveManyKillsOfTheLeader() throws Exception {
    surviveKills(24, 20);
  }

  private void surviveKills(int threads, int kills) throws Exception {
    long seed = Long.getLong("tollgate.seed", System.nanoTime());
    System.out.println("tollgate.seed=" + seed);
    HeldLock kept = client().acquire("kept");
    HeldLock reading = client().acquire("read", LockOptions.DEFAULT.shared());
    AtomicBoolean over = new AtomicBoolean();
    AtomicInteger grants = new AtomicInteger();
    ExecutorService executor = Executors.newFixedThreadPool(threads);
    List<Future<?>> holders = new ArrayList<>();
    try {
      for (int i = 0; i < threads; i++) {
        LockHolders holder = holder(new Random(seed + i), grants);
        holders.add(executor.submit(() -> takeUntil(over, holder)));
      }
      for (int kill = 0; kill < kills; kill++) {
        ClusterProcesses.awaitProgress(grants::get, 2 * threads, holders);
        cluster.leader().kill();
        ClusterProcesses.awaitProgress(grants::get, 2 * threads, holders);
        cluster.startAll();
      }
      over.set(true);
      for (Future<?> holder : holders) {
        holder.get();
      }
    } finally {
      over.set(true);
      executor.shutdownNow();
    }
    kept.confirm();
    reading.confirm();
    checkGhosts(2);
    checkHolders();
    System.out.println(threads + " threads, " + kills + " kills, " + grants + " grants");
  }

  private LockHolders holder(Random random, AtomicInteger grants) throws SQLException {
    Connection connection = cluster.connect(PATIENT);
    open.add(connection);
    return new LockHolders(client(), connection, random, grants);
  }

  private static Void takeUntil(AtomicBoolean over, LockHolders holder) throws Exception {
    while (!over.get()) {
      holder.takeOne();
    }
    return null;
  }

  /** While their clients are open, so a grant that nobody knows would be renewed for ever. */
  private static void checkGhosts(int expected) {
    await()
        .atMost(ClusterProcesses.DEADLINE)
        .untilAsserted(
            () -> {
              assertEquals(expected, number("SELECT COUNT(*) FROM TOLLGATE.LOCKS"));
              assertEquals(0, number("SELECT COUNT(*) FROM TOLLGATE.LOCK_WAITERS"));
            });
  }

  private static long number(String query) throws SQLException {
    try (Connection connection = cluster.connect(PATIENT);
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(query)) {
      row.next();
      return row.getLong(1);
    }
  }

  /** What a token has written first and last, in the order of the log: it was held in between. */
  private record Hold(String lock, boolean whole, long first, long last) {
    boolean excludes(Hold other) {
      return lock.equals(other.lock)
          && (whole || other.whole)
          && first <= other.last
          && other.first <= last;
    }
  }

  private static void checkHolders() throws SQLException {
    List<Hold> holds = new ArrayList<>();
    try (Connection connection = cluster.connect(PATIENT);
        Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                "SELECT LOCK_NAME, WHOLE, MIN(ID), MAX(ID) FROM HELD"
                    + " GROUP BY LOCK_NAME, TOKEN, WHOLE")) {
      while (row.next()) {
        holds.add(new Hold(row.getString(1), row.getBoolean(2), row.getLong(3), row.getLong(4)));
      }
    }
    Map<String, Integer> counts = new HashMap<>();
    for (Hold hold : holds) {
      counts.merge(hold.lock + " " + hold.whole, 1, Integer::sum);
      // a hold that begins while others last: more than the permits of them at that position
      long beside =
          holds.stream().filter(other -> other.excludes(hold) && other.first <= hold.first).count();
      long most = hold.lock.equals("pool") ? LockHolders.PERMITS : 1;
      assertTrue(beside <= most, hold + " is one of " + beside);
    }
    System.out.println(counts);
    assertEquals(5, counts.size(), counts.toString());
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void pausedHolderIsToldAndInterruptedWhenItWakesUpAndItsWriteIsRefused(boolean fixedTerm)
      throws Exception {
    Process holder = startHolder(fixedTerm);
    open.add(() -> holder.destroyForcibly().waitFor());
    awaitLine("holds ");
    signal("STOP", holder);
    try (HeldLock next = client().acquire(PausedHolder.LOCK)) {
      signal("CONT", holder);
      awaitLine("lost");
      awaitLine("interrupted");
      awaitLine("refused with 23T01");
      next.confirm();
    }
    assertEquals(0, number("SELECT COUNT(*) FROM HELD"));
    assertTrue(Files.readAllLines(out()).stream().noneMatch(line -> line.contains("too early")));
  }

  private static Path out() {
    return directory.resolve("holder.out");
  }

  private static Process startHolder(boolean fixedTerm) throws IOException {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx128m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            PausedHolder.class.getName(),
            cluster.url(""),
            "1500",
            Boolean.toString(fixedTerm))
        .redirectOutput(out().toFile())
        .redirectError(directory.resolve("holder.err").toFile())
        .start();
  }

  private static void awaitLine(String start) {
    await()
        .atMost(ClusterProcesses.DEADLINE)
        .until(() -> Files.readAllLines(out()).stream().anyMatch(line -> line.startsWith(start)));
  }

  private static void signal(String name, Process process) throws Exception {
    assertEquals(0, new ProcessBuilder("kill", "-" + name, "" + process.pid()).start().waitFor());
  }
}
