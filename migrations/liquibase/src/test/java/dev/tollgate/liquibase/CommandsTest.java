package dev.tollgate.liquibase;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.StringWriter;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.regex.Pattern;
import liquibase.Liquibase;
import liquibase.Scope;
import liquibase.exception.LiquibaseException;
import liquibase.executor.ExecutorService;
import liquibase.lockservice.DatabaseChangeLogLock;
import liquibase.statement.core.CreateDatabaseChangeLogTableStatement;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Liquibase's commands on a node of Tollgate. */
class CommandsTest {
  private static final String LOCK = "liquibase:PUBLIC.DATABASECHANGELOG";

  @RegisterExtension final TollgateNode node = new TollgateNode();
  @TempDir private Path folder;
  private ChangeLog changes;

  @BeforeEach
  void writeChanges() throws Exception {
    changes =
        new ChangeLog(folder)
            .changeSet(
                "1",
                "CREATE TABLE city(id INT PRIMARY KEY, name VARCHAR(50));",
                "INSERT INTO city VALUES (1, 'Oslo');",
                "--rollback DROP TABLE city;")
            .changeSet(
                "2",
                "INSERT INTO city VALUES (2, 'Rome');",
                "--rollback DELETE FROM city WHERE id = 2;");
  }

  private void run(ChangeLog.Command command) throws Exception {
    changes.run(node.connect(), Map.of(), command);
  }

  private void update() throws Exception {
    changes.update(node.connect());
  }

  private String changeSets() throws SQLException {
    return node.ask("SELECT LISTAGG(id, ' ') WITHIN GROUP (ORDER BY id) FROM databasechangelog");
  }

  @Test
  void updateRunsEachChangeSetOnceAndLeavesNoLock() throws Exception {
    update();
    update();
    assertEquals("1 2", changeSets());
    assertEquals("2", node.ask("SELECT COUNT(*) FROM city"));
    assertEquals("0", node.ask("SELECT COUNT(*) FROM TOLLGATE.LOCKS"));
    assertEquals(
        "0",
        node.ask(
            "SELECT COUNT(*) FROM INFORMATION_SCHEMA.TABLES"
                + " WHERE TABLE_NAME = 'DATABASECHANGELOGLOCK'"));
  }

  @Test
  void changeLogTableIsFencedByTheLock() throws Exception {
    update();
    assertEquals(
        LOCK,
        node.ask("SELECT LOCK_NAME FROM TOLLGATE.FENCES WHERE TABLE_NAME = 'DATABASECHANGELOG'"));
    SQLException refused =
        assertThrows(SQLException.class, () -> node.execute("DELETE FROM databasechangelog"));
    assertEquals("23T02", refused.getSQLState());
  }

  @Test
  void changeLogTableOfARunWithoutTheExtensionIsFencedByTheNextRun() throws Exception {
    update();
    node.execute("SELECT acquire_lock('" + LOCK + "')");
    node.execute("ALTER TABLE databasechangelog NOT FENCED");
    node.execute("SELECT release_lock('" + LOCK + "')");
    changes.changeSet("3", "INSERT INTO city VALUES (3, 'Bern');");
    update();
    assertEquals("1 2 3", changeSets());
    assertEquals(LOCK, node.ask("SELECT LOCK_NAME FROM TOLLGATE.FENCES"));
  }

  @Test
  void tablesOfLiquibaseMayHaveASchemaOfTheirOwn() throws Exception {
    node.execute("CREATE SCHEMA admin");
    changes.run(
        node.connect(),
        Map.of("liquibase.liquibaseSchemaName", "ADMIN"),
        liquibase -> liquibase.update(""));
    assertEquals(
        "ADMIN.DATABASECHANGELOG ADMIN.DATABASECHANGELOG_STATEMENTS PUBLIC.CITY",
        node.ask(
            "SELECT LISTAGG(TABLE_SCHEMA || '.' || TABLE_NAME, ' ') WITHIN GROUP (ORDER BY"
                + " TABLE_SCHEMA, TABLE_NAME) FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA IN"
                + " ('ADMIN', 'PUBLIC')"));
    assertEquals(
        "liquibase:ADMIN.DATABASECHANGELOG",
        node.ask("SELECT DISTINCT LOCK_NAME FROM TOLLGATE.FENCES"));
  }

  /** Liquibase looks for the table before it has the lock. */
  @Test
  void changeLogTableThatAnotherRunHasMadeMeanwhileStays() throws Exception {
    update();
    run(
        liquibase ->
            Scope.getCurrentScope()
                .getSingleton(ExecutorService.class)
                .getExecutor("jdbc", liquibase.getDatabase())
                .execute(new CreateDatabaseChangeLogTableStatement()));
    assertEquals("1 2", changeSets());
  }

  @Test
  void tagAndRollbackAndStatus() throws Exception {
    update();
    run(liquibase -> liquibase.tag("two"));
    changes.changeSet(
        "3",
        "INSERT INTO city VALUES (3, 'Bern');",
        "ALTER TABLE city ADD COLUMN people INT;",
        "--rollback ALTER TABLE city DROP COLUMN people;",
        "--rollback DELETE FROM city WHERE id = 3;");
    StringWriter status = new StringWriter();
    run(liquibase -> liquibase.reportStatus(true, "", status));
    assertTrue(status.toString().contains("changelog.sql::3::tests"), status.toString());
    update();
    assertEquals("3", node.ask("SELECT COUNT(*) FROM city"));
    run(liquibase -> liquibase.rollback("two", ""));
    assertEquals("1 2", changeSets());
    assertEquals("2", node.ask("SELECT COUNT(*) FROM city"));
    update();
    assertEquals("1 2 3", changeSets());
    run(Liquibase::dropAll);
    assertEquals(
        "0",
        node.ask("SELECT COUNT(*) FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = 'PUBLIC'"));
    update();
    assertEquals("1 2 3", changeSets());
  }

