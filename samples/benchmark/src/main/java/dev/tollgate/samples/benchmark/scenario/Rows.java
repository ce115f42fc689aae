package dev.tollgate.samples.benchmark.scenario;

import dev.tollgate.samples.benchmark.measure.Crew;
import dev.tollgate.samples.benchmark.measure.Entrant;
import dev.tollgate.samples.benchmark.measure.Timings;
import dev.tollgate.samples.benchmark.measure.Worker;
import dev.tollgate.samples.benchmark.system.Etcd;
import dev.tollgate.samples.benchmark.system.Etcd.EtcdClient;
import dev.tollgate.samples.benchmark.system.Kind;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** Rows, and what locks and replication add to their cost. */
final class Rows {
  private static final int ROWS = 200;
  private static final int[] LOCKED_WRITERS = {1, 8};
  private static final int[] INSERTERS = {1, 16};
  private static final String FENCED = "fenced UPDATE";
  private static final String PLAIN = "plain UPDATE";

  /** The next key to insert, for all systems and runs. */
  private static final AtomicLong NEXT_KEY = new AtomicLong();

  private Rows() {}

  private static void makeTable(String url, String table, String fence) throws SQLException {
    SqlWorker.execute(
        url,
        "CREATE TABLE IF NOT EXISTS " + table + "(id INT PRIMARY KEY, v BIGINT)",
        "MERGE INTO " + table + "(id, v) KEY(id) SELECT x, 0 FROM SYSTEM_RANGE(1, " + ROWS + ")",
        fence.isEmpty() ? "SELECT 1" : "ALTER TABLE " + table + " " + fence);
  }

  static void fencedUpdate(Scenario scenario, Stage stage) throws Exception {
    String url = stage.tollgateUrl();
    makeTable(url, "bench_plain", "");
    makeTable(url, "bench_fenced", "FENCED BY LOCK 'bench-fence'");
    Entrant plain =
        new Entrant(
            PLAIN,
            () ->
                Crew.of(
                    1,
                    number ->
                        SqlWorker.of(
                            url,
                            SqlWorker.updating(
                                "UPDATE bench_plain SET v = v + 1 WHERE id = ?", 1))));
    Entrant table =
        new Entrant(
            FENCED,
            () ->
                Crew.of(
                    1,
                    number ->
                        SqlWorker.of(
                            url,
                            connection -> {
                              takeLock(connection, "bench-fence");
                              return SqlWorker.updating(
                                      "UPDATE bench_fenced SET v = v + 1 WHERE id = ?", 1)
                                  .prepare(connection);
                            })));
    Entrant clause =
        new Entrant(FENCED, () -> Crew.of(1, number -> SqlWorker.of(url, Rows::fencedByClause)));
    stage.burst(scenario, "table bound to a lock", List.of(table, plain));
    stage.burst(scenario, "FENCED BY LOCK ? TOKEN ?", List.of(clause, plain));
  }

  private static SqlWorker.Operation fencedByClause(Connection connection) throws SQLException {
    long token = takeLock(connection, "bench-clause");
    PreparedStatement update =
        connection.prepareStatement(
            "UPDATE bench_plain SET v = v + 1 WHERE id = ? FENCED BY LOCK ? TOKEN ?");
    return () -> {
      update.setInt(1, 2);
      update.setString(2, "bench-clause");
      update.setLong(3, token);
      SqlWorker.one(update.executeUpdate());
    };
  }

