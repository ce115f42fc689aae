package dev.tollgate.node;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tollgate.migrations.Database;
import dev.tollgate.migrations.MigrationSettings;
import dev.tollgate.migrations.Migrations;
import dev.tollgate.migrations.Progress;
import dev.tollgate.migrations.Script;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A run of scripts outlives the leader. */
class MigrationFailoverTest {
  @TempDir private Path directory;

  @Test
  void scriptGoesOnWhenTheLeaderDiesBeforeEachKindOfStatement() throws Exception {
    Path scripts = Files.createDirectory(directory.resolve("scripts"));
    Files.writeString(
        scripts.resolve("V1__mixed.sql"),
        """
        CREATE TABLE counter(n INT);
        INSERT INTO counter VALUES (0);
        UPDATE counter SET n = n + 1;
        ALTER TABLE counter ADD COLUMN more INT DEFAULT 7;
        UPDATE counter SET n = n + 10;
        """);
    try (LocalCluster cluster =
        LocalCluster.started(Files.createDirectory(directory.resolve("nodes")), 3)) {
      Progress killer =
          new Progress() {
            @Override
            public void statementBegins(Script script, int number) {
              if (number == 3 || number == 4) {
                try {
                  String leader = cluster.leader();
                  cluster.stop(leader);
                  cluster.start(leader);
                } catch (Exception e) {
                  throw new IllegalStateException(e);
                }
              }
            }
          };
      Database database = Database.at(cluster.url(), Map.of(), getClass().getClassLoader());
      assertEquals(1, new Migrations(MigrationSettings.of(scripts, database), killer).migrate());
      try (Connection connection = DriverManager.getConnection(cluster.url());
          Statement statement = connection.createStatement();
          ResultSet row = statement.executeQuery("SELECT n, more FROM counter")) {
        row.next();
        assertEquals(11, row.getInt(1));
        assertEquals(7, row.getInt(2));
      }
    }
  }
}
