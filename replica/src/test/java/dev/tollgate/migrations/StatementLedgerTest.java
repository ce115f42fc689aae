package dev.tollgate.migrations;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.zip.CRC32;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A tool that writes its own history at the end of a unit, and the ledger of its statements. */
class StatementLedgerTest {
  private static final String LEDGER = "tool_progress";
  private static final List<String> STATEMENTS =
      List.of(
          "SET SCHEMA %s",
          "INSERT INTO counter VALUES (0)",
          "CREATE TABLE entry(id INT GENERATED ALWAYS AS IDENTITY, what VARCHAR(20))",
          "INSERT INTO entry(what) VALUES ('a'), ('b')",
          "UPDATE counter SET n = n + 1",
          "ALTER TABLE entry ADD CHECK (id > 0)",
          "ALTER TABLE entry ADD COLUMN more INT",
          "UPDATE counter SET n = n + 10",
          "INSERT INTO entry(what) VALUES ('c')");

  private final String url = "jdbc:tollgate:mem:" + UUID.randomUUID();
  private final List<String> sent = new ArrayList<>();
  private Connection other;
  private Queries queries;

  @BeforeEach
  void startNode() throws SQLException {
    other = DriverManager.getConnection(url);
    queries = new Queries(other);
  }

  @AfterEach
  void stopNode() throws SQLException {
    other.close();
  }

  private Database database() {
    return Database.at(url, Map.of(), getClass().getClassLoader());
  }

  private void newSchema(String schema) throws SQLException {
    queries.execute("CREATE SCHEMA " + schema);
    queries.execute("CREATE TABLE " + schema + ".counter(n INT)");
    queries.execute("CREATE TABLE " + schema + ".tool_history(unit VARCHAR(50) PRIMARY KEY)");
  }

  /** When the tool commits. */
  private enum Commits {
    AUTOCOMMIT,
    AFTER_EACH,
    AT_THE_END
  }

  /** What the tool does with one script. */
  private void runTool(Database database, String schema, Commits commits, List<String> statements)
      throws SQLException, MigrationException {
    Duration lease = Duration.ofSeconds(15);
    try (MigrationLock lock =
            MigrationLock.acquire(database, "tool:" + schema, lease, Duration.ofSeconds(20));
        Connection connection = database.connect(FencedSession.properties(lease))) {
      connection.setSchema(schema.toUpperCase(Locale.ROOT));
      FencedSession.fence(connection, lock);
      StatementLedger ledger = StatementLedger.of(connection, lock, LEDGER);
      ledger.prepare();
      if (!new Queries(connection)
          .ask("SELECT COUNT(*) FROM " + schema + ".tool_history")
          .equals("0")) {
        return;
      }
      connection.setAutoCommit(commits == Commits.AUTOCOMMIT);
      LedgerUnit unit = ledger.begin("V1");
      for (String sql : statements) {
        send(connection, unit, sql.formatted(schema));
        if (commits == Commits.AFTER_EACH) {
          connection.commit();
        }
      }
      connection.setAutoCommit(false);
      new Queries(connection).execute("INSERT INTO " + schema + ".tool_history VALUES ('V1')");
      unit.finish();
      connection.commit();
    }
  }

