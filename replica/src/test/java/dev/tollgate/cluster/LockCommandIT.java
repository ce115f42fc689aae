package dev.tollgate.cluster;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.lock.HeldLock;
import dev.tollgate.lock.LockClient;
import dev.tollgate.lock.LockOptions;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code tollgate lock} as a process, with commands that end, that do not, and that leave others
 * behind. The program reaches the node through a relay, the tests reach it directly.
 */
class LockCommandIT {
  /** Says its process id and that of a child in the background, and lives for a minute. */
  private static final String FAMILY = "sleep 60 & echo $$ $!; wait";

  @TempDir static Path directory;
  private static ClusterProcesses cluster;
  private static int port;

  private final List<AutoCloseable> open = new ArrayList<>();

  @BeforeAll
  static void startNode() throws Exception {
    port = Ports.free();
    cluster =
        new ClusterProcesses(
            "LockCommandIT", directory.resolve("nodes"), 1, "--client-listen=127.0.0.1:" + port);
  }

  @AfterAll
  static void stopNode() {
    cluster.close();
  }

  @AfterEach
  void closeAll() throws Exception {
    for (AutoCloseable each : open) {
      each.close();
    }
  }

  private static String direct() {
    return "jdbc:tollgate://127.0.0.1:" + port + "/";
  }

  private RunningProgram lock(String... arguments) throws Exception {
    String[] all = new String[arguments.length + 2];
    System.arraycopy(arguments, 0, all, 2, arguments.length);
    all[0] = "lock";
    all[1] = "--url=" + direct();
    RunningProgram program = new RunningProgram(directory, all);
    open.add(program);
    return program;
  }

  private LockClient client() {
    LockClient client = LockClient.connect(direct());
    open.add(client);
    return client;
  }

  private static String query(String sql) throws SQLException {
    try (Connection connection = DriverManager.getConnection(direct());
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      return rows.next() ? rows.getString(1) : "";
    }
  }

  private static boolean isHeld(String name) throws SQLException {
    return !query("SELECT TOKEN FROM TOLLGATE.LOCKS WHERE LOCK_NAME = '" + name + "'").isEmpty();
  }

  /** A process that nobody has waited for yet has ended too. */
  private static boolean isAlive(String pid) throws Exception {
    try {
      String stat = Files.readString(Path.of("/proc", pid, "stat"));
      return !stat.substring(stat.lastIndexOf(')')).startsWith(") Z");
    } catch (NoSuchFileException e) {
      return false;
    }
  }

  private static void awaitEnd(String... pids) {
    for (String pid : pids) {
      await().atMost(Duration.ofSeconds(10)).until(() -> !isAlive(pid));
    }
  }

  @Test
  void commandFindsLockAndTokenAndItsExitStatusIsPassedOn() throws Exception {
    RunningProgram program =
        lock("job", "--", "sh", "-c", "echo $TOLLGATE_LOCK $TOLLGATE_TOKEN; read x; exit 7");
    assertEquals(7, program.status(), program.err());
    String[] said = program.out().strip().split(" ", -1);
    assertEquals("job", said[0]);
    assertTrue(Long.parseLong(said[1]) > 0, program.out());
    assertEquals("", program.err());
    assertFalse(isHeld("job"), "it is released");
  }

  /** What stands after the two dashes is for the command alone, whatever it looks like. */
  @Test
  void argumentsReachTheCommandAsTheyAre() throws Exception {
    Path file = Files.writeString(directory.resolve("arguments"), "from a file");
    RunningProgram program =
        lock("args", "--", "printf", "%s;", "-n", "--help", "--", "@" + file, "a  b", "", "${x}");
    assertEquals(0, program.status(), program.err());
    assertEquals("-n;--help;--;@" + file + ";a  b;;${x};", program.out());
  }

  @Test
  void lockIsHeldUnderThatTokenWhileTheCommandRuns() throws Exception {
    RunningProgram program = lock("held", "--", "sh", "-c", "echo $TOLLGATE_TOKEN; sleep 60");
    String token = program.awaitLine().strip();
    assertEquals(token, query("SELECT lock_token('held')"));
    assertEquals("sh", query("SELECT OWNER FROM TOLLGATE.LOCKS WHERE LOCK_NAME = 'held'"));
  }

