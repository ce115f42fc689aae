package dev.tollgate.samples.liquibase;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tollgate.samples.TestDatabase;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import liquibase.Liquibase;
import liquibase.database.DatabaseFactory;
import liquibase.database.jvm.JdbcConnection;
import liquibase.resource.DirectoryResourceAccessor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Liquibase against a node. */
class LiquibaseTest {
  @RegisterExtension final TestDatabase node = new TestDatabase();
  @TempDir Path folder;

  @Test
  void changeSetRunsOnceInItsTransaction() throws Exception {
    update("--changeset x:1");
    assertEquals("1", cities());
    update("--changeset x:1");
    assertEquals("1", node.ask("SELECT COUNT(*) FROM databasechangelog"));
    assertEquals("FALSE", node.ask("SELECT locked FROM databasechangeloglock"), "no lock is left");
  }

  @Test
  void changeSetWithoutATransactionWorks() throws Exception {
    update("--changeset x:1 runInTransaction:false");
    assertEquals("1", cities());
    assertEquals("1", node.ask("SELECT COUNT(*) FROM databasechangelog"));
    update("--changeset x:1 runInTransaction:false");
    assertEquals("1", node.ask("SELECT COUNT(*) FROM databasechangelog"));
  }

  private String cities() throws SQLException {
    return node.ask("SELECT COUNT(*) FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_NAME = 'CITY'");
  }

  @SuppressWarnings("try") // the accessor's close() could be interrupted
  private void update(String header) throws Exception {
    Files.writeString(
        folder.resolve("changelog.sql"),
        "--liquibase formatted sql\n" + header + "\nCREATE TABLE city(id INT PRIMARY KEY);\n");
    try (Connection connection = node.connect();
        DirectoryResourceAccessor files = new DirectoryResourceAccessor(folder)) {
      var database =
          DatabaseFactory.getInstance()
              .findCorrectDatabaseImplementation(new JdbcConnection(connection));
      try (Liquibase liquibase = new Liquibase("changelog.sql", files, database)) {
        liquibase.update();
      }
    }
  }
}