  private void send(Connection connection, LedgerUnit unit, String sql)
      throws SQLException, MigrationException {
    if (!unit.before(sql)) {
      return;
    }
    sent.add(sql);
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      unit.failed(e);
      throw e;
    }
    unit.after();
  }

  private List<String> state(String schema) throws SQLException {
    queries.execute("SET SCHEMA " + schema);
    return List.of(
        queries.ask("SELECT LISTAGG(what, ' ') WITHIN GROUP (ORDER BY what) FROM entry"),
        queries.ask("SELECT LISTAGG(n, ' ') FROM counter"),
        queries.ask(
            "SELECT LISTAGG(COLUMN_NAME, ' ') WITHIN GROUP (ORDER BY ORDINAL_POSITION) FROM"
                + " INFORMATION_SCHEMA.COLUMNS WHERE TABLE_SCHEMA = SCHEMA()"
                + " AND TABLE_NAME = 'ENTRY'"),
        queries.ask(
            "SELECT COUNT(*) FROM INFORMATION_SCHEMA.TABLE_CONSTRAINTS"
                + " WHERE TABLE_SCHEMA = SCHEMA()"),
        queries.ask("SELECT COUNT(*) FROM tool_history"),
        queries.ask("SELECT COUNT(*) FROM " + LEDGER));
  }

  /** It dies at each of its requests in turn, before the request or before the reply. */
  @ParameterizedTest
  @CsvSource({
    "AUTOCOMMIT, false",
    "AUTOCOMMIT, true",
    "AFTER_EACH, false",
    "AFTER_EACH, true",
    "AT_THE_END, false",
    "AT_THE_END, true"
  })
  void nextRunOfAToolAppliesTheRestOnce(Commits commits, boolean lastIsSent) throws Exception {
    newSchema("whole");
    runTool(database(), "whole", commits, STATEMENTS);
    List<String> expected = state("whole");
    assertEquals("11", expected.get(1));
    assertEquals("0", expected.get(5), "the ledger is empty");
    int deaths = 0;
    boolean died = true;
    for (int request = 1; died; request++) {
      String schema = "s" + request;
      newSchema(schema);
      int last = request;
      MortalDatabase mortal =
          new MortalDatabase(database(), "", (number, statement) -> number == last, lastIsSent);
      try {
        runTool(mortal, schema, commits, STATEMENTS);
        died = mortal.isDead();
      } catch (SQLException | MigrationException e) {
        assertTrue(mortal.isDead(), () -> "died of " + e);
      }
      runTool(database(), schema, commits, STATEMENTS);
      assertEquals(expected, state(schema), "after death at " + mortal.last());
      queries.execute("SET SCHEMA PUBLIC");
      queries.execute("SELECT acquire_lock('tool:" + schema + "')");
      queries.execute("DROP SCHEMA " + schema + " CASCADE");
      queries.execute("SELECT release_lock('tool:" + schema + "')");
      deaths += died ? 1 : 0;
    }
    assertTrue(deaths > 20, "only " + deaths);
  }

  @ParameterizedTest
  @EnumSource
  void failedStatementIsTriedAgainAndTheDoneOnesAreNot(Commits commits) throws Exception {
    newSchema("s");
    List<String> wrong = new ArrayList<>(STATEMENTS);
    wrong.set(6, "ALTER TABLE entry DROP COLUMN nothing");
    assertThrows(SQLException.class, () -> runTool(database(), "s", commits, wrong));
    queries.execute("CREATE TABLE somebody_elses(id INT)");
    assertEquals("6/6", queries.ask("SELECT done || '/' || attempted FROM s." + LEDGER));
    sent.clear();
    runTool(database(), "s", commits, STATEMENTS);
    assertEquals(STATEMENTS.subList(6, 9), sent);
    assertEquals("11", queries.ask("SELECT n FROM s.counter"));
  }

  @Test
  void statementsThatAreDoneMayNotChangeNorVanish() throws Exception {
    newSchema("s");
    List<String> wrong = List.of("SET SCHEMA s", "CREATE TABLE a(id INT)", "INSERT INTO x VALUES");
    assertThrows(SQLException.class, () -> runTool(database(), "s", Commits.AT_THE_END, wrong));
    for (List<String> changed :
        List.of(List.of("SET SCHEMA s", "CREATE TABLE b(id INT)"), List.of("SET SCHEMA s"))) {
      MigrationException mismatch =
          assertThrows(
              MigrationException.class,
              () -> runTool(database(), "s", Commits.AT_THE_END, changed));
      assertEquals(MigrationException.Reason.MISMATCH, mismatch.reason());
      assertTrue(mismatch.getMessage().contains("V1: the first 2 statements were done"));
    }
    assertEquals("0", queries.ask("SELECT COUNT(*) FROM s.tool_history"));
  }

  /** As versions before ADR 0140 left it, which counted a definition before it ran. */
  private List<String> attemptedAndNotKnown(String schema) throws Exception {
    newSchema(schema);
    String insert = "INSERT INTO " + schema + ".counter VALUES (1)";
    String truncate = "TRUNCATE TABLE " + schema + ".counter";
    List<String> fails = List.of(insert, "TRUNCATE TABLE " + schema + ".nothing");
    assertThrows(SQLException.class, () -> runTool(database(), schema, Commits.AT_THE_END, fails));
    CRC32 checksum = new CRC32();
    checksum.update((insert + ";" + truncate + ";").getBytes(StandardCharsets.UTF_8));
    queries.execute("SELECT acquire_lock('tool:" + schema + "')");
    queries.execute(
        "UPDATE "
            + schema
            + "."
            + LEDGER
            + " SET attempted = 2, attempted_checksum = "
            + checksum.getValue());
    queries.execute("SELECT release_lock('tool:" + schema + "')");
    return List.of(insert, truncate);
  }

  /** An operator may type what the message says. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void statementOfUnknownOutcomeIsForTheOperatorToSettle(boolean done) throws Exception {
    List<String> statements = attemptedAndNotKnown("s");
    MigrationException unknown =
        assertThrows(
            MigrationException.class,
            () -> runTool(database(), "s", Commits.AT_THE_END, statements));
    assertEquals(MigrationException.Reason.UNKNOWN_OUTCOME, unknown.reason());
    List<String> lines = unknown.getMessage().lines().toList();
    assertTrue(lines.get(0).startsWith("V1: the run under token "), lines.get(0));
    assertTrue(lines.get(0).contains(" ended at statement 2, "), lines.get(0));
    queries.execute(lines.get(1));
    queries.execute(lines.get(done ? 2 : 4));
    queries.execute("SELECT release_lock('tool:s')");
    runTool(database(), "s", Commits.AT_THE_END, statements);
    assertEquals(done ? "1" : "0", queries.ask("SELECT COUNT(*) FROM s.counter"));
  }

  @Test
  void toolSettlesAStatementToo() throws Exception {
    List<String> statements = attemptedAndNotKnown("s");
    Duration time = Duration.ofSeconds(15);
    try (MigrationLock lock = MigrationLock.acquire(database(), "tool:s", time, time)) {
      other.setSchema("S");
      FencedSession.fence(other, lock);
      StatementLedger ledger = StatementLedger.of(other, lock, LEDGER);
      assertTrue(ledger.settle("V1", /* tookEffect= */ true));
      assertFalse(ledger.settle("V1", /* tookEffect= */ true), "it is known");
      FencedSession.release(other);
    }
    runTool(database(), "s", Commits.AUTOCOMMIT, statements);
    assertEquals("1", queries.ask("SELECT COUNT(*) FROM s.counter"));
  }

  /** Whether a table was emptied cannot be seen: the mark tells. */
  @ParameterizedTest
  @EnumSource
  void truncateWithoutAReplyIsDoneOnce(Commits commits) throws Exception {
    newSchema("s");
    List<String> statements =
        List.of("INSERT INTO s.counter VALUES (1)", "TRUNCATE TABLE s.counter");
    MortalDatabase mortal =
        new MortalDatabase(
            database(), "", (number, statement) -> statement.startsWith("TRUNCATE"), true);
    assertThrows(SQLException.class, () -> runTool(mortal, "s", commits, statements));
    queries.execute("INSERT INTO s.counter VALUES (2)");
    runTool(database(), "s", commits, statements);
    assertEquals("2", queries.ask("SELECT LISTAGG(n, ' ') FROM s.counter"));
  }

  @Test
  void statementsThatTakeTheTransactionAwayAreRefused() throws Exception {
    newSchema("s");
    for (String sql : List.of("COMMIT", "SET NOT FENCED", "SET AUTOCOMMIT TRUE")) {
      MigrationException refused =
          assertThrows(
              MigrationException.class,
              () -> runTool(database(), "s", Commits.AT_THE_END, List.of(sql)));
      assertEquals(MigrationException.Reason.INPUT, refused.reason());
      assertTrue(refused.getMessage().contains("V1: statement 1 begins or ends"), sql);
    }
  }

  /** The table is fenced, and so a holder that has lost the lock counts nothing. */
  @Test
  void ledgerRefusesAFormerHolder() throws Exception {
    newSchema("s");
    Duration time = Duration.ofSeconds(15);
    try (MigrationLock lock = MigrationLock.acquire(database(), "tool:s", time, time);
        Connection connection = database().connect(Map.of())) {
      FencedSession.fence(connection, lock);
      StatementLedger ledger = StatementLedger.of(connection, lock, LEDGER);
      ledger.prepare();
      LedgerUnit unit = ledger.begin("V1");
      assertTrue(unit.before("INSERT INTO s.counter VALUES (0)"));
      queries.execute("SELECT force_release_lock('tool:s')");
      SQLException refused = assertThrows(SQLException.class, unit::after);
      assertTrue(refused.getSQLState().startsWith("23T0"), refused.getSQLState());
    }
    assertEquals(
        "tool:s",
        queries.ask("SELECT LOCK_NAME FROM TOLLGATE.FENCES WHERE TABLE_NAME = 'TOOL_PROGRESS'"));
  }
}