  @Test
  void whoDoesNotGetTheLockRunsNothing() throws Exception {
    HeldLock held = client().acquire("taken");
    RunningProgram now = lock("-n", "-E", "42", "taken", "--", "echo", "ran");
    RunningProgram soon = lock("--wait=300ms", "taken", "--", "echo", "ran");
    RunningProgram waits = lock("--wait=50s", "taken", "--", "echo", "ran at last");
    assertEquals(42, now.status(), now.err());
    assertEquals(1, soon.status(), soon.err());
    assertEquals("", now.out() + soon.out() + now.err() + soon.err());
    await()
        .atMost(ClusterProcesses.DEADLINE)
        .until(() -> query("SELECT COUNT(*) FROM TOLLGATE.LOCK_WAITERS").equals("1"));
    held.close();
    assertEquals(0, waits.status(), waits.err());
    assertEquals("ran at last\n", waits.out());
  }

  @Test
  void sharedHoldersRunTogetherAndKeepAnExclusiveOneOut() throws Exception {
    RunningProgram first = lock("-s", "read", "--", "sh", "-c", "echo 1; sleep 60");
    RunningProgram second = lock("-s", "read", "--", "sh", "-c", "echo 2; sleep 60");
    first.awaitLine();
    second.awaitLine();
    RunningProgram writer = lock("--nonblock", "read", "--", "true");
    assertEquals(1, writer.status(), writer.err());
  }

  @Test
  void statusSaysWhatFailed() throws Exception {
    RunningProgram missing = lock("x1", "--", "no-such-command-here");
    RunningProgram denied = lock("x2", "--", directory.toString());
    RunningProgram killed = lock("x3", "--", "sh", "-c", "kill -9 $$");
    RunningProgram nobody =
        new RunningProgram(
            directory,
            "lock",
            "--url=jdbc:tollgate://127.0.0.1:" + Ports.free() + "/?failoverTimeout=300ms",
            "x4",
            "--",
            "true");
    assertEquals(127, missing.status(), missing.err());
    assertTrue(missing.err().contains("no-such-command-here"), missing.err());
    assertEquals(126, denied.status(), denied.err());
    assertEquals(137, killed.status(), killed.err());
    assertEquals(125, nobody.status(), nobody.err());
    assertTrue(nobody.err().startsWith("tollgate lock: lock 'x4' is not held:"), nobody.err());
    assertFalse(isHeld("x1") || isHeld("x2") || isHeld("x3"));
  }

  @Test
  void graceBeyondHalfOfTheTtlIsRefused() throws Exception {
    RunningProgram program = lock("--ttl=4s", "--grace=3s", "job", "--", "true");
    assertEquals(2, program.status());
    assertTrue(program.err().contains("at most half of --ttl, which is 4s"), program.err());
  }

  @Test
  void signalEndsTheCommandAndReleasesTheLock() throws Exception {
    Path file = directory.resolve("signal");
    RunningProgram program =
        lock(
            "signal",
            "--",
            "sh",
            "-c",
            "trap 'echo tidy > " + file + "; kill $!; exit 3' TERM; " + FAMILY);
    String[] pids = program.awaitLine().strip().split(" ", -1);
    program.terminate();
    assertEquals(143, program.status(), program.err());
    assertEquals("tidy\n", Files.readString(file), "it had time to tidy up");
    assertFalse(isHeld("signal"), "it is released at once");
    awaitEnd(pids);
  }

  @Test
  void commandIsAskedOnceAndThenEnded() throws Exception {
    RunningProgram program =
        lock(
            "--ttl=4s",
            "--grace=1s",
            "deaf",
            "--",
            "sh",
            "-c",
            "trap 'echo asked' TERM; echo up; while :; do sleep 0.02; done");
    program.awaitLine();
    program.terminate();
    assertEquals(143, program.status(), program.err());
    assertEquals("up\nasked\n", program.out());
    assertFalse(isHeld("deaf"));
  }

