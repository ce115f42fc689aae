package dev.tollgate.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The time stands still within a transaction, as in H2. */
@Timeout(60)
class TransactionTimeTest {
  private static final String NOW = "SELECT CURRENT_TIMESTAMP(9)";

  /** Statements with which a transaction may begin. */
  private static final List<String> FIRST =
      List.of(
          NOW,
          "SELECT * FROM V",
          "EXPLAIN ANALYZE " + NOW,
          "INSERT INTO T(ID) VALUES(0)",
          "UPDATE T SET N = N + 1 WHERE ID = 99",
          "SELECT * FROM T WHERE ID = 99 FOR UPDATE",
          "SELECT COUNT(*) FROM T",
          "SAVEPOINT S0");

  static Stream<Arguments> cases() {
    return Stream.of("jdbc:h2:mem:", "jdbc:tollgate:mem:")
        .flatMap(
            url ->
                Stream.of(
                        Connection.TRANSACTION_READ_COMMITTED, Connection.TRANSACTION_SERIALIZABLE)
                    .flatMap(
                        level -> FIRST.stream().map(first -> Arguments.of(url, level, first))));
  }

  private static Connection open(String url) throws SQLException {
    Connection connection = DriverManager.getConnection(url + UUID.randomUUID());
    run(
        connection,
        "CREATE TABLE T(ID INT PRIMARY KEY, AT TIMESTAMP(9) WITH TIME ZONE DEFAULT"
            + " CURRENT_TIMESTAMP(9), N INT DEFAULT 0, U TIMESTAMP(9) WITH TIME ZONE DEFAULT"
            + " CURRENT_TIMESTAMP(9) ON UPDATE CURRENT_TIMESTAMP(9))");
    run(connection, "CREATE VIEW V AS SELECT CURRENT_TIMESTAMP(9)");
    run(connection, "INSERT INTO T(ID) VALUES(99)");
    return connection;
  }

  private static void run(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static List<OffsetDateTime> column(Connection connection, String sql)
      throws SQLException {
    List<OffsetDateTime> values = new ArrayList<>();
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      while (rows.next()) {
        values.add(rows.getObject(1, OffsetDateTime.class));
      }
    }
    return values;
  }

  private static OffsetDateTime now(Connection connection) throws SQLException {
    return column(connection, NOW).get(0);
  }

  private static void write(Connection connection) throws SQLException {
    run(connection, "INSERT INTO T(ID) VALUES(1)");
    run(connection, "INSERT INTO T(ID, AT) VALUES(2, CURRENT_TIMESTAMP(9))");
    run(connection, "INSERT INTO T(ID, AT) SELECT 3, CURRENT_TIMESTAMP(9) FROM V");
    run(connection, "INSERT INTO T(ID, AT) SELECT 4, * FROM V");
    try (PreparedStatement insert =
        connection.prepareStatement("INSERT INTO T(ID, AT) VALUES(?, CURRENT_TIMESTAMP(9))")) {
      for (int id = 5; id < 8; id++) {
        insert.setInt(1, id);
        insert.addBatch();
      }
      insert.executeBatch();
    }
    try (Statement series = connection.createStatement()) {
      series.addBatch("INSERT INTO T(ID) VALUES(8)");
      series.addBatch("INSERT INTO T(ID, AT) VALUES(9, LOCALTIMESTAMP(9))");
      series.executeBatch();
    }
    run(connection, "MERGE INTO T(ID, AT) KEY(ID) VALUES(10, NOW(9))");
    run(connection, "UPDATE T SET N = N + 1 WHERE ID = 99");
  }

  /** All times that the transaction shows, and has written. */
  private static List<OffsetDateTime> times(Connection connection) throws SQLException {
    List<OffsetDateTime> seen = new ArrayList<>(List.of(now(connection)));
    write(connection);
    seen.add(now(connection));
    seen.addAll(column(connection, "SELECT * FROM V"));
    seen.addAll(column(connection, "SELECT AT FROM T WHERE ID < 99"));
    seen.addAll(column(connection, "SELECT U FROM T"));
    seen.addAll(column(connection, NOW + " FROM T FOR UPDATE"));
    seen.addAll(column(connection, "SELECT AT FROM FINAL TABLE(INSERT INTO T(ID) VALUES(50))"));
    seen.addAll(
        column(connection, "SELECT CAST(LOCALTIMESTAMP(9) AS TIMESTAMP(9) WITH TIME ZONE)"));
    seen.addAll(
        column(
            connection, "SELECT CAST(CURRENT_DATE + LOCALTIME(9) AS TIMESTAMP(9) WITH TIME ZONE)"));
    return seen;
  }

