package dev.tollgate.migrations;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A run dies at each of its requests in turn, before the request and before the reply. The next run
 * ends with all statements applied exactly once.
 */
class KilledRunTest {
  private static final String[] STATE = {
    "SELECT LISTAGG(what, ' ') WITHIN GROUP (ORDER BY what) FROM entry",
    "SELECT n FROM counter",
    "SELECT COUNT(*) FROM copies",
    "SELECT LISTAGG(COLUMN_NAME, ' ') WITHIN GROUP (ORDER BY ORDINAL_POSITION) FROM"
        + " INFORMATION_SCHEMA.COLUMNS WHERE TABLE_SCHEMA = SCHEMA() AND TABLE_NAME = 'ENTRY'",
    "SELECT COUNT(*) FROM INFORMATION_SCHEMA.TABLE_CONSTRAINTS WHERE TABLE_SCHEMA = SCHEMA()",
    "SELECT COUNT(*) FROM INFORMATION_SCHEMA.INDEXES WHERE TABLE_SCHEMA = SCHEMA()",
    "SELECT COUNT(*) || '/' || COUNT(DISTINCT script) FROM tollgate_schema_history WHERE success"
  };

  private final String url = "jdbc:tollgate:mem:" + UUID.randomUUID();
  @TempDir private Path folder;
  private Connection other;
  private Queries queries;

  @BeforeEach
  void startNode() throws Exception {
    other = DriverManager.getConnection(url);
    queries = new Queries(other);
  }

  @AfterEach
  void stopNode() throws SQLException {
    other.close();
  }

  private void writeScripts() throws Exception {
    new ScriptFiles(folder)
        .write(
            "V1__mixed.sql",
            "INSERT INTO counter VALUES (0);",
            "CREATE TABLE entry(id INT GENERATED ALWAYS AS IDENTITY, what VARCHAR(20));",
            "INSERT INTO entry(what) VALUES ('a'), ('b');",
            "UPDATE counter SET n = n + 1;",
            "ALTER TABLE entry ADD CHECK (id > 0);",
            "ALTER TABLE entry ADD COLUMN more INT;",
            "UPDATE counter SET n = n + 10;",
            "INSERT INTO entry(what) VALUES ('c');")
        .write(
            "V2__each_by_itself.sql",
            "-- tollgate: transaction=off",
            "UPDATE counter SET n = n + 100;",
            "CREATE INDEX ON entry(what);",
            "UPDATE counter SET n = n + 1000;")
        .write("R__copies.sql", "CREATE TABLE copies AS SELECT * FROM entry;");
  }

  private Database database() {
    return Database.at(url, Map.of(), getClass().getClassLoader());
  }

  private Migrations migrations(Database database) throws MigrationException {
    return new Migrations(
        MigrationSettings.of(folder, database)
            .withLock(Duration.ofSeconds(15), Duration.ofSeconds(20)),
        Progress.NONE);
  }

  private List<String> state(String schema) throws SQLException {
    queries.execute("SET SCHEMA " + schema);
    List<String> state = new ArrayList<>();
    for (String query : STATE) {
      state.add(queries.ask(query));
    }
    return state;
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void nextRunAppliesTheRestOnce(boolean lastIsSent) throws Exception {
    writeScripts();
    newSchema("whole");
    migrations(immortal("whole")).migrate();
    List<String> expected = state("whole");
    assertEquals("1111", expected.get(1));
    int deaths = 0;
    boolean died = true;
    for (int request = 1; died; request++) {
      String schema = "s" + request;
      newSchema(schema);
      int last = request;
      MortalDatabase mortal =
          new MortalDatabase(
              database(),
              "SET SCHEMA " + schema,
              (number, statement) -> number == last,
              lastIsSent);
      try {
        migrations(mortal).migrate();
        died = mortal.isDead();
      } catch (MigrationException e) {
        assertTrue(mortal.isDead(), () -> "died of " + e);
      }
      queries.execute("CREATE TABLE PUBLIC.of_another_client" + request + "(id INT)");
      migrations(immortal(schema)).migrate();
      assertEquals(expected, state(schema), "after death at " + mortal.last());
      drop(schema);
      deaths += died ? 1 : 0;
    }
    assertTrue(deaths > 40, "only " + deaths);
  }

  private void drop(String schema) throws SQLException {
    String lock = "('migrations:" + schema.toUpperCase(Locale.ROOT) + ".tollgate_schema_history')";
    queries.execute("SELECT acquire_lock" + lock);
    queries.execute("SET SCHEMA PUBLIC");
    queries.execute("DROP SCHEMA " + schema + " CASCADE");
    queries.execute("SELECT release_lock" + lock);
  }

  private void newSchema(String schema) throws SQLException {
    queries.execute("CREATE SCHEMA " + schema);
    queries.execute("CREATE TABLE " + schema + ".counter(n INT)");
  }

  /** Whether a table was emptied cannot be seen, and rows may have come since: the mark tells. */
  @Test
  void truncateWithoutAReplyIsDoneOnce() throws Exception {
    new ScriptFiles(folder)
        .write(
            "V1__empty.sql",
            "CREATE TABLE entry(id INT);",
            "INSERT INTO entry VALUES (1);",
            "TRUNCATE TABLE entry;",
            "INSERT INTO entry VALUES (2);");
    newSchema("s");
    dieBeforeTheReplyTo("TRUNCATE TABLE entry");
    queries.execute("INSERT INTO s.entry VALUES (3)");
    assertEquals(1, migrateS());
    assertEquals(
        "2 3", queries.ask("SELECT LISTAGG(id, ' ') WITHIN GROUP (ORDER BY id) FROM s.entry"));
  }

  private void dieBeforeTheReplyTo(String last) {
    MortalDatabase mortal =
        new MortalDatabase(
            database(), "SET SCHEMA s", (number, statement) -> statement.equals(last), true);
    assertThrows(MigrationException.class, () -> migrations(mortal).migrate());
    assertTrue(mortal.isDead());
  }

  private MortalDatabase immortal(String schema) {
    return new MortalDatabase(
        database(), "SET SCHEMA " + schema, (number, statement) -> false, false);
  }

  private int migrateS() throws MigrationException {
    return migrations(immortal("s")).migrate();
  }

  /** Nothing of the failure was recorded, and the definition has changed nothing. */
  @Test
  void definitionThatFailedAsItsRunnerDiedIsTriedAgain() throws Exception {
    new ScriptFiles(folder)
        .write(
            "V1__fails.sql",
            "CREATE TABLE entry(id INT);",
            "INSERT INTO entry VALUES (1), (1);",
            "CREATE UNIQUE INDEX one ON entry(id);");
    newSchema("s");
    dieBeforeTheReplyTo("CREATE UNIQUE INDEX one ON entry(id)");
    MigrationException failed = assertThrows(MigrationException.class, this::migrateS);
    assertEquals(MigrationException.Reason.STATEMENT, failed.reason(), failed.getMessage());
    assertTrue(failed.getMessage().contains("V1__fails.sql:3"), failed.getMessage());
    queries.execute("DELETE FROM s.entry FETCH FIRST ROW ONLY");
    assertEquals(1, migrateS());
  }
}
