package dev.tollgate.node;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.jdbc.TollgateDriver;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.node.audit.AuditCheck;
import dev.tollgate.node.audit.AuditSettings;
import dev.tollgate.seal.DataKeys;
import dev.tollgate.transport.SnapshotDownload;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The audit files of three nodes. */
@Timeout(120)
class AuditTest {
  private static final Duration DEADLINE = Duration.ofSeconds(40);

  @TempDir Path directory;

  private Path files;
  private LocalCluster cluster;

  @BeforeEach
  void start() throws IOException {
    files = Files.createDirectory(directory.resolve("audit"));
    cluster =
        new LocalCluster(
            directory.resolve("nodes"), 3, Duration.ZERO, RaftSettings.SNAPSHOT_LOG_BYTES);
    cluster.audit(files);
    cluster.startAll();
  }

  @AfterEach
  void stopAll() {
    cluster.close();
  }

  /** The lines of a node about the log, without what differs by node. */
  private List<String> ofLog(String node) {
    return lines(node).stream()
        .filter(line -> line.contains("\"ordinal\":") && !line.contains("\"event\":\"audit_"))
        .map(line -> line.replace("\"node\":\"" + node + "\",", ""))
        .map(line -> line.replaceFirst(",\"chain\":\"[0-9a-f]{64}\"", ""))
        .map(line -> line.replaceFirst("\"time\":\"[^\"]*\"(.*\"time_of\":\"node\")", "$1"))
        .toList();
  }

  private Path activity(String node) {
    return files.resolve(node + ".activity");
  }

