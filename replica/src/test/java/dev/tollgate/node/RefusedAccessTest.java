package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Limits;
import dev.tollgate.node.audit.AuditSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Who asks for what it has no right to is in the audit file. */
@Timeout(120)
class RefusedAccessTest {
  private static final Duration DEADLINE = Duration.ofSeconds(30);

  @TempDir Path directory;

  private Path file;
  private Node node;
  private boolean runs;

  @BeforeEach
  void start() throws Exception {
    file = directory.resolve("audit");
    node =
        new Node(
            LoopbackSettings.of("n1", null)
                .withAudit(new AuditSettings(file, AuditSettings.MAX_BYTES, 2, 2)),
            new ConnectionSettings(100, DEADLINE, 0, 0, 64L << 20),
            TestUsers.administrator("ROOT", "root-password"));
    runs = true;
    node.start();
    assertTrue(node.awaitLeadership(DEADLINE));
  }

  @AfterEach
  void stop() {
    if (runs) {
      runs = false;
      node.close();
    }
  }

  private Connection connect(String user) throws SQLException {
    return DriverManager.getConnection(
        "jdbc:tollgate://127.0.0.1:" + node.listenAddress().getPort() + "/",
        user,
        user + "-password");
  }

  private List<String> lines(String event) {
    try {
      return Files.readAllLines(file).stream()
          .filter(line -> line.contains("\"event\":\"" + event + "\""))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void refusedAccessHasALineWithoutValues() throws Exception {
    await().atMost(DEADLINE).until(() -> lines("administration").toString().contains("ROOT admin"));
    try (Connection root = connect("root");
        Statement statement = root.createStatement()) {
      statement.execute("CREATE TABLE T(V VARCHAR)");
      statement.execute("CREATE USER EVE PASSWORD 'EVE-password'");
    }
    try (Connection eve = connect("EVE");
        Statement statement = eve.createStatement()) {
      for (String sql :
          List.of(
              "SELECT * FROM T WHERE V = 'secret'",
              "CREATE SCHEMA EVES",
              "SELECT acquire_lock('job')")) {
        assertThrows(SQLException.class, () -> statement.execute(sql));
      }
      await().atMost(DEADLINE).until(() -> lines("access_refused").size() == 3);
      for (int i = 0; i < 20; i++) {
        assertThrows(SQLException.class, () -> statement.execute("SELECT acquire_lock('job')"));
      }
    }
    stop();
    List<String> lines = lines("access_refused");
    assertEquals(Limits.AUDITED_REPEATS, lines.size());
    assertTrue(lines.get(0).contains("\"user\":\"EVE\",\"session\":"), lines.get(0));
    assertTrue(lines.get(0).contains("\"address\":\"127.0.0.1\""), lines.get(0));
    assertTrue(lines.get(0).contains("object \\\"PUBLIC.T\\\""), lines.get(0));
    assertTrue(lines.get(1).contains("\"reason\":\""), lines.get(1));
    assertTrue(lines.get(2).contains("'job'"), lines.get(2));
    assertFalse(lines.toString().contains("secret"), lines.toString());
    List<String> rest = lines("accesses_refused");
    assertEquals(1, rest.size());
    assertTrue(rest.get(0).contains("\"user\":\"EVE\",\"count\":18,"), rest.get(0));
  }
}
