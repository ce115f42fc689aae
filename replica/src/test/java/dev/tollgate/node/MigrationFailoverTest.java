package dev.tollgate.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.migrations.Database;
import dev.tollgate.migrations.MigrationException;
import dev.tollgate.migrations.MigrationSettings;
import dev.tollgate.migrations.Migrations;
import dev.tollgate.migrations.Progress;
import dev.tollgate.migrations.Script;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A run of scripts outlives the leader. */
class MigrationFailoverTest {
  @TempDir private Path directory;

  private interface Event {
    void happen(LocalCluster cluster) throws Exception;
  }

  private static Migrations migrations(
      Path scripts, LocalCluster cluster, List<Integer> before, Event event)
      throws MigrationException {
    Progress progress =
        new Progress() {
          @Override
          public void statementBegins(Script script, int number) {
            if (before.contains(number)) {
              try {
                event.happen(cluster);
              } catch (Exception e) {
                throw new IllegalStateException(e);
              }
            }
          }
        };
    Database database =
        Database.at(
            cluster.url(),
            Map.of("failoverTimeout", "6s"),
            MigrationFailoverTest.class.getClassLoader());
    return new Migrations(MigrationSettings.of(scripts, database), progress);
  }

  private Path scripts() throws IOException {
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
    return scripts;
  }

  private LocalCluster cluster() throws IOException {
    return LocalCluster.started(Files.createDirectory(directory.resolve("nodes")), 3);
  }

  private static void assertAppliedOnce(LocalCluster cluster) throws SQLException {
    try (Connection connection = DriverManager.getConnection(cluster.url());
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT n, more FROM counter")) {
      row.next();
      assertEquals(11, row.getInt(1));
      assertEquals(7, row.getInt(2));
    }
  }

  @Test
  void scriptGoesOnWhenTheLeaderDiesBeforeEachKindOfStatement() throws Exception {
    try (LocalCluster cluster = cluster()) {
      Event leaderDies =
          running -> {
            String leader = running.leader();
            running.stop(leader);
            running.start(leader);
          };
      assertEquals(1, migrations(scripts(), cluster, List.of(3, 4), leaderDies).migrate());
      assertAppliedOnce(cluster);
    }
  }

  @Test
  void runWithoutAQuorumSaysSoAndTheNextFinishes() throws Exception {
    Path scripts = scripts();
    try (LocalCluster cluster = cluster()) {
      Event quorumDies =
          running -> {
            running.stop("n1");
            running.stop("n2");
          };
      MigrationException ended =
          assertThrows(
              MigrationException.class,
              () -> migrations(scripts, cluster, List.of(3), quorumDies).migrate());
      assertEquals(MigrationException.Reason.UNREACHABLE, ended.reason(), ended.getMessage());
      assertTrue(ended.getMessage().contains("V1__mixed.sql:3"), ended.getMessage());
      cluster.start("n1");
      cluster.start("n2");
      assertEquals(1, migrations(scripts, cluster, List.of(), quorumDies).migrate());
      assertAppliedOnce(cluster);
    }
  }
}