  private List<String> lines(String node) {
    try {
      List<String> lines = new ArrayList<>(Files.readAllLines(files.resolve(node)));
      lines.addAll(Files.readAllLines(activity(node)));
      return lines;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void awaitEqual(String mark) {
    await()
        .atMost(DEADLINE)
        .until(
            () ->
                cluster.nodes().keySet().stream()
                        .allMatch(
                            node -> ofLog(node).stream().anyMatch(line -> line.contains(mark)))
                    && cluster.nodes().keySet().stream().map(this::ofLog).distinct().count() == 1);
  }

  private void workload(Statement statement, String name) throws SQLException {
    statement.execute("SELECT acquire_lock('" + name + "')");
    statement.execute("SELECT force_release_lock('" + name + "')");
    assertThrows(
        SQLException.class,
        () -> statement.execute("INSERT INTO T VALUES('x') FENCED BY LOCK '" + name + "' TOKEN 1"));
    statement.execute("CREATE LOCK '" + name + "-done' PERMITS 3");
  }

  @Test
  void allNodesWriteTheSameLinesOfTheLogAndTheLeaderThoseOfCalls() throws Exception {
    try (Connection connection = cluster.connect();
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE T(V VARCHAR)");
      workload(statement, "job \"1\"");
      statement.execute("CALL set_transaction_limits(INTERVAL '60' SECOND, INTERVAL '30' SECOND)");
      statement.execute("CALL verify_replicas()");
      statement.execute("CALL take_snapshot()");
      statement.execute("CALL end_session(999999)");
      try (SnapshotDownload download = TollgateDriver.openSnapshot(cluster.url(), true)) {
        assertTrue(download.opened().sizeBytes() > 0);
      }
      workload(statement, "last");
    }
    awaitEqual("last-done");
    List<String> log = ofLog("n1");
    String all = String.join("\n", log);
    for (String expected :
        List.of(
            "\"event\":\"lock_granted\"",
            "\"event\":\"lock_forced\"",
            "\"event\":\"write_refused\"",
            "\"reason\":\"token_stale\"",
            "\"action\":\"create_lock\",\"object\":\"last-done permits 3\"",
            "\"action\":\"announce_node\"",
            "\"action\":\"set_transaction_limits\",\"object\":\"age 60000 ms, idle 30000 ms\"",
            "\"lock\":\"job \\\"1\\\"\"")) {
      assertTrue(all.contains(expected), expected + " is not in\n" + all);
    }
    assertEquals(2, log.stream().filter(line -> line.contains("\"lock_granted\"")).count());
    assertTrue(lines("n1").stream().noneMatch(line -> line.contains("1970-")), all);
    String leader = cluster.leader();
    for (String action :
        List.of("set_transaction_limits", "verify_replicas", "take_snapshot", "end_session")) {
      assertEquals(
          1,
          local(leader).stream()
              .filter(line -> line.contains("\"action\":\"" + action + "\""))
              .filter(line -> line.contains("\"session\":"))
              .count(),
          action);
    }
    await()
        .atMost(DEADLINE)
        .until(
            () ->
                local(leader).stream()
                    .anyMatch(
                        line ->
                            line.contains("\"action\":\"download_snapshot\"")
                                && line.contains("\"address\":")));
  }

  private List<String> local(String node) {
    return lines(node).stream().filter(line -> !line.contains("\"ordinal\":")).toList();
  }

  /** Whoever can write to the disk can make a line whose hash fits. */
  @Test
  void plantedPlaceBeyondTheLogSilencesNoNode() throws Exception {
    try (Connection connection = cluster.connect();
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE T(V VARCHAR)");
      workload(statement, "first");
      awaitEqual("first-done");
      String follower = cluster.follower();
      cluster.stop(follower);
      for (Path file : List.of(files.resolve(follower), activity(follower))) {
        List<String> lines = Files.readAllLines(file);
        String last = lines.get(lines.size() - 1);
        String body =
            "{\"time\":\"t\",\"event\":\"e\",\"index\":999999999999,\"ordinal\":0,\"number\":0,\"x\":1";
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        digest.update(last.substring(last.length() - 66, last.length() - 2).getBytes(US_ASCII));
        String chain = HexFormat.of().formatHex(digest.digest(body.getBytes(US_ASCII)));
        Files.writeString(
            file, body + ",\"chain\":\"" + chain + "\"}\n", StandardOpenOption.APPEND);
      }
      cluster.start(follower);
      workload(statement, "meanwhile");
      await()
          .atMost(DEADLINE)
          .until(
              () -> {
                List<String> lines = lines(follower);
                return lines.stream().anyMatch(line -> line.contains("meanwhile-done"))
                    && lines.stream().noneMatch(line -> line.contains("first-done"));
              });
    }
  }

  @Test
  void restartsReplayTheLogAndWriteNoLineTwice() throws Exception {
    try (Connection connection = cluster.connect();
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE T(V VARCHAR)");
      workload(statement, "first");
      awaitEqual("first-done");
      String follower = cluster.follower();
      cluster.stop(follower);
      workload(statement, "meanwhile");
      cluster.start(follower);
      awaitEqual("meanwhile-done");
      statement.execute("CALL take_snapshot()");
      workload(statement, "after");
      awaitEqual("after-done");
    }
    cluster.stopAll();
    cluster.startAll();
    try (Connection connection = cluster.connect();
        Statement statement = connection.createStatement()) {
      workload(statement, "last");
    }
    awaitEqual("last-done");
    for (String node : cluster.nodes().keySet()) {
      for (AuditCheck.Found found :
          new AuditCheck(null, DataKeys.off())
              .check(List.of(files.resolve(node), activity(node)))) {
        assertNull(found.fault());
        assertNull(found.before());
      }
      List<String> lines = ofLog(node);
      Set<String> places = new TreeSet<>();
      for (String line : lines) {
        int end = line.indexOf(",\"", line.indexOf("\"number\":"));
        places.add(line.substring(line.indexOf("\"index\":"), end));
      }
      assertEquals(lines.size(), places.size(), () -> "twice at " + node + ": " + lines);
      assertTrue(lines(node).stream().noneMatch(line -> line.contains("audit_gap")), node);
      assertEquals(4, lines.stream().filter(line -> line.contains("\"lock_granted\"")).count());
    }
  }

  @Test
  void nodeThatCannotWriteItsFileDoesNotStart() {
    IOException refused =
        assertThrows(
            IOException.class,
            () ->
                new Node(
                    NodeSettings.embedded("n9", null)
                        .withAudit(
                            new AuditSettings(
                                directory.resolve("none").resolve("f"),
                                AuditSettings.MAX_BYTES,
                                2,
                                2))));
    assertTrue(refused.getMessage().contains("the audit file"), refused.getMessage());
  }
}
