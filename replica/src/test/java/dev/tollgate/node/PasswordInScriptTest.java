package dev.tollgate.node;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.tollgate.jdbc.RegistryConnections;
import dev.tollgate.migrations.Queries;
import dev.tollgate.transport.StoppableClient;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A run is killed before the reply to SET PASSWORD: the statement is done, and counted. */
class PasswordInScriptTest {
  private static final Duration LEASE = Duration.ofSeconds(3);
  private static final String FIRST = "the first secret";
  private static final String SECOND = "the second secret";

  @TempDir private Path folder;
  private final PlainRunner runner = new PlainRunner();

  private void run(StoppableClient client, String password) throws Exception {
    runner.run(
        properties -> {
          Properties all = new Properties();
          all.putAll(properties);
          all.put("user", "DBA");
          all.put("password", password);
          return RegistryConnections.open(client.registry(), StoppableClient.URL, all);
        },
        "PUBLIC",
        folder,
        LEASE);
  }

  @Test
  void passwordIsSetOnce() throws Exception {
    try (MigrationNodes nodes = MigrationNodes.inMemory()) {
      try (Connection connection = nodes.connect()) {
        new Queries(connection).execute("CREATE USER dba PASSWORD '" + FIRST + "' ADMIN");
      }
      runner.write(
          folder,
          List.of(
              "CREATE TABLE t(id INT)",
              "INSERT INTO t VALUES (1)",
              "SET PASSWORD '" + SECOND + "'",
              "INSERT INTO t VALUES (2)"),
          /* eachByItself= */ false);
      StoppableClient killed =
          new StoppableClient(nodes::leader, "SET PASSWORD", StoppableClient.Stop.BEFORE_REPLY);
      Thread first =
          new Thread(
              () -> {
                try {
                  run(killed, FIRST);
                } catch (Exception e) {
                  // it is dead
                }
              },
              "killed-run");
      first.setDaemon(true);
      first.start();
      killed.stopped().get(60, TimeUnit.SECONDS);
      killed.die();
      StoppableClient next =
          new StoppableClient(nodes::leader, "SET PASSWORD", StoppableClient.Stop.BEFORE_REQUEST);
      next.goOn();
      run(next, SECOND);
      assertFalse(next.stopped().isDone(), "the password was set again");
      try (Connection connection =
          DriverManager.getConnection(
              "jdbc:tollgate://127.0.0.1:" + requireNonNull(nodes.leader()).getPort() + "/",
              "DBA",
              SECOND)) {
        assertEquals("3", new Queries(connection).ask("SELECT SUM(id) FROM t"));
      }
    }
  }
}
