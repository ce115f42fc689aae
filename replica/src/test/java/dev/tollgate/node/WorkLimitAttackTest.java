package dev.tollgate.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The costliest single statements, by a user with a work limit, on three nodes with a log. An
 * honest client writes meanwhile; its longest write is printed beside each statement.
 */
class WorkLimitAttackTest {
  private static final int ROWS = Integer.getInteger("tollgate.attack.rows", 4_600 << 4);
  private static final int LIMIT = Integer.getInteger("tollgate.attack.work", 1);

  /**
   * With one node, the longest write is what each node of a cluster on machines of its own needs.
   */
  private static final int NODES = Integer.getInteger("tollgate.attack.nodes", 3);

  /** Whether each statement is also run without the limit. */
  private static final boolean COMPARE = Boolean.getBoolean("tollgate.attack.compare");

  /** What an honest write may take in a JVM with three nodes and the attacker. */
  private static final Duration BOUND =
      Duration.ofMillis(Long.getLong("tollgate.attack.bound", 8_000));

  /** Too much work, or a limit of a user. */
  private static final Set<String> REFUSED = Set.of("54001", "53300");

  @TempDir Path directory;

  private volatile boolean honestEnds;
  private volatile long begunNanos;
  private volatile long worstNanos;
  private volatile String failure = "";

  /** Statements that go together, of which the last is beyond the limit. */
  private static List<List<String>> attacks() {
    return List.of(
        List.of("UPDATE EVE.BIG SET N = N + 1"),
        List.of("DELETE FROM EVE.BIG WHERE N < -1"),
        List.of("UPDATE EVE.BIG SET N = 1 WHERE V LIKE '%a%a%b'"),
        List.of("INSERT INTO EVE.SINK SELECT COUNT(*) FROM EVE.BIG GROUP BY V HAVING COUNT(*) < 0"),
        List.of("INSERT INTO EVE.SINK SELECT N FROM EVE.BIG ORDER BY V DESC, N LIMIT 1"),
        List.of("CREATE INDEX EVE.BV ON EVE.BIG(V, N)"),
        List.of("ALTER TABLE EVE.BIG ADD COLUMN C INT DEFAULT 1"),
        List.of("ALTER TABLE EVE.BIG ADD CONSTRAINT K CHECK(N > -5)"),
        List.of("CREATE TABLE EVE.COPY AS SELECT * FROM EVE.BIG"),
        List.of("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", "DELETE FROM EVE.SINK"));
  }

  @Test
  void statementsOfALimitedUserStallNobody() throws Exception {
    try (LocalCluster cluster = LocalCluster.started(directory, NODES)) {
      try (Connection first = cluster.connect();
          Statement statement = first.createStatement()) {
        statement.execute("CREATE USER ROOT PASSWORD 'root-password' ADMIN");
      }
      try (Connection root = connect(cluster, "root");
          Connection honest = connect(cluster, "root");
          Statement statement = root.createStatement()) {
        prepare(cluster, statement);
        Thread client = new Thread(() -> workHonestly(honest), "honest");
        client.start();
        StringBuilder report = new StringBuilder();
        for (List<String> attack : attacks()) {
          statement.execute("ALTER USER EVE WORK LIMIT " + LIMIT);
          String limited = run(cluster, attack);
          long limitedMillis = TimeUnit.NANOSECONDS.toMillis(worstNanos);
          assertTrue(REFUSED.contains(limited), () -> limited + " of " + attack);
          assertTrue(limitedMillis < BOUND.toMillis(), attack::toString);
          report.append(String.format("  %6d ms", limitedMillis));
          if (COMPARE) {
            statement.execute("ALTER USER EVE WORK LIMIT 100");
            assertEquals("", run(cluster, attack), () -> "without limit: " + attack);
            long millis = TimeUnit.NANOSECONDS.toMillis(worstNanos);
            report.append(String.format(", without limit %6d ms", millis));
          }
          report.append(": ").append(attack).append(System.lineSeparator());
        }
        honestEnds = true;
        client.join();
        System.out.printf(
            "WorkLimitAttackTest: longest honest write beside a statement, %d rows, limit %d%n%s",
            ROWS, LIMIT, report);
        assertEquals("", failure);
        assertEquals(Set.of("EQUAL"), Set.copyOf(LocalCluster.verify(root).values()));
      }
    }
  }

  private static Connection connect(LocalCluster cluster, String user) throws SQLException {
    return DriverManager.getConnection(cluster.url(), user, user + "-password");
  }

  private static void prepare(LocalCluster cluster, Statement statement) throws SQLException {
    statement.execute("CREATE TABLE HONEST(ID INT PRIMARY KEY, N BIGINT)");
    statement.execute("INSERT INTO HONEST VALUES(1, 0)");
    statement.execute("CREATE USER EVE PASSWORD 'eve-password'");
    statement.execute("CREATE SCHEMA EVE AUTHORIZATION EVE");
    try (Connection eve = connect(cluster, "eve");
        Statement own = eve.createStatement()) {
      own.execute("CREATE TABLE EVE.SINK(N BIGINT)");
      own.execute("CREATE TABLE EVE.BIG(ID INT PRIMARY KEY, V VARCHAR, N INT)");
      own.execute(
          "INSERT INTO EVE.BIG SELECT X, REPEAT('a', 50) || X, X FROM SYSTEM_RANGE(1, 4600)");
      for (int rows = 4_600; rows < ROWS; rows *= 2) {
        own.execute("INSERT INTO EVE.BIG SELECT ID + " + rows + ", V, N FROM EVE.BIG");
      }
    }
  }

  /**
   * Runs the statements as the limited user, and returns the SQLState of the last one, or "" if it
   * was carried out. It is undone if it can be.
   */
  private String run(LocalCluster cluster, List<String> attack) throws SQLException {
    try (Connection eve = connect(cluster, "eve");
        Statement statement = eve.createStatement()) {
      eve.setAutoCommit(false);
      worstNanos = 0;
      try {
        for (String sql : attack) {
          statement.execute(sql);
        }
        return "";
      } catch (SQLException e) {
        return e.getSQLState();
      } finally {
        eve.rollback();
        worstNanos = Math.max(worstNanos, System.nanoTime() - begunNanos);
      }
    }
  }

  private void workHonestly(Connection connection) {
    try (Statement statement = connection.createStatement()) {
      while (!honestEnds) {
        begunNanos = System.nanoTime();
        statement.execute("UPDATE HONEST SET N = N + 1 WHERE ID = 1");
        worstNanos = Math.max(worstNanos, System.nanoTime() - begunNanos);
      }
    } catch (SQLException e) {
      failure = e.getSQLState() + " " + e.getMessage();
    }
  }
}