  @Test
  void signalEndsAWait() throws Exception {
    try (HeldLock held = client().acquire("busy")) {
      RunningProgram program = lock("busy", "--", "echo", "ran");
      await()
          .atMost(ClusterProcesses.DEADLINE)
          .until(
              () ->
                  query("SELECT COUNT(*) FROM TOLLGATE.LOCK_WAITERS WHERE LOCK_NAME = 'busy'")
                      .equals("1"));
      program.terminate();
      assertEquals(143, program.status(), program.err());
      assertEquals("", program.out());
      assertEquals(
          "0", query("SELECT COUNT(*) FROM TOLLGATE.LOCK_WAITERS WHERE LOCK_NAME = 'busy'"));
      assertTrue(held.isHeld());
    }
  }

  /** Nothing in the program can run then: a shell beside it ends the command. */
  @Test
  void programThatIsKilledLeavesNoCommandBehind() throws Exception {
    RunningProgram program = lock("--ttl=2s", "killed", "--", "sh", "-c", FAMILY);
    String[] pids = program.awaitLine().strip().split(" ", -1);
    assertTrue(isAlive(pids[0]) && isAlive(pids[1]));
    program.kill();
    awaitEnd(pids);
    await().atMost(Duration.ofSeconds(20)).until(() -> !isHeld("killed"));
  }

  @Test
  void processesThatTheCommandLeavesBehindAreEnded() throws Exception {
    RunningProgram program = lock("behind", "--", "sh", "-c", "setsid sleep 60 & echo $!");
    assertEquals(0, program.status(), program.err());
    awaitEnd(program.out().strip());
    assertTrue(program.err().contains("left behind"), program.err());
  }

  @Test
  void lockThatAnOperatorTakesAwayEndsTheCommand() throws Exception {
    RunningProgram program =
        lock("--ttl=3s", "forced", "--", "sh", "-c", "trap '' TERM; " + FAMILY);
    String[] pids = program.awaitLine().strip().split(" ", -1);
    assertEquals("TRUE", query("SELECT force_release_lock('forced')"));
    assertEquals(124, program.status(), program.err());
    assertTrue(program.err().contains("is lost, and its command is ended"), program.err());
    awaitEnd(pids);
  }

  /**
   * The cut-off holder cannot know who has the lock next. So its command has to be dead before the
   * cluster can grant it.
   */
  @Test
  void commandThatIsCutOffFromTheClusterIsDeadBeforeTheNextHolderHasTheLock() throws Exception {
    Path beats = directory.resolve("beats");
    try (Relay relay = new Relay(cluster.clientPort(cluster.node("n1")), port);
        RunningProgram program =
            new RunningProgram(
                directory,
                "lock",
                "--url=" + cluster.url(""),
                "--ttl=4s",
                "cut",
                "--",
                "sh",
                "-c",
                "trap 'echo asked' TERM; echo up; while :; do date +%s.%N >> "
                    + beats
                    + "; sleep 0.02; done")) {
      program.awaitLine();
      relay.cut();
      Optional<HeldLock> next =
          client().tryAcquire("cut", LockOptions.DEFAULT.waitFor(Duration.ofSeconds(30)));
      Instant granted = Instant.now();
      assertTrue(next.isPresent());
      List<String> lines = Files.readAllLines(beats);
      Instant last = instant(lines.get(lines.size() - 1));
      assertTrue(last.isBefore(granted), () -> last + " before " + granted);
      assertEquals(124, program.status(), program.err());
      assertTrue(program.out().contains("asked"), "SIGTERM came first: " + program.out());
      assertEquals(lines.size(), Files.readAllLines(beats).size(), "not a beat after the grant");
    }
  }

  private static Instant instant(String seconds) {
    String[] parts = seconds.split("\\.", -1);
    return Instant.ofEpochSecond(Long.parseLong(parts[0]), Long.parseLong(parts[1]));
  }
}
