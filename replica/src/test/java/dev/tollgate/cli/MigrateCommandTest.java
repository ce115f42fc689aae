package dev.tollgate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.cluster.Ports;
import dev.tollgate.migrations.MigrationException;
import dev.tollgate.migrations.Queries;
import dev.tollgate.migrations.ScriptFiles;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.Command;

/** Each kind of failure has a message and an exit status of its own. */
class MigrateCommandTest {
  private final String url = "jdbc:tollgate:mem:" + UUID.randomUUID();
  @TempDir private Path folder;
  private Connection other;
  private Queries queries;
  private ScriptFiles files;

  private record Ended(int status, String err) {}

  @BeforeEach
  void startNode() throws SQLException {
    other = DriverManager.getConnection(url);
    queries = new Queries(other);
    files = new ScriptFiles(folder);
  }

  @AfterEach
  void stopNode() throws SQLException {
    other.close();
  }

  private Ended migrate(String... arguments) {
    List<String> all = new ArrayList<>(List.of("migrate", "-u", url, "--dir", folder.toString()));
    all.addAll(List.of(arguments));
    return run(all.toArray(String[]::new));
  }

  private static Ended run(String... arguments) {
    StringWriter err = new StringWriter();
    int status = Main.commandLine().setErr(new PrintWriter(err, true)).execute(arguments);
    return new Ended(status, err.toString());
  }

  private void assertNothingRan() throws SQLException {
    assertEquals(
        "0",
        queries.ask(
            "SELECT COUNT(*) FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = 'PUBLIC'"));
  }

