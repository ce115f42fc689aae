package dev.tollgate.samples.flyway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.jdbc.TollgateDataSource;
import dev.tollgate.samples.TestDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Flyway against a node: it locks its history in one transaction and migrates in others. */
class FlywayTest {
  @RegisterExtension final TestDatabase node = new TestDatabase();
  @TempDir Path folder;

  private Flyway flyway() {
    return flyway("");
  }

  /**
   * @param initSql what each connection begins with
   */
  private Flyway flyway(String initSql) {
    TollgateDataSource cluster = new TollgateDataSource();
    cluster.setUrl(node.url());
    return Flyway.configure()
        .dataSource(cluster)
        .initSql(initSql)
        .locations("filesystem:" + folder)
        .failOnMissingLocations(true)
        .load();
  }

  private void write(String file, String sql) throws IOException {
    Files.writeString(folder.resolve(file), sql);
  }

  @Test
  void migrationsRunOnceAndInOrder() throws Exception {
    write(
        "V1__city.sql",
        """
        CREATE TABLE city(id INT PRIMARY KEY, name VARCHAR(50));
        INSERT INTO city VALUES(1, 'Oslo');
        """);
    assertEquals(1, flyway().migrate().migrationsExecuted);
    write(
        "V2__fenced.sql",
        """
        ALTER TABLE city ADD COLUMN people INT DEFAULT 0;
        ALTER TABLE city FENCED BY LOCK 'census';
        """);
    assertEquals(1, flyway().migrate().migrationsExecuted);
    assertEquals(0, flyway().migrate().migrationsExecuted);
    assertEquals("1", node.ask("SELECT COUNT(*) FROM city WHERE people = 0"));
    assertEquals("census", node.ask("SELECT LOCK_NAME FROM TOLLGATE.FENCES"));
    flyway().validate();
  }

  @Test
  void failedMigrationIsRolledBack() throws Exception {
    write("V1__city.sql", "CREATE TABLE city(id INT PRIMARY KEY);");
    flyway().migrate();
    write(
        "V2__twice.sql",
        """
        INSERT INTO city VALUES(1);
        INSERT INTO city VALUES(1);
        """);
    assertThrows(FlywayException.class, () -> flyway().migrate());
    assertEquals("0", node.ask("SELECT COUNT(*) FROM city"));
  }

  @Test
  void runThatHasLostItsLockChangesNothing() throws Exception {
    String lease = node.ask("SELECT create_lease(INTERVAL '1' HOUR, 'a run')");
    String token = node.ask("SELECT acquire_lock('migrations', " + lease + ")");
    Flyway run = flyway("SET FENCED BY LOCK 'migrations' TOKEN " + token);
    write("V1__city.sql", "CREATE TABLE city(id INT PRIMARY KEY);");
    assertEquals(1, run.migrate().migrationsExecuted);
    node.ask("SELECT force_release_lock('migrations')");
    write("V2__people.sql", "ALTER TABLE city ADD COLUMN people INT;");
    FlywayException refused = assertThrows(FlywayException.class, run::migrate);
    assertTrue(refused.getMessage().contains("SET NOT FENCED"), refused.getMessage());
    assertEquals(
        "1", node.ask("SELECT COUNT(*) FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = 'CITY'"));
    assertEquals(1, flyway().migrate().migrationsExecuted);
  }
}
