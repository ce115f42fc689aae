package dev.tollgate.liquibase;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import liquibase.exception.LiquibaseException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A run dies at each of its writes and commits in turn, before the request and before the reply.
 * The next run ends with all statements applied exactly once.
 */
class KilledUpdateTest {
  private static final String[] STATE = {
    "SELECT LISTAGG(what, ' ') WITHIN GROUP (ORDER BY what) FROM entry",
    "SELECT n FROM counter",
    "SELECT LISTAGG(TABLE_NAME || '.' || COLUMN_NAME, ' ') WITHIN GROUP (ORDER BY TABLE_NAME,"
        + " ORDINAL_POSITION) FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_SCHEMA = SCHEMA()",
    "SELECT COUNT(*) FROM INFORMATION_SCHEMA.TABLE_CONSTRAINTS WHERE TABLE_SCHEMA = SCHEMA()",
    "SELECT COUNT(*) FROM INFORMATION_SCHEMA.INDEXES WHERE TABLE_SCHEMA = SCHEMA()",
    "SELECT LISTAGG(id || EXECTYPE, ' ') WITHIN GROUP (ORDER BY id) FROM databasechangelog",
    "SELECT COUNT(*) FROM databasechangelog_statements"
  };

  @RegisterExtension final TollgateNode node = new TollgateNode();
  @TempDir private Path folder;
  private ChangeLog changes;

  @BeforeEach
  void writeChanges() throws Exception {
    changes =
        new ChangeLog(folder)
            .changeSet(
                "1",
                "--preconditions onFail:MARK_RAN",
                "--precondition-sql-check expectedResult:0 SELECT COUNT(*) FROM"
                    + " INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = SCHEMA() AND TABLE_NAME ="
                    + " 'ENTRY'",
                "INSERT INTO counter VALUES (0);",
                "CREATE TABLE entry(id INT GENERATED ALWAYS AS IDENTITY, what VARCHAR(20));",
                "INSERT INTO entry(what) VALUES ('a'), ('b');",
                "UPDATE counter SET n = n + 1;",
                "CREATE TABLE more_entries(id INT);",
                "ALTER TABLE entry ADD CHECK (id > 0);",
                "UPDATE counter SET n = n + 10;",
                "INSERT INTO entry(what) VALUES ('c');",
                "--rollback UPDATE counter SET n = n - 1;",
                "--rollback DROP TABLE more_entries;",
                "--rollback UPDATE counter SET n = n - 10;",
                "--rollback DROP TABLE entry;",
                "--rollback DELETE FROM counter;")
            .changeSet(
                "2 runInTransaction:false",
                "UPDATE counter SET n = n + 100;",
                "CREATE INDEX ON entry(what);",
                "UPDATE counter SET n = n + 1000;",
                "--rollback empty");
  }

  private Connection connect(String schema) throws SQLException {
    Connection connection = node.connect();
    try (Statement statement = connection.createStatement()) {
      statement.execute("SET SCHEMA " + schema);
    }
    return connection;
  }

  private List<String> state(String schema) throws SQLException {
    List<String> state = new ArrayList<>();
    try (Connection connection = connect(schema)) {
      for (String query : STATE) {
        state.add(TollgateNode.ask(connection, query));
      }
    }
    return state;
  }

  private void newSchema(String schema) throws SQLException {
    node.execute("CREATE SCHEMA " + schema);
    node.execute("CREATE TABLE " + schema + ".counter(n INT)");
  }

  private void update(String schema) throws Exception {
    changes.update(connect(schema));
  }

  private void run(MortalConnection mortal, ChangeLog.Command command) throws Exception {
    try {
      changes.run(mortal.connection(), Map.of(), command);
    } catch (LiquibaseException e) {
      assertTrue(mortal.isDead(), () -> "failed of " + ChangeLog.reasons(e));
    }
  }