  private static void assertEnded(int status, String message, Ended ended) {
    assertTrue(ended.err().startsWith("tollgate migrate: " + message), ended.err());
    assertEquals(status, ended.status());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "V1__a.sql     | CREATE TABLE x(id INT) | version 1 is there twice: V01__b.sql and"
            + " V1__a.sql",
        "V2__a.sql     | -- nothing             | V2__a.sql: has no statement",
        "V2__a.sql     | INSERT INTO t VALUES('|V2__a.sql:1: the string that begins here does not"
            + " end",
        "V2__a.sql     | SELECT '${town}', ${x} | V2__a.sql:1: no value for ${town}, ${x}",
        "V2__a.sql     | COMMIT                 | V2__a.sql:1: the runner begins and ends"
            + " transactions",
        "V2__a.sql     | -- tollgate: sure      | V2__a.sql: '-- tollgate: sure' is none of",
        "V2_a.sql      | SELECT 1               | V2_a.sql: the name is none of",
        "Vx__a.sql     | SELECT 1               | Vx__a.sql: the name is none of",
      })
  void wrongScriptIsNamedBeforeAnythingRuns(String name, String sql, String message)
      throws Exception {
    files.write("V01__b.sql", "CREATE TABLE b(id INT);");
    files.write(name, sql);
    assertEnded(3, message, migrate());
    assertNothingRan();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "jdbc:tollgate:mem:settings?lease=soon",
        "jdbc:tollgate:mem:settings?lease=48h",
        "jdbc:tollgate:mem:settings?nothing=1",
        "jdbc:tollgate:nowhere",
        "jdbc:tollgate://127.0.0.1:99999/"
      })
  void settingThatTheDriverRefusesIsNoFailureOfADatabase(String wrong) throws Exception {
    files.write("V1__a.sql", "CREATE TABLE a(id INT);");
    Ended ended = run("migrate", "-u", wrong, "--dir", folder.toString());
    assertTrue(ended.status() == 2 || ended.status() == 3, () -> wrong + ": " + ended);
  }

  @Test
  void wrongFolderEncodingVersionOrTableIsNamedBeforeAnythingRuns() throws Exception {
    Path nowhere = folder.resolve("nowhere");
    assertEnded(
        3, nowhere + " is not there", run("migrate", "-u", url, "--dir", nowhere.toString()));
    files.write("V1__a.sql", "CREATE TABLE a(id INT);");
    assertEnded(3, "'x' is no version", migrate("--target", "x"));
    assertEnded(3, "'a b' is no name of a table", migrate("--table", "a b"));
    assertEnded(3, "the lock is kept by Tollgate", migrate("--lock-url", "jdbc:h2:mem:x"));
    byte[] latin = "-- one\nINSERT INTO a VALUES('\u00e9');".getBytes(StandardCharsets.ISO_8859_1);
    Files.write(folder.resolve("V2__b.sql"), latin);
    assertEnded(3, "V2__b.sql:2: byte 29 is not UTF-8", migrate());
    assertNothingRan();
  }

  @Test
  void urlThatNoDriverTakesIsNamed() throws Exception {
    files.write("V1__a.sql", "CREATE TABLE a(id INT);");
    assertEnded(
        3,
        "no JDBC driver takes the URL jdbc:nobody:x: ",
        run("migrate", "-u", "jdbc:nobody:x", "--lock-url", url, "--dir", folder.toString()));
  }

  @Test
  void misuseIsToldFromWrongScripts() {
    Ended duration = migrate("--lock-wait", "soon");
    assertEquals(2, duration.status());
    assertTrue(duration.err().contains("--lock-wait=soon is no duration"), duration.err());
    for (String[] wrong :
        new String[][] {{"--lease", "0s"}, {"--lock-wait", "2h"}, {"--lock", ""}}) {
      Ended ended = migrate(wrong);
      assertEquals(2, ended.status(), ended.err());
      assertTrue(ended.err().contains(wrong[0]), ended.err());
    }
    Ended statement = migrate("repair", "--last-statement", "perhaps");
    assertEquals(2, statement.status());
    assertTrue(statement.err().contains("write done or undone"), statement.err());
    Ended jar = migrate("--classpath", folder.resolve("no.jar").toString());
    assertEquals(2, jar.status());
    assertTrue(jar.err().contains("no.jar is not there"), jar.err());
  }

  @Test
  void placeholdersHaveValues() throws Exception {
    files.write("V1__a.sql", "CREATE TABLE ${name}(id INT);\nINSERT INTO ${name} VALUES (${id});");
    assertEquals(0, migrate("--placeholder", "name=a", "--placeholder", "id=7").status());
    assertEquals("7", queries.ask("SELECT id FROM a"));
  }

  @Test
  void dryRunRunsNothing() throws Exception {
    files.write("V1__a.sql", "CREATE TABLE a(id INT);");
    assertEquals(0, migrate("--dry-run").status());
    assertEquals(0, migrate("info").status());
    assertNothingRan();
  }

  @Test
  void changedScriptFailedStatementAndRepair() throws Exception {
    files.write("V1__a.sql", "CREATE TABLE a(id INT);");
    assertEquals(0, migrate().status());
    files.write("V1__a.sql", "CREATE TABLE b(id INT);");
    files.write("V2__b.sql", "INSERT INTO a\nVALUES ('x');");
    assertEnded(4, "V1__a.sql has changed", migrate());
    assertEnded(4, "V1__a.sql has changed", migrate("validate"));
    assertEquals(0, migrate("repair").status());
    assertEnded(5, "V2__b.sql:1: statement 1 of 1 failed: SQLSTATE 22018: ", migrate());
    assertEquals("2", queries.ask("SELECT COUNT(*) FROM tollgate_schema_history"));
    assertEquals(0, migrate("repair").status());
    assertEquals("1", queries.ask("SELECT COUNT(*) FROM tollgate_schema_history"));
  }

  @Test
  void busyLockIsNamed() throws Exception {
    files.write("V1__a.sql", "CREATE TABLE a(id INT);");
    queries.ask("SELECT acquire_lock('deploy')");
    assertEnded(
        6, "lock 'deploy' was not free", migrate("--lock", "deploy", "--lock-wait", "100ms"));
    assertNothingRan();
  }

  /** A script may call lock functions, and so it can take the runner's own lock away. */
  @Test
  void lostLockIsNamed() throws Exception {
    files.write(
        "V1__a.sql",
        """
        CREATE TABLE a(id INT);
        SELECT force_release_lock('migrations:PUBLIC.tollgate_schema_history');
        INSERT INTO a VALUES (1);
        """);
    assertEnded(
        7,
        "V1__a.sql:3: statement 3 of 3 was refused: lock"
            + " 'migrations:PUBLIC.tollgate_schema_history' is no longer held under token",
        migrate());
    assertEquals("0", queries.ask("SELECT COUNT(*) FROM a"));
  }

  @Test
  void clusterThatIsNotThereIsNamed() throws Exception {
    files.write("V1__a.sql", "CREATE TABLE a(id INT);");
    String nowhere = "jdbc:tollgate://127.0.0.1:" + Ports.free() + "/?failoverTimeout=300ms";
    assertEnded(
        8,
        "no connection to the database: SQLSTATE 08001",
        run("migrate", "-u", nowhere, "--dir", folder.toString()));
  }

  @Test
  void pageAndHelpNameTheSameExitStatuses() throws Exception {
    String page = Files.readString(Path.of("..", "docs", "migrations.md"));
    for (String status : MigrateCommand.class.getAnnotation(Command.class).exitCodeList()) {
      String row = "| " + status.replaceFirst(":", " | ") + " |\n";
      assertTrue(page.contains(row), row);
    }
    for (MigrationException.Reason reason : MigrationException.Reason.values()) {
      String row = "| " + MigrateCommand.status(reason) + " | ";
      assertTrue(page.contains(row), () -> reason + ": " + row);
    }
  }

  @Test
  void everyCommandHasHelp() {
    for (String command : List.of("info", "validate", "repair")) {
      assertEquals(0, run("migrate", command, "--help").status(), command);
    }
  }
}
