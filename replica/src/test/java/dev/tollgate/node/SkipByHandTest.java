package dev.tollgate.node;

import static dev.tollgate.node.TestSql.run;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.log.CommandFailedException;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.log.SkipList;
import dev.tollgate.log.ratis.NodeDirectory;
import dev.tollgate.store.Poison;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A node without others that stops at a command of its log, and the way out. */
class SkipByHandTest {
  private static final Duration DEADLINE = Duration.ofSeconds(60);
  private static final Map<String, String> ALL_EQUAL = Map.of("n1", "EQUAL");
  private static final Pattern ADVICE =
      Pattern.compile("tollgate skip --data DIR --index (\\d+) --ordinal (\\d+)");

  @TempDir private Path directory;
  private LocalCluster cluster;

  @BeforeEach
  void startCluster() throws IOException {
    cluster = new LocalCluster(directory, 1, Duration.ZERO, RaftSettings.SNAPSHOT_LOG_BYTES);
    cluster.useDatabases(() -> Poison.ofWrites(database -> true));
    cluster.startAll();
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  private static List<Integer> ids(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT ARRAY_AGG(ID ORDER BY ID) FROM T")) {
      assertTrue(rows.next());
      return List.of((Object[]) rows.getArray(1).getArray()).stream()
          .map(id -> (Integer) id)
          .toList();
    }
  }

  /** What the node names, once it has stopped. */
  private SkipList.Skip awaitPoison() {
    await().atMost(DEADLINE).until(() -> cluster.node("n1").failure() != null);
    return named(assertInstanceOf(CommandFailedException.class, cluster.node("n1").failure()));
  }

  private static SkipList.Skip named(Throwable failure) {
    Matcher advice = ADVICE.matcher(String.valueOf(failure.getMessage()));
    assertTrue(advice.find(), failure.getMessage());
    return new SkipList.Skip(Long.parseLong(advice.group(1)), Integer.valueOf(advice.group(2)));
  }

  @Test
  void nodeThatStopsAtACommandGoesOnOnceItSkipsTheCommand() throws Exception {
    try (Connection bystander = cluster.connect();
        Connection victim = DriverManager.getConnection(cluster.url() + "?failoverTimeout=2m")) {
      run(bystander, "CREATE TABLE T(ID INT PRIMARY KEY)");
      run(bystander, "INSERT INTO T VALUES(1)");
      run(victim, "INSERT INTO T VALUES(2)");
      refusesToSkip(1, "stop it", "--index", "1000", "--ordinal", "0");
      CompletableFuture<SQLException> refused = new CompletableFuture<>();
      Thread client =
          new Thread(
              () ->
                  refused.complete(
                      assertThrows(
                          SQLException.class,
                          () -> run(victim, "INSERT INTO T SELECT 666 AS POISON"))));
      client.start();

      SkipList.Skip poison = awaitPoison();
      cluster.stopAll();
      cluster.startAll();
      assertEquals(poison, awaitPoison());
      cluster.stopAll();

      refusesToSkip(1, "there is no such command", "--index", "0");
      refusesToSkip(1, "there is no such command", "--index", "5", "--ordinal", "-1");
      refusesToSkip(2, "--index", "--ordinal", "0");
      refusesToSkip(2, "--index", "--index", "first");
      Ended skipped = tollgate("skip", "--data", data("n1"), index(poison), ordinal(poison));
      assertEquals(0, skipped.status(), skipped.output());
      assertTrue(skipped.output().contains(poison.toString()), skipped.output());
      assertEquals(List.of(poison), SkipList.read(directory.resolve("n1")).skips());
      cluster.startAll();
      cluster.leader();
      SQLException answer = refused.get(DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
      assertEquals("58T01", answer.getSQLState(), answer.getMessage());
      assertTrue(answer.getMessage().contains("skip"), answer.getMessage());
      Ended status = tollgate("status", "--url", cluster.url(), "--data", data("n1"));
      assertTrue(status.output().contains(poison.toString()), status.output());
      try (Connection later = cluster.connect()) {
        run(later, "INSERT INTO T VALUES(3)");
        assertEquals(List.of(1, 2, 3), ids(later));
        assertEquals(ALL_EQUAL, LocalCluster.verify(later));
        refusesToSkipWhatASnapshotHas(later, poison);
      }
      client.join();
    }
  }

  private record Ended(int status, String output) {}

  private String data(String id) {
    return directory.resolve(id).toString();
  }

  private static String index(SkipList.Skip skip) {
    return "--index=" + skip.logIndex();
  }

  private static String ordinal(SkipList.Skip skip) {
    return "--ordinal=" + skip.ordinal();
  }

  /** The program, as an operator starts it, but for the settings of its memory. */
  private Ended tollgate(String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of("-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path")));
    command.add("dev.tollgate.cli.Main");
    command.addAll(List.of(arguments));
    Path output = directory.resolve("output");
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    assertTrue(process.waitFor(DEADLINE.toSeconds(), TimeUnit.SECONDS), "it does not end");
    return new Ended(process.exitValue(), Files.readString(output));
  }

  private void refusesToSkip(int status, String reason, String... options) throws Exception {
    List<String> arguments = new ArrayList<>(List.of("skip", "--data", data("n1")));
    arguments.addAll(List.of(options));
    Ended ended = tollgate(arguments.toArray(new String[0]));
    assertEquals(status, ended.status(), ended.output());
    assertTrue(ended.output().contains(reason), ended.output());
    assertEquals(List.of(), SkipList.read(directory.resolve("n1")).skips());
  }

  private void refusesToSkipWhatASnapshotHas(Connection connection, SkipList.Skip poison)
      throws Exception {
    run(connection, "CALL take_snapshot()");
    cluster.stop("n1");
    IOException applied =
        assertThrows(IOException.class, () -> NodeDirectory.skip(directory.resolve("n1"), poison));
    assertTrue(applied.getMessage().contains("snapshot"), applied.getMessage());
    cluster.start("n1");
    await()
        .atMost(DEADLINE)
        .ignoreExceptions()
        .until(() -> LocalCluster.verify(connection).equals(ALL_EQUAL));
  }
}