  @Test
  void locksAreListedAndReleased() throws Exception {
    update();
    try (Connection holder = node.connect()) {
      String token = TollgateNode.ask(holder, "SELECT acquire_lock('" + LOCK + "')");
      run(
          liquibase -> {
            DatabaseChangeLogLock[] locks = liquibase.listLocks();
            assertEquals(1, locks.length);
            String by = locks[0].getLockedBy();
            assertTrue(by.contains("'" + LOCK + "', token " + token), by);
            assertTrue(by.contains("process"), by);
            liquibase.forceReleaseLocks();
            assertEquals(0, liquibase.listLocks().length);
          });
      assertEquals(
          "FALSE", TollgateNode.ask(holder, "SELECT holds_lock('" + LOCK + "', " + token + ")"));
    }
  }

  @Test
  void waitForTheLockEndsAfterTheTimeOfTheSettings() throws Exception {
    try (Connection holder = node.connect()) {
      String token = TollgateNode.ask(holder, "SELECT acquire_lock('" + LOCK + "')");
      LiquibaseException busy =
          assertThrows(
              LiquibaseException.class,
              () ->
                  changes.run(
                      node.connect(),
                      Map.of("liquibase.changelogLockWaitTimeInMinutes", 0L),
                      liquibase -> liquibase.update("")));
      String why = ChangeLog.reasons(busy);
      assertTrue(why.contains("was not free for 0 s"), why);
      assertTrue(why.contains("under token " + token), why);
    }
    update();
    assertEquals("1 2", changeSets());
  }

  @Test
  void changedChangeSetIsRefused() throws Exception {
    update();
    new ChangeLog(folder).changeSet("1", "CREATE TABLE town(id INT);");
    LiquibaseException changed = assertThrows(LiquibaseException.class, this::update);
    assertTrue(changed.getMessage().contains("changelog.sql::1::tests was"), changed.getMessage());
    assertEquals("1 2", changeSets());
  }

  @Test
  void failureNamesTheChangeSetAndTheStatement() throws Exception {
    changes.changeSet(
        "3", "INSERT INTO city VALUES (3, 'Bern');", "INSERT INTO nowhere VALUES (1);");
    LiquibaseException failed = assertThrows(LiquibaseException.class, this::update);
    assertTrue(failed.getMessage().contains("changelog.sql::3::tests"), failed.getMessage());
    assertTrue(failed.getMessage().contains("INSERT INTO nowhere"), failed.getMessage());
    assertEquals("1 2", changeSets());
    assertEquals("2", node.ask("SELECT COUNT(*) FROM city"));
  }

  @Test
  @SuppressWarnings("deprecation") // the shortest way to the command update-sql
  void scriptOfAnUpdateTakesTheLock() throws Exception {
    StringWriter script = new StringWriter();
    run(liquibase -> liquibase.update("", script));
    assertTrue(
        script.toString().contains("SELECT acquire_lock('" + LOCK + "')"), script.toString());
    assertTrue(
        script.toString().contains("SELECT release_lock('" + LOCK + "')"), script.toString());
    assertTrue(script.toString().contains("FENCED BY LOCK '" + LOCK + "'"), script.toString());
    assertEquals("0", node.ask("SELECT COUNT(*) FROM TOLLGATE.LOCKS"));
    try (Connection runner = node.connect();
        var statement = runner.createStatement()) {
      String statements = script.toString().replaceAll("(?m)^--.*$", "");
      for (String line : Pattern.compile(";\\s*\n").splitAsStream(statements).toList()) {
        if (!line.isBlank()) {
          statement.execute(line);
        }
      }
    }
    assertEquals("1 2", changeSets());
  }

  /** Its script would do again what is done. */
  @Test
  @SuppressWarnings("deprecation") // the shortest way to the command update-sql
  void scriptOfAnUpdateIsRefusedWhileAChangeSetIsDoneInPart() throws Exception {
    changes.changeSet(
        "3", "INSERT INTO city VALUES (3, 'Bern');", "CREATE TABLE a(id INT);", "DROP TABLE b;");
    assertThrows(LiquibaseException.class, this::update);
    StringWriter script = new StringWriter();
    Exception refused =
        assertThrows(Exception.class, () -> run(liquibase -> liquibase.update("", script)));
    String why = ChangeLog.reasons(refused);
    assertTrue(why.contains("an earlier run has done a part of changelog.sql::3::tests"), why);
    node.execute("CREATE TABLE b(id INT)");
    update();
    run(liquibase -> liquibase.update("", script));
    assertEquals("1", node.ask("SELECT COUNT(*) FROM city WHERE id = 3"));
  }

  @Test
  void changeInJavaRunsOnce() throws Exception {
    node.execute("CREATE TABLE counter(n INT)");
    node.execute("INSERT INTO counter VALUES (0)");
    changes = ChangeLog.ofJava(folder, CountInJava.class);
    update();
    update();
    assertEquals("1000", node.ask("SELECT n FROM counter"));
  }
}