  @Test
  void nextRunAppliesTheRestOnceAfterSomeRequests() throws Exception {
    int deaths = dieAndRunAgain(/* step= */ 5, /* lastIsSent= */ true);
    assertTrue(deaths > 8, "only " + deaths);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  @Tag("nightly")
  void nextRunAppliesTheRestOnceAfterEachRequest(boolean lastIsSent) throws Exception {
    int deaths = dieAndRunAgain(/* step= */ 1, lastIsSent);
    assertTrue(deaths > 40, "only " + deaths);
  }

  private int dieAndRunAgain(int step, boolean lastIsSent) throws Exception {
    newSchema("whole");
    update("whole");
    List<String> expected = state("whole");
    assertEquals("1111", expected.get(1));
    int deaths = 0;
    boolean died = true;
    for (int request = 1; died; request += step) {
      String schema = "s" + request;
      newSchema(schema);
      MortalConnection mortal = new MortalConnection(connect(schema), request, lastIsSent);
      run(mortal, liquibase -> liquibase.update(""));
      update(schema);
      assertEquals(expected, state(schema), "after death at " + mortal.last());
      died = mortal.isDead();
      deaths += died ? 1 : 0;
    }
    return deaths;
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  @Tag("nightly")
  void nextRollbackTakesBackTheRestOnce(boolean lastIsSent) throws Exception {
    int deaths = 0;
    boolean died = true;
    for (int request = 1; died; request++) {
      String schema = "s" + request;
      newSchema(schema);
      update(schema);
      MortalConnection mortal = new MortalConnection(connect(schema), request, lastIsSent);
      run(mortal, liquibase -> liquibase.rollback(2, ""));
      changes.run(
          connect(schema),
          Map.of(),
          liquibase -> {
            try (Connection connection = connect(schema)) {
              String left = TollgateNode.ask(connection, "SELECT COUNT(*) FROM databasechangelog");
              liquibase.rollback(Integer.parseInt(left), "");
            }
          });
      try (Connection connection = connect(schema)) {
        String last = "after death at " + mortal.last();
        assertEquals("no row", TollgateNode.ask(connection, "SELECT n FROM counter"), last);
        assertEquals(
            "COUNTER DATABASECHANGELOG DATABASECHANGELOG_STATEMENTS",
            TollgateNode.ask(
                connection,
                "SELECT LISTAGG(TABLE_NAME, ' ') WITHIN GROUP (ORDER BY TABLE_NAME) FROM"
                    + " INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = SCHEMA()"),
            last);
        assertEquals(
            "0", TollgateNode.ask(connection, "SELECT COUNT(*) FROM databasechangelog"), last);
      }
      died = mortal.isDead();
      deaths += died ? 1 : 0;
    }
    assertTrue(deaths > 20, "only " + deaths);
  }

  /** What a runner that was paused for too long finds. */
  @Test
  void runThatHasLostItsLockIsRefused() throws Exception {
    newSchema("s");
    Connection connection =
        new InterruptedConnection(
                connect("s"),
                "CREATE TABLE more_entries",
                () -> node.execute("SELECT force_release_lock('liquibase:S.DATABASECHANGELOG')"))
            .connection();
    LiquibaseException refused =
        assertThrows(LiquibaseException.class, () -> changes.update(connection));
    String why = ChangeLog.reasons(refused);
    assertTrue(why.contains("changelog.sql::1::tests"), why);
    assertTrue(why.contains("refused: lock 'liquibase:S.DATABASECHANGELOG' is no longer"), why);
    try (Connection other = connect("s")) {
      assertEquals("0", TollgateNode.ask(other, "SELECT COUNT(*) FROM databasechangelog"), why);
    }
    update("s");
    assertEquals("1111", state("s").get(1));
  }

  /** Liquibase would run the change set from its beginning. */
  @Test
  void failedChangeSetGoesOnBehindWhatIsDone() throws Exception {
    newSchema("s");
    changes = new ChangeLog(folder);
    changes.changeSet("1", "CREATE TABLE entry(id INT);", "INSERT INTO entry VALUES ('x');");
    LiquibaseException failed = assertThrows(LiquibaseException.class, () -> update("s"));
    assertTrue(ChangeLog.reasons(failed).contains("changelog.sql::1::tests"));
    new ChangeLog(folder)
        .changeSet("1", "CREATE TABLE town(id INT);", "INSERT INTO town VALUES (1);");
    LiquibaseException changed = assertThrows(LiquibaseException.class, () -> update("s"));
    assertTrue(
        ChangeLog.reasons(changed).contains("statements were done by an earlier run and have"),
        ChangeLog.reasons(changed));
    new ChangeLog(folder)
        .changeSet("1", "CREATE TABLE entry(id INT);", "INSERT INTO entry VALUES (1);");
    update("s");
    try (Connection other = connect("s")) {
      assertEquals("1", TollgateNode.ask(other, "SELECT COUNT(*) FROM entry"));
    }
  }
}