  private static long takeLock(Connection connection, String lock) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      return SqlWorker.number(statement, "SELECT acquire_lock('" + lock + "')");
    }
  }

  static void lockedWrite(Scenario scenario, Stage stage) throws Exception {
    String url = stage.tollgateUrl();
    makeTable(url, "bench_locked", "FENCED BY LOCK ('row-' || id)");
    for (int clients : LOCKED_WRITERS) {
      List<Entrant> entrants = new ArrayList<>();
      entrants.add(
          new Entrant(
              "tollgate: UPDATE ... LOCKED BY ?",
              () -> Crew.of(clients, number -> SqlWorker.of(url, updateLockedBy(number + 1)))));
      entrants.add(
          new Entrant(
              "tollgate: lock, fenced UPDATE, unlock",
              () -> Crew.of(clients, number -> SqlWorker.of(url, lockedUpdate(number + 1)))));
      var postgres = stage.running(Kind.POSTGRES);
      var etcd = stage.running(Kind.ETCD);
      if (postgres.isPresent()) {
        String postgresUrl = postgres.get().servers().endpoints();
        SqlWorker.execute(
            postgresUrl,
            "CREATE TABLE IF NOT EXISTS bench_row(id INT PRIMARY KEY, v BIGINT, fence BIGINT)",
            "INSERT INTO bench_row SELECT x, 0, 0 FROM generate_series(1, "
                + ROWS
                + ") x ON CONFLICT DO NOTHING");
        if (etcd.isPresent()) {
          Etcd locks = (Etcd) etcd.get().system();
          entrants.add(
              new Entrant(
                  "etcd lock, postgres UPDATE, etcd unlock",
                  () ->
                      Crew.of(
                          clients,
                          number ->
                              new TwoSystems(
                                  locks.connect(Stage.LEASE),
                                  DriverManager.getConnection(postgresUrl),
                                  number + 1))));
        }
        entrants.add(
            new Entrant(
                "postgres: advisory lock, UPDATE, unlock",
                () -> Crew.of(clients, number -> SqlWorker.of(postgresUrl, advisory(number + 1)))));
      }
      stage.burst(scenario, clients == 1 ? "1 client" : clients + " clients", entrants);
    }
  }

  private static SqlWorker.Preparation updateLockedBy(int id) {
    return connection -> {
      PreparedStatement update =
          connection.prepareStatement("UPDATE bench_locked SET v = v + 1 WHERE id = ? LOCKED BY ?");
      return () -> {
        update.setInt(1, id);
        update.setString(2, "row-" + id);
        SqlWorker.one(update.executeUpdate());
      };
    };
  }

  private static SqlWorker.Preparation lockedUpdate(int id) {
    return connection -> {
      PreparedStatement acquire = connection.prepareStatement("SELECT acquire_lock(?)");
      PreparedStatement update =
          connection.prepareStatement("UPDATE bench_locked SET v = v + 1 WHERE id = ?");
      PreparedStatement release = connection.prepareStatement("SELECT release_lock(?)");
      return () -> {
        acquire.setString(1, "row-" + id);
        SqlWorker.number(acquire);
        update.setInt(1, id);
        SqlWorker.one(update.executeUpdate());
        release.setString(1, "row-" + id);
        SqlWorker.number(release);
      };
    };
  }

  private static SqlWorker.Preparation advisory(int id) {
    return connection -> {
      PreparedStatement acquire = connection.prepareStatement("SELECT pg_advisory_lock(?)");
      PreparedStatement update =
          connection.prepareStatement("UPDATE bench_row SET v = v + 1 WHERE id = ?");
      PreparedStatement release = connection.prepareStatement("SELECT pg_advisory_unlock(?)");
      return () -> {
        acquire.setLong(1, id);
        acquire.executeQuery().close();
        update.setInt(1, id);
        SqlWorker.one(update.executeUpdate());
        release.setLong(1, id);
        release.executeQuery().close();
      };
    };
  }

  /** What has to be done where the lock and the row are in different systems. */
  private static final class TwoSystems implements Worker {
    private final EtcdClient locks;
    private final Connection database;
    private final PreparedStatement update;
    private final int id;

    TwoSystems(EtcdClient locks, Connection database, int id) throws SQLException {
      this.locks = locks;
      this.database = database;
      this.id = id;
      this.update =
          database.prepareStatement(
              "UPDATE bench_row SET v = v + 1, fence = ? WHERE id = ? AND fence <= ?");
    }

    @Override
    public void operate(Timings timings) throws Exception {
      long begin = System.nanoTime();
      long token = locks.acquireForToken("row-" + id);
      update.setLong(1, token);
      update.setInt(2, id);
      update.setLong(3, token);
      SqlWorker.one(update.executeUpdate());
      locks.release("row-" + id);
      timings.operation(System.nanoTime() - begin);
    }

    @Override
    public void dismiss() throws Exception {
      database.close();
      locks.disconnect();
    }
  }

  static void reads(Scenario scenario, Stage stage) throws Exception {
    String url = stage.tollgateUrl();
    makeTable(url, "bench_plain", "");
    List<Entrant> entrants = new ArrayList<>();
    for (String consistency : List.of("linearizable", "leader", "any")) {
      entrants.add(
          new Entrant(
              "tollgate " + consistency,
              () ->
                  Crew.of(
                      1,
                      number ->
                          SqlWorker.of(
                              url + "?readConsistency=" + consistency,
                              SqlWorker.reading("SELECT v FROM bench_plain WHERE id = ?", 1)))));
    }
    var etcd = stage.running(Kind.ETCD);
    if (etcd.isPresent()) {
      Etcd keys = (Etcd) etcd.get().system();
      keys.write("bench-read");
      for (boolean serializable : new boolean[] {false, true}) {
        entrants.add(
            new Entrant(
                serializable ? "etcd serializable" : "etcd linearizable",
                () -> Crew.of(1, number -> new EtcdReader(keys, serializable))));
      }
    }
    stage.burst(scenario, "1 client, one row or key", entrants);
  }

  private record EtcdReader(Etcd keys, boolean serializable) implements Worker {
    @Override
    public void operate(Timings timings) throws Exception {
      long begin = System.nanoTime();
      if (keys.read("bench-read", serializable) != 1) {
        throw new IllegalStateException("the key is not there");
      }
      timings.operation(System.nanoTime() - begin);
    }

    @Override
    public void dismiss() {}
  }

  static void embeddedH2(Scenario scenario, Stage stage) throws Exception {
    List<Database> databases =
        List.of(
            new Database("tollgate", stage.tollgateUrl()),
            new Database("h2 in memory", "jdbc:h2:mem:benchmark;DB_CLOSE_DELAY=-1"),
            new Database("h2 in a file", "jdbc:h2:file:" + stage.directory().resolve("h2")));
    for (Database database : databases) {
      makeTable(database.url(), "bench_plain", "");
      SqlWorker.execute(
          database.url(),
          "CREATE TABLE IF NOT EXISTS bench_insert(id BIGINT PRIMARY KEY, name VARCHAR(50), v"
              + " BIGINT)");
    }
    for (int clients : INSERTERS) {
      stage.burst(
          scenario,
          "INSERT, " + (clients == 1 ? "1 client" : clients + " clients"),
          databases.stream()
              .map(
                  database ->
                      new Entrant(
                          database.name(),
                          () ->
                              Crew.of(
                                  clients, number -> SqlWorker.of(database.url(), Rows::insert))))
              .toList());
    }
    stage.burst(
        scenario,
        "point read, 1 client",
        databases.stream()
            .map(
                database ->
                    new Entrant(
                        database.name(),
                        () ->
                            Crew.of(
                                1,
                                number ->
                                    SqlWorker.of(
                                        database.url(),
                                        SqlWorker.reading(
                                            "SELECT v FROM bench_plain WHERE id = ?", 1)))))
            .toList());
    SqlWorker.execute(stage.tollgateUrl(), "DROP TABLE bench_insert");
  }

  private static SqlWorker.Operation insert(Connection connection) throws SQLException {
    PreparedStatement insert =
        connection.prepareStatement("INSERT INTO bench_insert(id, name, v) VALUES(?, ?, ?)");
    return () -> {
      long key = NEXT_KEY.incrementAndGet();
      insert.setLong(1, key);
      insert.setString(2, "row number " + key);
      insert.setLong(3, key);
      SqlWorker.one(insert.executeUpdate());
    };
  }

  private record Database(String name, String url) {}
}
