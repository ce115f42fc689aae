package dev.tollgate.samples.benchmark.scenario;

import dev.tollgate.samples.benchmark.measure.Crew;
import dev.tollgate.samples.benchmark.measure.Entrant;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;

/** Transactions of three statements and a commit: on rows of their own, and all on one hot row. */
final class Transactions {
  private static final int[] CLIENTS = {1, 16, 64};

  private Transactions() {}

  static void run(Scenario scenario, Stage stage) throws Exception {
    String url = stage.tollgateUrl();
    SqlWorker.execute(
        url,
        "CREATE TABLE IF NOT EXISTS bench_row(id INT PRIMARY KEY, v BIGINT)",
        "MERGE INTO bench_row(id, v) KEY(id) SELECT x, 0 FROM SYSTEM_RANGE(0, 199)");
    for (int clients : CLIENTS) {
      stage.burst(
          scenario,
          clients == 1 ? "1 client" : clients + " clients",
          List.of(
              new Entrant("rows of their own", () -> crew(url, clients, false)),
              new Entrant("one hot row", () -> crew(url, clients, true))));
    }
  }

  private static Crew crew(String url, int clients, boolean hot) throws Exception {
    return Crew.of(
        clients,
        number -> SqlWorker.of(url + "?lockTimeout=1m", c -> transaction(c, hot ? 0 : 2 * number)));
  }

  private static SqlWorker.Operation transaction(Connection connection, int row)
      throws SQLException {
    connection.setAutoCommit(false);
    PreparedStatement read =
        connection.prepareStatement("SELECT v FROM bench_row WHERE id = ? FOR UPDATE");
    PreparedStatement write =
        connection.prepareStatement("UPDATE bench_row SET v = ? WHERE id = ?");
    return () -> {
      read.setInt(1, row);
      long value = SqlWorker.number(read);
      for (int id = row; id <= row + 1; id++) {
        write.setLong(1, value + 1);
        write.setInt(2, id);
        SqlWorker.one(write.executeUpdate());
      }
      connection.commit();
    };
  }
}
