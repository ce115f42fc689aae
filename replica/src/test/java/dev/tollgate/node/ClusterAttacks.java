package dev.tollgate.node;

import static dev.tollgate.node.RawClient.execute;

import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;

/**
 * What one connection may do to stall a cluster, by name. Each attack repeats itself until it is
 * told to stop; being refused does not stop it.
 */
final class ClusterAttacks {
  /** Rows of the table BIG. */
  static final int ROWS = 4_600 << 4;

  private static final String NEVER_ENDS =
      "SELECT COUNT(*) FROM SYSTEM_RANGE(1, 1000000) A, SYSTEM_RANGE(1, 1000000) B"
          + " WHERE A.X + B.X = 1";
  private static final Request.SessionOptions OPTIONS =
      new Request.SessionOptions(ReadConsistency.LINEARIZABLE, 60_000);

  /** An attack that works on one JDBC connection, once. */
  private interface BySql {
    void run(Connection connection) throws SQLException;
  }

  /** An attack that sends requests of its own. */
  private interface ByRequests {
    void run(RawClient client) throws IOException;
  }

  /** Ends the connection of an attack. */
  private interface Hangup {
    void run() throws IOException, SQLException;
  }

  private final String url;
  private final InetSocketAddress leader;
  private final Map<String, Runnable> all = new LinkedHashMap<>();
  private volatile boolean stopped;
  private volatile Hangup open = () -> {};
  private int number;

  ClusterAttacks(String url, InetSocketAddress leader) {
    this.url = url;
    this.leader = leader;
    statements();
    connections();
  }

  /** The attacks by their names. */
  Map<String, Runnable> all() {
    return all;
  }

  /** What the attacks work with. */
  static void prepare(Statement statement) throws SQLException {
    statement.execute("CREATE TABLE BIG(ID INT PRIMARY KEY, V VARCHAR, N INT)");
    statement.execute(
        "INSERT INTO BIG SELECT X, REPEAT('a', 50) || X, X FROM SYSTEM_RANGE(1, 4600)");
    for (int rows = 4_600; rows < ROWS; rows *= 2) {
      statement.execute("INSERT INTO BIG SELECT ID + " + rows + ", V, N FROM BIG");
    }
    statement.execute("CREATE TABLE SINK(A BIGINT, B VARCHAR)");
    statement.execute("CREATE TABLE PARENT(ID INT PRIMARY KEY)");
    statement.execute(
        "CREATE TABLE CHILD(ID INT PRIMARY KEY, P INT REFERENCES PARENT ON DELETE CASCADE)");
    statement.execute("CREATE SEQUENCE NUMBERS");
  }

  private void statements() {
    int deep = 20_000;
    sql("nested parentheses", "SELECT " + "(".repeat(deep) + "1" + ")".repeat(deep));
    sql("nested queries", "SELECT " + "(SELECT ".repeat(deep) + "1" + ")".repeat(deep));
    sql("long IN list", "DELETE FROM BIG WHERE N - 9 IN (-1" + ", -1".repeat(200_000) + ")");
    sql(
        "cross join that writes",
        "INSERT INTO SINK SELECT A.N, 'x' FROM BIG A, BIG B WHERE A.N + B.N = -1");
    sql(
        "recursive query that writes",
        "INSERT INTO SINK(A) WITH RECURSIVE R(X) AS (SELECT 1 UNION ALL SELECT X + 1 FROM R WHERE X"
            + " < 100000000) SELECT COUNT(*) FROM R");
    sql("LIKE", "UPDATE BIG SET N = 1 WHERE V LIKE '%a%a%a%a%a%a%a%b'");
    sql("regular expression", "UPDATE BIG SET N = 1 WHERE REGEXP_LIKE(V, '(a+)+$')");
    sql(
        "GROUP BY that writes",
        "INSERT INTO SINK SELECT COUNT(*), V FROM BIG GROUP BY V HAVING COUNT(*) < 0");
    sql("sort that writes", "INSERT INTO SINK SELECT N, V FROM BIG ORDER BY V DESC, N LIMIT 1");
    sql("write of all rows", "UPDATE BIG SET N = N + 1");
    sql("SCRIPT", "SCRIPT");
    sql("locks in a query", "SELECT SUM(try_acquire_lock('l' || X)) FROM SYSTEM_RANGE(1, 1000000)");
    sql("sequence", "SELECT SUM(NEXT VALUE FOR NUMBERS) FROM SYSTEM_RANGE(1, 1000000)");
    sql("sequence that writes", "INSERT INTO SINK(A) SELECT NEXT VALUE FOR NUMBERS FROM BIG");
    sql("index", "CREATE INDEX IF NOT EXISTS BV ON BIG(V, N)", "DROP INDEX IF EXISTS BV");
    sql(
        "new column",
        "ALTER TABLE BIG ADD COLUMN C INT DEFAULT 1",
        "ALTER TABLE BIG DROP COLUMN C");
    sql(
        "new constraint",
        "ALTER TABLE BIG ADD CONSTRAINT K CHECK(N > -5)",
        "ALTER TABLE BIG DROP CONSTRAINT K");
    sql("tables made and dropped", "CREATE TABLE MADE(ID INT PRIMARY KEY)", "DROP TABLE MADE");
    sql("snapshots", "CALL take_snapshot()");
    sql("comparisons of replicas", "CALL verify_replicas()");
    sql("leases", "SELECT create_lease(100)");
    bySql("large parameter", ClusterAttacks::writeLargeParameter);
    bySql("batch", ClusterAttacks::batch);
    bySql("series", ClusterAttacks::series);
    bySql("foreign key", ClusterAttacks::cascade);
    bySql("metadata", ClusterAttacks::metadata);
    bySql("open results", ClusterAttacks::openResults);
    bySql("prepared statements", this::prepareMany);
    bySql("transaction undone", ClusterAttacks::undo);
  }

