package dev.tollgate.samples.benchmark.scenario;

import dev.tollgate.jdbc.TollgateConnection;
import dev.tollgate.samples.benchmark.measure.Crew;
import dev.tollgate.samples.benchmark.measure.Entrant;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** Single writes beside a lock function, and several writes one by one and in one request. */
final class RowWrites {
  private static final int[] CLIENTS = {1, 16, 64};
  private static final int TEXTS = 10;

  /** Rows that each client has for itself. */
  private static final int ROWS_EACH = 10;

  private static final AtomicLong NEXT_KEY = new AtomicLong();

  private RowWrites() {}

  static void run(Scenario scenario, Stage stage) throws Exception {
    String url = stage.tollgateUrl();
    SqlWorker.execute(
        url,
        "CREATE TABLE IF NOT EXISTS bench_write(id INT PRIMARY KEY, v BIGINT)",
        "MERGE INTO bench_write(id, v) KEY(id) SELECT x, 0 FROM SYSTEM_RANGE(0, 639)",
        "CREATE TABLE IF NOT EXISTS bench_added(id BIGINT PRIMARY KEY, v BIGINT)");
    for (int clients : CLIENTS) {
      String who = clients == 1 ? "1 client" : clients + " clients";
      stage.burst(
          scenario,
          "one write, " + who,
          List.of(
              entrant("acquire_lock of a held lock", url, clients, RowWrites::acquire),
              entrant("INSERT", url, clients, (connection, row) -> insert(connection)),
              entrant("UPDATE by key", url, clients, RowWrites::update)));
      stage.burst(
          scenario,
          "10 texts, " + who,
          List.of(
              entrant("as a batch", url, clients, (c, row) -> texts(c, row, true)),
              entrant("one by one", url, clients, (c, row) -> texts(c, row, false))));
      stage.burst(
          scenario,
          "3 changes and COMMIT, " + who,
          List.of(
              entrant("pipelined", url, clients, (c, row) -> changes(c, row, true)),
              entrant("one by one", url, clients, (c, row) -> changes(c, row, false))));
      stage.burst(
          scenario,
          "SELECT FOR UPDATE, 2 UPDATEs, COMMIT, " + who,
          List.of(
              entrant("pipelined", url, clients, (c, row) -> locked(c, row, true)),
              entrant("one by one", url, clients, (c, row) -> locked(c, row, false))));
    }
    SqlWorker.execute(url, "DROP TABLE bench_added");
  }

  private interface Work {
    SqlWorker.Operation prepare(Connection connection, int row) throws SQLException;
  }

  private static Entrant entrant(String name, String url, int clients, Work work) {
    return new Entrant(
        name,
        () ->
            Crew.of(
                clients,
                number ->
                    SqlWorker.of(url, connection -> work.prepare(connection, ROWS_EACH * number))));
  }

  private static SqlWorker.Operation acquire(Connection connection, int row) throws SQLException {
    PreparedStatement acquire = connection.prepareStatement("SELECT acquire_lock(?)");
    return () -> {
      acquire.setString(1, "write-" + row);
      SqlWorker.number(acquire);
    };
  }

  private static SqlWorker.Operation insert(Connection connection) throws SQLException {
    PreparedStatement insert = connection.prepareStatement("INSERT INTO bench_added VALUES(?, 0)");
    return () -> {
      insert.setLong(1, NEXT_KEY.incrementAndGet());
      SqlWorker.one(insert.executeUpdate());
    };
  }

  private static SqlWorker.Operation update(Connection connection, int row) throws SQLException {
    return SqlWorker.updating("UPDATE bench_write SET v = v + 1 WHERE id = ?", row)
        .prepare(connection);
  }

  private static SqlWorker.Operation texts(Connection connection, int row, boolean batch)
      throws SQLException {
    Statement statement = connection.createStatement();
    return () -> {
      for (int i = 0; i < TEXTS; i++) {
        String sql = "UPDATE bench_write SET v = v + " + i + " WHERE id = " + (row + i);
        if (batch) {
          statement.addBatch(sql);
        } else {
          SqlWorker.one(statement.executeUpdate(sql));
        }
      }
      if (batch) {
        for (int count : statement.executeBatch()) {
          SqlWorker.one(count);
        }
      }
    };
  }

  private static SqlWorker.Operation changes(Connection connection, int row, boolean pipelined)
      throws SQLException {
    connection.setAutoCommit(false);
    PreparedStatement write =
        connection.prepareStatement("UPDATE bench_write SET v = v + 1 WHERE id = ?");
    return () -> {
      begin(connection, pipelined);
      for (int i = 0; i < 3; i++) {
        write.setInt(1, row + i);
        write.executeUpdate();
      }
      connection.commit();
    };
  }

  private static SqlWorker.Operation locked(Connection connection, int row, boolean pipelined)
      throws SQLException {
    connection.setAutoCommit(false);
    PreparedStatement read =
        connection.prepareStatement("SELECT v FROM bench_write WHERE id = ? FOR UPDATE");
    PreparedStatement write =
        connection.prepareStatement("UPDATE bench_write SET v = ? WHERE id = ?");
    return () -> {
      begin(connection, pipelined);
      read.setInt(1, row);
      long value = SqlWorker.number(read);
      for (int i = 0; i < 2; i++) {
        write.setLong(1, value + 1);
        write.setInt(2, row + i);
        write.executeUpdate();
      }
      connection.commit();
    };
  }

  private static void begin(Connection connection, boolean pipelined) throws SQLException {
    if (pipelined) {
      connection.unwrap(TollgateConnection.class).pipelineTransaction();
    }
  }
}
