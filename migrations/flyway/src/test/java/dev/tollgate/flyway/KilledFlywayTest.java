package dev.tollgate.flyway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.jdbc.TollgateDataSource;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.BiPredicate;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A run dies at each of its requests in turn, before the request and before the reply. The next run
 * ends with all statements applied exactly once.
 */
class KilledFlywayTest {
  private static final String[] STATE = {
    "SELECT LISTAGG(what, ' ') WITHIN GROUP (ORDER BY what) FROM entry",
    "SELECT n FROM counter",
    "SELECT COUNT(*) FROM copies",
    "SELECT LISTAGG(COLUMN_NAME, ' ') WITHIN GROUP (ORDER BY ORDINAL_POSITION) FROM"
        + " INFORMATION_SCHEMA.COLUMNS WHERE TABLE_SCHEMA = SCHEMA() AND TABLE_NAME = 'ENTRY'",
    "SELECT COUNT(*) FROM INFORMATION_SCHEMA.TABLE_CONSTRAINTS WHERE TABLE_SCHEMA = SCHEMA()",
    "SELECT COUNT(*) FROM INFORMATION_SCHEMA.INDEXES WHERE TABLE_SCHEMA = SCHEMA()",
    "SELECT COUNT(*) || '/' || COUNT(DISTINCT \"script\") FROM \"flyway_schema_history\" WHERE"
        + " \"success\" AND \"type\" = 'SQL'",
    "SELECT COUNT(*) FROM flyway_schema_history_progress"
  };

  @RegisterExtension final TestNode node = new TestNode();

  private void writeScripts() throws Exception {
    node.write(
        "V1__counter.sql", "CREATE TABLE counter(n INT);", "INSERT INTO counter VALUES (0);");
    node.write(
        "V2__mixed.sql",
        "UPDATE counter SET n = n + 10000;",
        "CREATE TABLE entry(id INT GENERATED ALWAYS AS IDENTITY, what VARCHAR(20));",
        "INSERT INTO entry(what) VALUES ('a'), ('b');",
        "UPDATE counter SET n = n + 1;",
        "ALTER TABLE entry ADD CHECK (id > 0);",
        "ALTER TABLE entry ADD COLUMN more INT;",
        "UPDATE counter SET n = n + 10;",
        "INSERT INTO entry(what) VALUES ('c');");
    node.write(
        "V3__each_by_itself.sql",
        "UPDATE counter SET n = n + 100;",
        "CREATE INDEX ON entry(what);",
        "UPDATE counter SET n = n + 1000;");
    node.write("V3__each_by_itself.sql.conf", "executeInTransaction=false");
    node.write("R__copies.sql", "CREATE TABLE copies AS SELECT * FROM entry;");
  }

  private DataSource database() {
    TollgateDataSource database = new TollgateDataSource();
    database.setUrl(node.url());
    return database;
  }

  private MortalDataSource mortal(BiPredicate<Integer, String> fatal, boolean lastIsSent) {
    return new MortalDataSource(database(), fatal, lastIsSent);
  }

  private Flyway flyway(DataSource database, String schema, boolean group) {
    return node.configuration()
        .dataSource(database)
        .schemas(schema)
        .group(group)
        .mixed(group)
        .load();
  }

