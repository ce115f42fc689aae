package dev.tollgate.cli;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.cluster.Ports;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/**
 * What README.md and docs/locks.md tell a reader to type, in their order and word for word, but for
 * the ports: three nodes, the SQL, the Java.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class ReadmeIT {
  private static final Duration DEADLINE = Duration.ofSeconds(90);

  @TempDir private static Path directory;
  private static JavaInPages programs;
  private static String readme;
  private static String locks;
  private static String url;
  private static Process nodes;

  private record Ended(int status, String out, String err) {}

  @BeforeAll
  static void startNodes() throws Exception {
    programs = new JavaInPages(directory);
    int base = freePorts();
    readme = page("README.md", base);
    locks = page("docs/locks.md", base);
    url = found("-u (jdbc:tollgate:\\S+)");
    Files.createSymbolicLink(directory.resolve("replica"), Path.of("").toAbsolutePath());
    nodes = start("nodes", found("(?s)\n( {4}peers=.*?done)\n") + "\nwait");
    await()
        .atMost(DEADLINE)
        .until(
            () ->
                Files.readString(out("nodes")).lines().filter(l -> l.contains("ready")).count()
                    == 3);
  }

  @AfterAll
  static void stopNodes() throws Exception {
    List<ProcessHandle> all = nodes.descendants().toList();
    nodes.destroy();
    all.forEach(ProcessHandle::destroy);
    for (ProcessHandle each : all) {
      each.onExit().get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
    }
  }

  private static String page(String name, int base) throws IOException {
    return Files.readString(Path.of("..", name))
        .replace("127.0.0.1:740", "127.0.0.1:" + base / 10)
        .replace("127.0.0.1:750", "127.0.0.1:" + (base / 10 + 1));
  }

  /**
   * A port that ends with 0 and has free ones behind it, 1 to 3 and 11 to 13. No other test takes
   * any of them.
   */
  private static int freePorts() throws IOException {
    for (int base = Ports.END; base < Ports.END + 700; base += 20) {
      if (areFree(base + 1, base + 2, base + 3, base + 11, base + 12, base + 13)) {
        return base;
      }
    }
    throw new IOException("no six ports from " + Ports.END + " are free");
  }

  private static boolean areFree(int... ports) throws IOException {
    for (int port : ports) {
      if (!Ports.isFree(port)) {
        return false;
      }
    }
    return true;
  }

  private static String found(String expression) {
    Matcher matcher = Pattern.compile(expression).matcher(readme);
    assertTrue(matcher.find(), expression);
    return matcher.group(1);
  }

  private static Path out(String name) {
    return directory.resolve(name + ".out");
  }

  private static Process start(String name, String script) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder("sh", "-c", script)
            .directory(directory.toFile())
            .redirectOutput(out(name).toFile())
            .redirectError(directory.resolve(name + ".err").toFile());
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().put("TOLLGATE_HEAP", "200m");
    return builder.start();
  }

  private static Ended shell(String input) throws Exception {
    Files.writeString(directory.resolve("input.sql"), input);
    Process process =
        start("shell", found("\n {4}(replica/bin/tollgate sql -u \\S+)\n") + " < input.sql");
    assertTrue(process.waitFor(DEADLINE.toSeconds(), TimeUnit.SECONDS), "it does not end");
    return new Ended(
        process.exitValue(),
        Files.readString(out("shell")),
        Files.readString(directory.resolve("shell.err")));
  }

  @Test
  @Order(1)
  void firstStatementsEndWithTheRefusalThatTheyShow() throws Exception {
    String first = JavaInPages.blocks(readme, "sql").get(0);
    String draw = "SELECT COUNT(try_acquire_lock('drawn-' || X)) FROM SYSTEM_RANGE(1, 41);\n";
    Ended ended = shell(draw + first);
    assertEquals(1, ended.status(), ended.err());
    assertTrue(ended.out().contains(" 42\n"), ended.out());
    String state = found("-- (SQLSTATE \\w+): ");
    String message = found("-- SQLSTATE \\w+: (.*)\n");
    assertTrue(ended.err().startsWith(state), ended.err());
    assertTrue(ended.err().contains(message), ended.err());
  }

  @Test
  @Order(2)
  void firstLockFromJava() throws Exception {
    String lines = JavaInPages.blocks(readme, "java").get(0);
    assertTrue(lines.lines().count() <= 12, lines);
    programs.compile(
        "FirstLock",
        "import dev.tollgate.lock.*;\n"
            + "import java.sql.*;\n"
            + "public class FirstLock {\n"
            + "  public static void main(String[] args) throws Exception {\n"
            + lines
            + "  }\n}\n");
    programs.run("FirstLock");
    assertEquals("75.25", one("SELECT total FROM report"));
    assertEquals("0", one("SELECT COUNT(*) FROM tollgate.locks WHERE lock_name = 'nightly'"));
  }

  @Test
  @Order(3)
  void firstLockFromSql() throws Exception {
    Ended ended = shell(JavaInPages.blocks(readme, "sql").get(1));
    assertEquals(0, ended.status(), ended.err());
    assertTrue(ended.out().contains("nightly"), ended.out());
    assertEquals("12.50", one("SELECT total FROM report"));
  }

  /** Also when another has the lock, it leaves no lease behind. */
  @Test
  @Order(4)
  void programWritesAndLeavesNothingBehind() throws Exception {
    String source =
        JavaInPages.blocks(locks, "java")
            .get(0)
            .replace("12.50", "99.75")
            .replace("ofSeconds(10)", "ofSeconds(1)");
    programs.compile("NightlyReport", source);
    programs.run("NightlyReport");
    assertEquals("99.75", one("SELECT total FROM report"));
    assertEquals("0", one("SELECT COUNT(*) FROM tollgate.leases WHERE owner LIKE 'billing%'"));
    try (Connection other = DriverManager.getConnection(url);
        Statement statement = other.createStatement()) {
      statement.execute("SELECT acquire_lock('nightly')");
      statement.execute("UPDATE report SET total = 1");
      programs.run("NightlyReport");
      assertEquals("1.00", one("SELECT total FROM report"));
      assertEquals("0", one("SELECT COUNT(*) FROM tollgate.leases WHERE owner LIKE 'billing%'"));
    }
  }

  @Test
  @Order(5)
  void leaderWritesUntilItResigns() throws Exception {
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE invoice(id INT PRIMARY KEY, sent BOOLEAN)");
      statement.execute("INSERT INTO invoice VALUES (1, FALSE)");
    }
    programs.compile("Billing", JavaInPages.program(locks, "Billing"));
    programs.run("Billing");
    assertEquals("TRUE", one("SELECT sent FROM invoice"));
    assertEquals("0", one("SELECT COUNT(*) FROM tollgate.locks"));
  }

  @Test
  @Order(6)
  void otherDatabaseHasAFence() throws Exception {
    programs.compile("OtherDatabase", JavaInPages.program(locks, "OtherDatabase"));
    programs.run("OtherDatabase");
  }

  @Test
  @Order(7)
  void lockIsGrantedToAFuture() throws Exception {
    programs.compile("Callback", JavaInPages.program(locks, "Callback"));
    programs.run("Callback");
  }

  @Test
  @Order(7)
  void fixedTermIsExtended() throws Exception {
    programs.compile("Import", JavaInPages.program(locks, "Import"));
    programs.run("Import");
  }

  /** What an operator finds in the log of a cluster that is well. */
  @Test
  @Order(8)
  void logSaysWhatWasDoneAndHasNoErrors() throws Exception {
    Path log = directory.resolve("nodes.err");
    for (String id : List.of("n1", "n2", "n3")) {
      String start = id + ": Tollgate \\S+ starts: process \\d+, Java 1?[0-9].*data in .*/" + id;
      assertTrue(Pattern.compile(start).matcher(Files.readString(log)).find(), start);
      String cluster =
          id + ": belongs to cluster " + one("SELECT MAX(CLUSTER_ID) FROM TOLLGATE.NODES");
      assertTrue(Files.readString(log).contains(cluster), cluster);
    }
    try (Connection other = DriverManager.getConnection(url);
        Statement statement = other.createStatement()) {
      statement.execute("SELECT acquire_lock('taken')");
      String lease = one("SELECT LEASE_ID FROM TOLLGATE.LOCKS WHERE LOCK_NAME = 'taken'");
      statement.execute("SELECT force_release_lock('taken')");
      String silent = one("SELECT create_lease(INTERVAL '1' SECOND)");
      await()
          .atMost(DEADLINE)
          .until(
              () -> {
                String text = Files.readString(log);
                return text.contains("took lock 'taken' from lease " + lease + " with token ")
                    && text.contains("not renewed in time: leases " + silent + "; sessions none");
              });
    }
    List<String> errors =
        Files.readAllLines(log).stream()
            .filter(line -> line.contains(" ERROR ") || line.startsWith("\tat "))
            .toList();
    assertEquals(List.of(), errors);
  }

  private static String one(String sql) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getString(1);
    }
  }
}