  private void connections() {
    byRequests("queries that never end", this::queries);
    byRequests("definitions beside queries", this::definitionsBesideQueries);
    byRequests("heartbeats", ClusterAttacks::heartbeats);
    byRequests("snapshots read", ClusterAttacks::readSnapshots);
    byRequests("answers not read", this::readNothing);
    byRequests("statements seen once", this::planMany);
    byRequests("sessions opened", ClusterAttacks::openSessions);
  }

  private void sql(String name, String... statements) {
    bySql(
        name,
        connection -> {
          for (String sql : statements) {
            try (Statement statement = connection.createStatement()) {
              statement.execute(sql);
            }
          }
        });
  }

  private void bySql(String name, BySql attack) {
    all.put(
        name,
        () -> {
          while (!stopped) {
            try (Connection connection = DriverManager.getConnection(url)) {
              open = () -> connection.abort(Runnable::run);
              while (!stopped) {
                repeat(attack, connection);
              }
            } catch (SQLException e) {
              // a connection that is gone is replaced
            }
          }
        });
  }

  private static void repeat(BySql attack, Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("DELETE FROM SINK");
    }
    try {
      attack.run(connection);
    } catch (SQLException e) {
      if (connection.isClosed() || String.valueOf(e.getSQLState()).startsWith("08")) {
        throw e;
      }
    }
  }

  private void byRequests(String name, ByRequests attack) {
    all.put(
        name,
        () -> {
          while (!stopped) {
            try (RawClient client = new RawClient(leader)) {
              open = client::close;
              client.hello();
              client.call(new Request.OpenSession(5_000, 5_000, OPTIONS));
              attack.run(client);
            } catch (IOException e) {
              // a connection that is gone is replaced
            }
          }
        });
  }

  /** Has attacks begin again. */
  void begin() {
    stopped = false;
  }

  /** Ends the attack that runs, and its connection. */
  void stop() throws IOException, SQLException {
    stopped = true;
    open.run();
  }

  private static void writeLargeParameter(Connection connection) throws SQLException {
    try (PreparedStatement insert = connection.prepareStatement("INSERT INTO SINK VALUES(1, ?)")) {
      insert.setString(1, "x".repeat(1_000_000));
      insert.executeUpdate();
    }
  }

  private static void batch(Connection connection) throws SQLException {
    try (PreparedStatement update =
        connection.prepareStatement("UPDATE BIG SET V = V WHERE N = ? - 1000000000")) {
      for (int i = 0; i < Protocol.MAX_BATCH_SETS; i++) {
        update.setInt(1, i);
        update.addBatch();
      }
      update.executeBatch();
    }
  }

  private static void series(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      for (int i = 0; i < Protocol.MAX_SERIES_STATEMENTS; i++) {
        statement.addBatch("UPDATE BIG SET V = V WHERE N = -" + (1_000_000 + i));
      }
      statement.executeBatch();
    }
  }

  private static void cascade(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("MERGE INTO PARENT VALUES(1)");
      statement.execute("INSERT INTO CHILD SELECT X, 1 FROM SYSTEM_RANGE(1, 4600)");
      for (int rows = 4_600; rows < 40_000; rows *= 2) {
        statement.execute("INSERT INTO CHILD SELECT ID + " + rows + ", 1 FROM CHILD");
      }
    } finally {
      try (Statement statement = connection.createStatement()) {
        statement.execute("DELETE FROM PARENT");
      }
    }
  }

  private static void metadata(Connection connection) throws SQLException {
    connection.getMetaData().getColumns(null, "%", "%", "%").close();
    connection.getMetaData().getTables(null, "%", "%", null).close();
  }

  private static void openResults(Connection connection) throws SQLException {
    List<ResultSet> results = new ArrayList<>();
    try {
      for (int i = 0; i < 150; i++) {
        Statement statement = connection.createStatement();
        statement.setFetchSize(1);
        results.add(statement.executeQuery("SELECT * FROM BIG"));
      }
    } finally {
      for (ResultSet result : results) {
        result.getStatement().close();
      }
    }
  }

  private void prepareMany(Connection connection) throws SQLException {
    for (int i = 0; i < 500 && !stopped; i++) {
      connection.prepareStatement("SELECT V FROM BIG WHERE ID = ? + " + ++number);
    }
  }

  private static void undo(Connection connection) throws SQLException {
    connection.setAutoCommit(false);
    try (Statement statement = connection.createStatement()) {
      for (int i = 0; i < 6; i++) {
        statement.execute("UPDATE BIG SET N = N + 1");
      }
    }
    connection.rollback();
  }

  /** Reads answers until nothing more is to be done. */
  private void drain(RawClient client) throws IOException {
    while (!stopped) {
      client.receive();
    }
  }

  private void queries(RawClient client) throws IOException {
    for (int i = 1; i <= 64; i++) {
      client.write(execute(i, NEVER_ENDS));
    }
    drain(client);
  }

  private void definitionsBesideQueries(RawClient client) throws IOException {
    long sequence = 0;
    while (!stopped) {
      for (int i = 0; i < 8; i++) {
        client.write(execute(++sequence, NEVER_ENDS.replace("COUNT(*)", "COUNT(*), MAX(A.X)")));
      }
      for (int i = 0; i < 4; i++) {
        client.write(execute(++sequence, "CREATE TABLE BESIDE" + sequence + "(ID INT)"));
      }
      for (int i = 0; i < 12; i++) {
        client.receive();
      }
    }
  }

  private static void heartbeats(RawClient client) throws IOException {
    List<Long> ids = LongStream.rangeClosed(1, Protocol.MAX_HEARTBEAT_IDS).boxed().toList();
    for (int i = 0; i < 16; i++) {
      client.write(new Request.Heartbeat(ids, ids));
    }
    for (int i = 0; i < 16; i++) {
      client.receive();
    }
  }

  private static void readSnapshots(RawClient client) throws IOException {
    for (int i = 0; i < 1_000; i++) {
      Reply opened = client.call(new Request.OpenSnapshot(true));
      if (opened instanceof Reply.SnapshotOpened snapshot) {
        for (long at = 0; at < snapshot.sizeBytes(); at += Protocol.MAX_SNAPSHOT_PART_BYTES) {
          client.call(new Request.ReadSnapshot(at, Protocol.MAX_SNAPSHOT_PART_BYTES));
        }
      }
    }
  }

  private void readNothing(RawClient client) throws IOException {
    for (long i = 1; !stopped; i++) {
      client.write(execute(i, "SELECT REPEAT('x', 1000000)"));
    }
  }

  private void planMany(RawClient client) throws IOException {
    String columns = "N + 1, ".repeat(250);
    for (long i = 1; !stopped; i += 60) {
      for (long j = i; j < i + 60; j++) {
        client.write(execute(j, "SELECT " + columns + ++number + " FROM BIG WHERE ID < 0"));
      }
      for (int j = 0; j < 60; j++) {
        client.receive();
      }
    }
  }

  private static void openSessions(RawClient client) throws IOException {
    for (int i = 0; i < 10_000; i++) {
      client.call(new Request.OpenSession(1_000, 1_000, OPTIONS));
    }
  }
}