  private List<String> state(String schema) throws SQLException {
    node.execute("SET SCHEMA " + schema);
    List<String> state = new ArrayList<>();
    for (String query : STATE) {
      state.add(node.ask(query));
    }
    return state;
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void nextRunAppliesTheRestOnce(boolean lastIsSent) throws Exception {
    assertTrue(dieAtEach(13, lastIsSent, false) > 10);
  }

  @ParameterizedTest
  @CsvSource({"false, false", "true, false", "false, true", "true, true"})
  @Tag("nightly")
  void nextRunAppliesTheRestOnceAfterEachRequest(boolean lastIsSent, boolean group)
      throws Exception {
    assertTrue(dieAtEach(1, lastIsSent, group) > 100);
  }

  /** Returns how many runs have died. */
  private int dieAtEach(int step, boolean lastIsSent, boolean group) throws Exception {
    writeScripts();
    flyway(database(), "WHOLE", group).migrate();
    List<String> expected = state("WHOLE");
    assertEquals("11111", expected.get(1));
    int deaths = 0;
    boolean died = true;
    for (int request = 1; died; request += step) {
      String schema = "S" + request;
      int last = request;
      MortalDataSource mortal = mortal((number, statement) -> number == last, lastIsSent);
      try {
        flyway(mortal, schema, group).migrate();
        died = mortal.isDead();
      } catch (MortalDataSource.Death e) {
        assertTrue(mortal.isDead());
      }
      flyway(database(), schema, group).migrate();
      assertEquals(expected, state(schema), "after death at " + request + " " + mortal.last());
      drop(schema);
      deaths += died ? 1 : 0;
    }
    return deaths;
  }

  private void drop(String schema) throws SQLException {
    String lock = "('flyway:" + schema.toUpperCase(Locale.ROOT) + ".flyway_schema_history')";
    node.execute("SELECT acquire_lock" + lock);
    node.execute("SET SCHEMA PUBLIC");
    node.execute("DROP SCHEMA " + schema + " CASCADE");
    node.execute("SELECT release_lock" + lock);
  }

  private Flyway flyway() {
    return flyway(database(), "S", false);
  }

  /** Whether a table was emptied cannot be seen, and rows may have come since: the mark tells. */
  @Test
  void truncateWithoutAReplyIsDoneOnce() throws Exception {
    node.write(
        "V1__empty.sql",
        "CREATE TABLE entry(id INT);",
        "INSERT INTO entry VALUES (1);",
        "TRUNCATE TABLE entry;",
        "INSERT INTO entry VALUES (2);");
    MortalDataSource mortal =
        mortal((number, statement) -> statement.equals("TRUNCATE TABLE entry"), true);
    assertThrows(MortalDataSource.Death.class, () -> flyway(mortal, "S", false).migrate());
    node.execute("INSERT INTO s.entry VALUES (3)");
    assertEquals(1, flyway().migrate().migrationsExecuted);
    assertEquals(
        "2 3", node.ask("SELECT LISTAGG(id, ' ') WITHIN GROUP (ORDER BY id) FROM s.entry"));
  }

  @Test
  void failedScriptGoesOnBehindWhatIsDone() throws Exception {
    String[] lines = {
      "CREATE TABLE entry(id INT PRIMARY KEY);",
      "INSERT INTO entry VALUES (1);",
      "CREATE INDEX one ON entry(id);",
      "INSERT INTO entry VALUES (2);",
      "INSERT INTO entry VALUES (1);"
    };
    node.write("V1__fails.sql", lines);
    assertThrows(FlywayException.class, () -> flyway().migrate());
    assertEquals("1", node.ask("SELECT COUNT(*) FROM s.entry"));
    assertThrows(FlywayException.class, () -> flyway().migrate());
    flyway().repair();
    lines[1] = "INSERT INTO entry VALUES (7);";
    node.write("V1__fails.sql", lines);
    FlywayException changed = assertThrows(FlywayException.class, () -> flyway().migrate());
    assertTrue(changed.getMessage().contains("have changed since"), changed.getMessage());
    flyway().repair();
    lines[1] = "INSERT INTO entry VALUES (1);";
    lines[4] = "INSERT INTO entry VALUES (3);";
    node.write("V1__fails.sql", lines);
    assertEquals(1, flyway().migrate().migrationsExecuted);
    assertEquals("3", node.ask("SELECT COUNT(*) FROM s.entry"));
    assertEquals("0", node.ask("SELECT COUNT(*) FROM s.flyway_schema_history_progress"));
  }

  @Test
  void scriptLeavesTransactionsToFlyway() throws Exception {
    node.write("V1__commits.sql", "CREATE TABLE entry(id INT);", "COMMIT;");
    FlywayException refused = assertThrows(FlywayException.class, () -> flyway().migrate());
    assertTrue(refused.getMessage().contains("statement 2"), refused.getMessage());
  }

  @Test
  void callbacksRunEachTime() throws Exception {
    node.write("V1__a.sql", "CREATE TABLE log(what VARCHAR(20));");
    node.write("V2__b.sql", "INSERT INTO log VALUES ('V2');");
    node.write("afterEachMigrate.sql", "INSERT INTO log VALUES ('after');");
    flyway().migrate();
    node.write("V3__c.sql", "INSERT INTO log VALUES ('V3');");
    flyway().migrate();
    assertEquals("5", node.ask("SELECT COUNT(*) FROM s.log"));
  }
}
