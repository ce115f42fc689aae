package dev.tollgate.cli;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.cluster.Ports;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The program as it is started by hand: bin/tollgate and a server of one node. */
class CommandLineIT {
  private static final Duration DEADLINE = Duration.ofSeconds(60);
  private static final String PROGRAM = Path.of("bin", "tollgate").toAbsolutePath().toString();

  @TempDir private static Path directory;
  private static Process server;
  private static String url;

  private record Ended(int status, String out, String err) {}

  /** Every option comes from the environment. */
  @BeforeAll
  static void startServer() throws Exception {
    int port = Ports.free();
    url = "jdbc:tollgate://127.0.0.1:" + port + "/";
    server =
        start(
            "server",
            List.of("server"),
            Map.of(
                "TOLLGATE_ID",
                "solo",
                "TOLLGATE_DATA",
                directory.resolve("data").toString(),
                "TOLLGATE_CLIENT_ADDRESS",
                "127.0.0.1:" + port,
                "TOLLGATE_INSECURE",
                "true",
                "TOLLGATE_CLIENT_LISTEN",
                "0.0.0.0:" + port,
                "TOLLGATE_HEAP",
                "200m"));
    await()
        .atMost(DEADLINE)
        .until(() -> Files.readString(out("server")).contains("tollgate solo ready"));
  }

  @AfterAll
  static void stopServer() {
    server.destroyForcibly();
  }

  private static Path out(String name) {
    return directory.resolve(name + ".out");
  }

  private static Path err(String name) {
    return directory.resolve(name + ".err");
  }