  @ParameterizedTest
  @MethodSource("cases")
  void oneTransactionHasOneTime(String url, int level, String first) throws SQLException {
    try (Connection connection = open(url)) {
      OffsetDateTime before = now(connection);
      connection.setAutoCommit(false);
      connection.setTransactionIsolation(level);
      run(connection, first);
      List<OffsetDateTime> seen = times(connection);
      assertEquals(1, seen.stream().distinct().count(), () -> "times: " + seen);
      assertTrue(seen.get(0).isAfter(before), () -> before + " and then " + seen);
      connection.rollback();
      List<OffsetDateTime> second = times(connection);
      assertEquals(1, second.stream().distinct().count(), () -> "times: " + second);
      assertTrue(second.get(0).isAfter(seen.get(0)), "a new transaction, a new time");
      connection.commit();
      OffsetDateTime third = now(connection);
      assertTrue(third.isAfter(second.get(0)), "a new transaction, a new time");
      assertEquals(third, now(connection));
      connection.commit();
      OffsetDateTime fourth = now(connection);
      assertTrue(fourth.isAfter(third), "a new transaction, a new time");
      connection.rollback();
      assertTrue(now(connection).isAfter(fourth), "a new transaction, a new time");
      connection.setAutoCommit(true);
      assertTrue(now(connection).isAfter(third), "autocommit");
    }
  }

  @ParameterizedTest
  @MethodSource("cases")
  void zoneChangesTheOffsetOnly(String url, int level, String first) throws SQLException {
    try (Connection connection = open(url)) {
      connection.setAutoCommit(false);
      connection.setTransactionIsolation(level);
      run(connection, first);
      OffsetDateTime begun = now(connection);
      run(connection, "SET TIME ZONE '+05:30'");
      assertEquals(begun.toInstant(), now(connection).toInstant());
      run(connection, "INSERT INTO T(ID, AT) VALUES(1, LOCALTIMESTAMP(9))");
      assertEquals(
          List.of(begun.toInstant()),
          column(connection, "SELECT AT FROM T WHERE ID = 1").stream()
              .map(OffsetDateTime::toInstant)
              .toList());
      connection.rollback();
    }
  }

  @Test
  void eachStatementOfAutocommitHasItsOwn() throws SQLException {
    try (Connection connection = open("jdbc:tollgate:mem:")) {
      for (int id = 0; id < 5; id++) {
        run(connection, "INSERT INTO T(ID) VALUES(" + id + ")");
      }
      assertEquals(6, column(connection, "SELECT AT FROM T").stream().distinct().count());
    }
  }

  /** H2 begins a new time here, and PostgreSQL does not. */
  @Test
  void savepointsChangeNoTime() throws SQLException {
    try (Connection connection = open("jdbc:tollgate:mem:")) {
      connection.setAutoCommit(false);
      OffsetDateTime begun = now(connection);
      run(connection, "INSERT INTO T(ID) VALUES(1)");
      run(connection, "SAVEPOINT S");
      run(connection, "INSERT INTO T(ID) VALUES(2)");
      run(connection, "ROLLBACK TO SAVEPOINT S");
      run(connection, "INSERT INTO T(ID) VALUES(3)");
      assertEquals(begun, now(connection));
      assertEquals(List.of(begun, begun), column(connection, "SELECT AT FROM T WHERE ID < 99"));
      connection.rollback();
    }
  }

  @Test
  void lockFunctionsSeeTheTimeOfTheTransaction() throws SQLException {
    try (Connection connection = open("jdbc:tollgate:mem:")) {
      connection.setAutoCommit(false);
      run(connection, "INSERT INTO T(ID) VALUES(1)");
      run(connection, "SELECT acquire_lock('at ' || CURRENT_TIMESTAMP(9))");
      try (Statement statement = connection.createStatement();
          ResultSet rows =
              statement.executeQuery(
                  "SELECT COUNT(*) FROM TOLLGATE.LOCKS WHERE LOCK_NAME = 'at ' ||"
                      + " CURRENT_TIMESTAMP(9)")) {
        assertTrue(rows.next());
        assertEquals(1, rows.getInt(1));
      }
      connection.rollback();
    }
  }
}
