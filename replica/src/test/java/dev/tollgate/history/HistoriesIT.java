package dev.tollgate.history;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tollgate.cluster.ClusterProcesses;
import dev.tollgate.cluster.NodeProcess;
import dev.tollgate.history.ListTransaction.End;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Random transactions over lists, while leaders are killed; afterwards what the clients saw is
 * checked against what their isolation levels promise. Clients send the same statements again with
 * -Dtollgate.seed; -Dtollgate.kills says how many leaders die in each test.
 */
class HistoriesIT {
  private static final long SEED = Long.getLong("tollgate.seed", System.nanoTime());
  private static final int KILLS = Integer.getInteger("tollgate.kills", 1);
  private static final int CLIENTS = 8;
  private static final int COMMITS_BETWEEN_KILLS = 100;

  @TempDir static Path directory;

  private static ClusterProcesses cluster;

  private final AtomicBoolean stopped = new AtomicBoolean();
  private final AtomicInteger committed = new AtomicInteger();

  /** Which levels the clients ask for. */
  enum Mix {
    READ_COMMITTED,
    SERIALIZABLE,
    BOTH
  }

  @BeforeAll
  static void start() throws Exception {
    System.out.println("HistoriesIT: -Dtollgate.seed=" + SEED);
    cluster = new ClusterProcesses("HistoriesIT", directory, 3);
  }

  @AfterAll
  static void stop() {
    cluster.close();
  }

  @Test
  void clientsOfBothLevelsSeeWhatTheirLevelsPromise() throws Exception {
    requirePromised(Mix.BOTH);
  }

  @Tag("nightly")
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "BOTH")
  void clientsOfOneLevelSeeWhatItPromises(Mix mix) throws Exception {
    requirePromised(mix);
  }

  private void requirePromised(Mix mix) throws Exception {
    String table = "LISTS_" + mix;
    createLists(table);
    ExecutorService threads = Executors.newFixedThreadPool(CLIENTS);
    List<Future<List<ListTransaction>>> clients = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      ListClient client = new ListClient(cluster, table, mix, SEED, i);
      clients.add(threads.submit(() -> client.run(stopped, committed)));
    }
    for (int kill = 0; kill < KILLS; kill++) {
      ClusterProcesses.awaitProgress(committed::get, COMMITS_BETWEEN_KILLS, clients);
      NodeProcess leader = cluster.leader();
      leader.kill();
      leader.startAndAwait();
    }
    ClusterProcesses.awaitProgress(committed::get, COMMITS_BETWEEN_KILLS, clients);
    stopped.set(true);
    List<ListTransaction> history = new ArrayList<>();
    for (Future<List<ListTransaction>> client : clients) {
      history.addAll(client.get(1, TimeUnit.MINUTES));
    }
    threads.shutdown();
    check(mix, history, lists(table));
  }

  private static void createLists(String table) throws SQLException {
    try (Connection connection = cluster.connect("");
        Statement statement = connection.createStatement()) {
      statement.execute(
          "CREATE TABLE " + table + "(K INT PRIMARY KEY, V VARCHAR(1000000) NOT NULL)");
      for (int key = 0; key < ListClient.LISTS; key++) {
        statement.execute("INSERT INTO " + table + " VALUES(" + key + ", '')");
      }
    }
  }

  /** The lists once nobody has a transaction any more; equal on all nodes. */
  private static Map<Integer, List<Integer>> lists(String table) throws SQLException {
    try (Connection connection = cluster.connect("");
        Statement statement = connection.createStatement()) {
      await()
          .atMost(ClusterProcesses.DEADLINE)
          .until(
              () -> {
                try (ResultSet count =
                    statement.executeQuery("SELECT COUNT(*) FROM TOLLGATE.TRANSACTIONS")) {
                  count.next();
                  return count.getInt(1) == 0;
                }
              });
      Map<Integer, List<Integer>> lists = new TreeMap<>();
      List<String> text = new ArrayList<>();
      String query = "SELECT K, V FROM " + table + " ORDER BY K";
      try (ResultSet rows = statement.executeQuery(query)) {
        while (rows.next()) {
          lists.put(rows.getInt(1), ListClient.values(rows.getString(2)));
          text.add(rows.getInt(1) + "|" + rows.getString(2) + "|");
        }
      }
      for (NodeProcess node : cluster.nodes()) {
        await()
            .atMost(ClusterProcesses.DEADLINE)
            .ignoreExceptions()
            .until(() -> cluster.rowsAt(node, query), text::equals);
      }
      return lists;
    }
  }

  private static void check(
      Mix mix, List<ListTransaction> history, Map<Integer, List<Integer>> lists) {
    Map<End, Long> ends =
        history.stream()
            .collect(
                Collectors.groupingBy(ListTransaction::end, TreeMap::new, Collectors.counting()));
    System.out.println(mix + ", " + KILLS + " kills: " + ends);
    assertEquals(
        List.of(), HistoryChecker.anomalies(history, lists), () -> "-Dtollgate.seed=" + SEED);
    assertEquals(ListClient.LISTS, lists.size());
    assertEquals(
        List.of(),
        lists.entrySet().stream().filter(list -> list.getValue().isEmpty()).toList(),
        "every list was used");
  }
}