  private static Process start(String name, List<String> arguments, Map<String, String> environment)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(PROGRAM);
    command.addAll(arguments);
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectOutput(out(name).toFile())
            .redirectError(err(name).toFile());
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().putAll(environment);
    return builder.start();
  }

  private static Ended run(String input, String... arguments) throws Exception {
    File in = Files.writeString(directory.resolve("in"), input).toFile();
    String name = "run";
    List<String> command = new ArrayList<>(List.of(PROGRAM));
    command.addAll(List.of(arguments));
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectInput(in)
            .redirectOutput(out(name).toFile())
            .redirectError(err(name).toFile());
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    Process process = builder.start();
    assertTrue(process.waitFor(DEADLINE.toSeconds(), TimeUnit.SECONDS), "it does not end");
    return new Ended(process.exitValue(), Files.readString(out(name)), Files.readString(err(name)));
  }

  /** A name of a stranger must not move the cursor, set the title or begin a line. */
  @Test
  void noCommandPrintsAControlCharacterThatItWasGiven() throws Exception {
    String orders = "\u001b[31m\u001b]0;x\u0007\r\b\u009b2J";
    String[][] commands = {
      {
        "sql",
        "--url",
        url,
        "-e",
        "SELECT LOCK_NAME, OWNER FROM TOLLGATE.LOCKS; SELECT '" + orders + "'"
      },
      {"sql", "--url", url, "-e", "SELECT 1 FROM \"" + orders + "\""},
      {"status", "--url", url},
      {"top", "--url", url, "--once"},
      {"lock", "--url", url, orders, "true"},
      {"verify", orders},
      {orders},
    };
    try (Connection holder = DriverManager.getConnection(url);
        PreparedStatement acquire = holder.prepareStatement("SELECT acquire_lock(?)")) {
      for (String name : List.of(orders, orders + "\njob")) {
        acquire.setString(1, name);
        acquire.execute();
      }
      for (String[] command : commands) {
        Ended ended = run("", command);
        String printed = ended.out() + ended.err();
        assertTrue(printed.contains("?[31m"), printed);
        assertFalse(
            printed.chars().anyMatch(c -> c != '\n' && c != '\t' && Character.isISOControl(c)),
            String.join(" ", command) + printed.replace("\u001b", "ESC"));
        assertFalse(printed.lines().anyMatch(line -> line.startsWith("job")), printed);
      }
    }
  }

  @Test
  void readinessIsOneLineAndNothingElseIsOnStandardOutput() throws IOException {
    List<String> lines = Files.readAllLines(out("server"));
    assertEquals(1, lines.size(), lines.toString());
    assertTrue(lines.get(0).endsWith("leader solo"), lines.get(0));
  }

  @Test
  void programRunsThroughSymbolicLinks() throws Exception {
    Path link = Files.createSymbolicLink(directory.resolve("link"), Path.of(PROGRAM));
    Path second = Files.createSymbolicLink(directory.resolve("second"), link.getFileName());
    Process process =
        new ProcessBuilder(second.toString(), "--version")
            .redirectOutput(out("version").toFile())
            .redirectError(err("version").toFile())
            .start();
    assertTrue(process.waitFor(DEADLINE.toSeconds(), TimeUnit.SECONDS), "it does not end");
    String version = Files.readString(out("version"));
    assertTrue(
        version.matches(
            "(?s)Tollgate [0-9].*\\nProtocol [0-9]+, log 2, snapshots 1, feature level 1\\nJava [0-9].*"),
        version);
  }

  @Test
  void listeningForOtherHostsIsWarnedAbout() throws IOException {
    String log = Files.readString(err("server"));
    assertTrue(log.contains("WARN") && log.contains("without TLS"), log);
  }

  @Test
  void statementsRunInOrderAndRowsArePrinted() throws Exception {
    Ended ended =
        run(
            "",
            "sql",
            "-u",
            url,
            "-e",
            "CREATE TABLE A(ID INT, NAME VARCHAR(20)); INSERT INTO A VALUES(1, 'x;y'), (2, NULL);"
                + " SELECT * FROM A ORDER BY ID");
    assertEquals(0, ended.status(), ended.err());
    assertTrue(ended.out().contains("2 rows changed"), ended.out());
    assertTrue(ended.out().contains("x;y"), ended.out());
    assertEquals("", ended.err());
  }

  @Test
  void sqlErrorNamesItsStateAndEndsWithOne() throws Exception {
    Ended ended = run("", "sql", "-u", url, "-e", "SELECT 1; SELECT sleep(1); SELECT 2");
    assertEquals(1, ended.status());
    assertTrue(ended.err().startsWith("SQLSTATE 42T01"), ended.err());
    assertTrue(ended.err().contains("line 1"), ended.err());
    assertEquals(1, ended.out().lines().filter(line -> line.endsWith("1 row")).count());
  }

  @Test
  void nodeThatIsNotThereIsAnErrorToo() throws Exception {
    Ended ended =
        run(
            "",
            "sql",
            "-u",
            "jdbc:tollgate://127.0.0.1:" + Ports.free() + "/?failoverTimeout=300ms",
            "-e",
            "SELECT 1");
    assertEquals(1, ended.status());
    assertTrue(ended.err().startsWith("SQLSTATE 08001"), ended.err());
  }

  @Test
  void statementsAreReadFromStandardInput() throws Exception {
    Ended ended =
        run("SELECT 6 * 7\n AS ANSWER; -- done;\nSELECT acquire_lock('in');\n", "sql", "-u", url);
    assertEquals(0, ended.status(), ended.err());
    assertTrue(ended.out().contains("ANSWER") && ended.out().contains("42"), ended.out());
    assertTrue(ended.out().contains("ACQUIRE_LOCK('in')"), ended.out());
  }

  @Test
  void statusPrintsNodesLeasesAndLocks() throws Exception {
    Ended locked =
        run(
            "",
            "sql",
            "-u",
            url,
            "-e",
            "SELECT create_lease(INTERVAL '1' HOUR, 'the owner');"
                + " SELECT acquire_lock('seen', (SELECT MAX(LEASE_ID) FROM TOLLGATE.LEASES))");
    assertEquals(0, locked.status(), locked.err());
    Ended ended = run("", "status", "-u", url);
    assertEquals(0, ended.status(), ended.err());
    for (String expected : List.of("solo", "LEADER", "TERM", "seen", "the owner", "3600000")) {
      assertTrue(ended.out().contains(expected), expected + " in " + ended.out());
    }
  }

  /** Its cluster need not run, and as a rule does not. */
  @Test
  void statusOfAStoppedNodeSaysWhatItSkips() throws Exception {
    Path data = directory.resolve("skipping");
    inApplication(data, CommandLineIT::fill);
    Ended skip = run("", "skip", "--data=" + data, "--index=100000", "--ordinal=2");
    assertEquals(0, skip.status(), skip.err());
    Ended status = run("", "status", "--data=" + data);
    assertEquals(0, status.status(), status.err());
    assertEquals(
        "Commands of the log that the node in "
            + data
            + " leaves out\n  entry 100000 command 2\n\n",
        status.out());
    Ended neither = run("", "status");
    assertEquals(2, neither.status());
    assertTrue(neither.err().contains("--url, or which node with --data"), neither.err());
  }

  /** It has no quorum, and says all the same what it knows. */
  @Test
  void statusOfANodeThatIsLeftAloneNamesWhatIsMissing() throws Exception {
    int port = Ports.free();
    Process alone =
        start(
            "alone",
            List.of(
                "server",
                "--id=n1",
                "--data=" + directory.resolve("alone"),
                "--client-address=127.0.0.1:" + port,
                "--peers=n1=127.0.0.1:" + Ports.free() + ",n2=127.0.0.1:1,n3=127.0.0.1:2"),
            Map.of("TOLLGATE_HEAP", "200m"));
    try {
      String[] status = {"status", "-u", "jdbc:tollgate://127.0.0.1:" + port + "/"};
      Ended ended =
          await()
              .atMost(DEADLINE)
              // a node that is still starting knows of no other one
              .until(() -> run("", status), answered -> answered.out().contains("n3 "));
      assertEquals(1, ended.status());
      assertTrue(
          ended
              .err()
              .contains("1 of 3 nodes answer, and 2 have to reach each other to elect a leader"),
          ended.err());
    } finally {
      alone.destroyForcibly();
    }
  }

  @Test
  void nodesAreListedAndWhatCannotBeDoneSaysWhy() throws Exception {
    Ended list = run("", "nodes", "-u", url);
    assertEquals(0, list.status(), list.err());
    assertTrue(list.out().contains("solo") && list.out().contains("LEADER"), list.out());
    Ended add = run("", "nodes", "add", "-u", url, "n2", "127.0.0.1:1", "127.0.0.1:2");
    assertEquals(1, add.status());
    assertTrue(add.err().startsWith("SQLSTATE 55T04"), add.err());
    assertTrue(add.err().contains("was started without --raft-address"), add.err());
    Ended remove = run("", "nodes", "remove", "-u", url);
    assertEquals(2, remove.status());
    assertTrue(remove.err().contains("NODE"), remove.err());
  }

  @Test
  void backupIsRestoredIntoADirectoryOnce() throws Exception {
    String file = directory.resolve("backup").toString();
    String data = directory.resolve("restored").toString();
    Ended backup = run("", "backup", "-u", url, file);
    assertEquals(0, backup.status(), backup.err());
    assertTrue(backup.out().startsWith(file + ": node solo at log index "), backup.out());
    Ended restore = run("", "restore", file, "--data", data, "--epoch", "7");
    assertEquals(0, restore.status(), restore.err());
    assertTrue(restore.out().contains("epoch 7"), restore.out());
    Ended again = run("", "restore", file, "--data", data);
    assertEquals(1, again.status());
    assertEquals("tollgate: nothing was restored: " + data + " is not empty\n", again.err());
  }

  @Test
  void reseedOfANodeThatRunsIsRefusedInASentence() throws Exception {
    Ended refused =
        run("", "reseed", "--id=solo", "--data=" + directory.resolve("data"), "--from=" + url);
    assertEquals(1, refused.status());
    assertTrue(refused.err().startsWith("tollgate: solo is as it was: "), refused.err());
    assertTrue(refused.err().contains("perhaps because the node runs: stop it"), refused.err());
    assertEquals(1, refused.err().lines().count(), refused.err());
  }

  @Test
  void fileThatIsNoBackupIsRefused() throws Exception {
    Path file = Files.writeString(directory.resolve("no backup"), "something else");
    Ended refused =
        run("", "restore", file.toString(), "--data", directory.resolve("none").toString());
    assertEquals(1, refused.status());
    assertEquals(
        "tollgate: nothing was restored: this is no snapshot of Tollgate\n", refused.err());
    assertFalse(Files.exists(directory.resolve("none")));
  }

  @Test
  void dumpGoesToStandardOutputOrIntoAFile() throws Exception {
    Ended made =
        run(
            "",
            "sql",
            "-u",
            url,
            "-e",
            "CREATE TABLE DUMPED(ID INT PRIMARY KEY, V VARCHAR); INSERT INTO DUMPED VALUES(1, 'a;b')");
    assertEquals(0, made.status(), made.err());
    Ended dump = run("", "dump", "-u", url);
    assertEquals(0, dump.status(), dump.err());
    assertTrue(
        dump.out()
            .contains("INSERT INTO \"PUBLIC\".\"DUMPED\"(\"ID\", \"V\") VALUES\n(1, 'a;b');\n"),
        dump.out());
    Path file = directory.resolve("dump.sql");
    assertEquals(0, run("", "dump", "-u", url, file.toString()).status());
    assertEquals(dump.out(), Files.readString(file));
    Ended occupied = run("", "dump", "-u", url, file.toString());
    assertEquals(1, occupied.status());
    assertTrue(occupied.err().contains("--overwrite"), occupied.err());
    Ended loaded =
        run(
            dump.out() + "SELECT V AS LOADED FROM DUMPED;",
            "sql",
            "-u",
            "jdbc:tollgate:embedded:" + directory.resolve("loaded"));
    assertEquals(0, loaded.status(), loaded.err());
    assertTrue(loaded.out().contains("LOADED") && loaded.out().contains("a;b"), loaded.out());
  }

  @Test
  void directoryOfAnApplicationIsOpenedByTheServerAndBack() throws Exception {
    Path data = directory.resolve("of-application");
    List<String> made = inApplication(data, CommandLineIT::fill);
    Ended refused = run("", "server", "--id=n1", "--data=" + data);
    assertEquals(78, refused.status(), refused.err());
    assertTrue(
        refused.err().contains("of node embedded, not of node n1: start it with --id embedded"),
        refused.err());
    assertEquals(made, inServer("embedded", data, CommandLineIT::contents));
    assertEquals(made, inApplication(data, CommandLineIT::contents));
    inApplication(data, CommandLineIT::writeUnderTheOldLock);
  }

  @Test
  void directoryOfAServerIsOpenedByAnApplicationAndBack() throws Exception {
    Path data = directory.resolve("of-server");
    List<String> made = inServer("n1", data, CommandLineIT::fill);
    assertEquals(made, inApplication(data, CommandLineIT::contents));
    inApplication(data, CommandLineIT::writeUnderTheOldLock);
    inServer("n1", data, CommandLineIT::writeUnderTheOldLock);
  }

  /** What is done with a database. */
  private interface Work<T> {
    T with(Connection connection) throws SQLException;
  }

  private static <T> T inApplication(Path data, Work<T> work) throws SQLException {
    try (Connection connection = DriverManager.getConnection("jdbc:tollgate:embedded:" + data)) {
      return work.with(connection);
    }
  }

  private static <T> T inServer(String id, Path data, Work<T> work) throws Exception {
    int port = Ports.free();
    Process process =
        start(
            "visited",
            List.of("server", "--id=" + id, "--data=" + data, "--client-address=127.0.0.1:" + port),
            Map.of("TOLLGATE_HEAP", "200m"));
    try {
      await()
          .atMost(DEADLINE)
          .until(() -> Files.readString(out("visited")).contains("tollgate " + id + " ready"));
      try (Connection connection =
          DriverManager.getConnection("jdbc:tollgate://127.0.0.1:" + port + "/")) {
        return work.with(connection);
      }
    } finally {
      process.destroy();
      assertTrue(process.waitFor(DEADLINE.toSeconds(), TimeUnit.SECONDS), "it does not end");
    }
  }

  private static List<String> fill(Connection connection) throws SQLException {
    for (String sql :
        List.of(
            "CREATE TABLE KEPT(ID INT PRIMARY KEY) FENCED BY LOCK 'kept'",
            "SELECT create_lease(INTERVAL '1' HOUR, 'the owner')",
            "SELECT acquire_lock('kept', (SELECT MAX(LEASE_ID) FROM TOLLGATE.LEASES))",
            "INSERT INTO KEPT VALUES(1) FENCED BY LOCK 'kept' TOKEN 1")) {
      ask(connection, sql);
    }
    return contents(connection);
  }

  /** The names of cluster and node, the lock with its token, the fence, the rows. */
  private static List<String> contents(Connection connection) throws SQLException {
    return List.of(
        ask(connection, "SELECT CLUSTER_ID, NODE_ID FROM TOLLGATE.NODES"),
        ask(connection, "SELECT LOCK_NAME, TOKEN, LEASE_ID, OWNER FROM TOLLGATE.LOCKS"),
        ask(connection, "SELECT TABLE_NAME, LOCK_NAME, HIGHEST_TOKEN FROM TOLLGATE.FENCES"),
        ask(connection, "SELECT ID FROM KEPT"));
  }

  /** The token of the lock is right, another one is not, and the next one is higher. */
  private static long writeUnderTheOldLock(Connection connection) throws SQLException {
    ask(connection, "UPDATE KEPT SET ID = ID + 1 FENCED BY LOCK 'kept' TOKEN 1");
    SQLException stale =
        assertThrows(
            SQLException.class,
            () -> ask(connection, "DELETE FROM KEPT FENCED BY LOCK 'kept' TOKEN 7"));
    assertEquals("23T01", stale.getSQLState());
    long next = Long.parseLong(ask(connection, "SELECT acquire_lock('next')").strip());
    assertTrue(next > 1, "token " + next);
    return next;
  }

  private static String ask(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      StringBuilder text = new StringBuilder();
      if (statement.execute(sql)) {
        ResultSet rows = statement.getResultSet();
        while (rows.next()) {
          for (int i = 1; i <= rows.getMetaData().getColumnCount(); i++) {
            text.append(rows.getString(i)).append(' ');
          }
        }
      }
      return text.toString();
    }
  }

  @Test
  void optionThatMakesNoSenseEndsWithTwoAndAnExplanation() throws Exception {
    Ended unknown = run("", "server", "--id=n1", "--data=x", "--bogus");
    assertEquals(2, unknown.status());
    assertTrue(unknown.err().contains("--bogus"), unknown.err());
    Ended wrong =
        run(
            "",
            "server",
            "--id=n1",
            "--data=" + directory.resolve("x"),
            "--peers=n2=127.0.0.1:1,n3=127.0.0.1:2");
    assertEquals(2, wrong.status());
    assertTrue(wrong.err().contains("--peers does not name this node"), wrong.err());
  }

  @Test
  void heapThatIsTooSmallIsRefusedBeforeAnythingIsWritten() throws Exception {
    Path data = directory.resolve("small-data");
    Process small =
        start(
            "small",
            List.of("server", "--id=n1", "--data=" + data),
            Map.of("TOLLGATE_HEAP", "50m"));
    try {
      assertTrue(small.waitFor(DEADLINE.toSeconds(), TimeUnit.SECONDS), "it does not end");
    } finally {
      small.destroyForcibly();
    }
    String said = Files.readString(err("small"));
    assertEquals(2, small.exitValue(), said);
    assertTrue(
        said.contains("MiB is too small for a node: set TOLLGATE_HEAP, to 1g for example"), said);
    assertTrue(Files.notExists(data), "nothing has begun");
  }
}
