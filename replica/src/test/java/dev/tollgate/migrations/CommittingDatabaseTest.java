package dev.tollgate.migrations;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Scripts for a database other than Tollgate whose definitions commit: H2 by itself. */
class CommittingDatabaseTest {
  private static final String COLUMNS =
      "SELECT COUNT(*) FROM INFORMATION_SCHEMA.COLUMNS WHERE COLUMN_NAME = 'MORE'";

  private final String tollgate = "jdbc:tollgate:mem:" + UUID.randomUUID();
  private final String url = "jdbc:h2:mem:" + UUID.randomUUID();
  @TempDir private Path folder;

  private Migrations migrations(Database database) throws MigrationException {
    Database keepsTheLock = Database.at(tollgate, Map.of(), getClass().getClassLoader());
    return new Migrations(MigrationSettings.of(folder, database, keepsTheLock), Progress.NONE);
  }

  private Database database() {
    return Database.at(url, Map.of(), getClass().getClassLoader());
  }

  /** Where it cannot be known, the next run says so, and an operator can look. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void runAfterAKilledOneFinishesOrAsks(boolean lastIsSent) throws Exception {
    new ScriptFiles(folder)
        .write(
            "V1__mixed.sql",
            "UPDATE counter SET n = n + 1;",
            "ALTER TABLE counter ADD COLUMN more INT;",
            "UPDATE counter SET n = n + 10;");
    int asked = 0;
    int finished = 0;
    boolean died = true;
    try (Connection keeper = DriverManager.getConnection(tollgate);
        Connection other = DriverManager.getConnection(url)) {
      Queries queries = new Queries(other);
      for (int request = 1; died; request++) {
        queries.execute("DROP ALL OBJECTS");
        queries.execute("CREATE TABLE counter(n INT) AS VALUES (0)");
        int last = request;
        MortalDatabase mortal =
            new MortalDatabase(database(), "", (number, statement) -> number == last, lastIsSent);
        try {
          migrations(mortal).migrate();
          died = mortal.isDead();
        } catch (MigrationException e) {
          assertTrue(mortal.isDead(), () -> "died of " + e);
        }
        try {
          migrations(database()).migrate();
          finished++;
        } catch (MigrationException e) {
          assertEquals(MigrationException.Reason.UNKNOWN_OUTCOME, e.reason(), e.getMessage());
          assertTrue(e.getMessage().contains("statement 2 of 3"), e.getMessage());
          migrations(database()).repair(Optional.of(queries.ask(COLUMNS).equals("1")));
          migrations(database()).migrate();
          asked++;
        }
        assertEquals("11", queries.ask("SELECT n FROM counter"), mortal.last());
        assertEquals("1", queries.ask(COLUMNS), mortal.last());
      }
      assertTrue(keeper.isValid(1));
    }
    assertTrue(asked > 0 && asked < 6 && finished > 12, asked + " and " + finished);
  }
}
