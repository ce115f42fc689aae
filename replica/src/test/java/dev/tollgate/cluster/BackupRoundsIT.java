package dev.tollgate.cluster;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code tollgate backup --every} as a process, beside a node that goes and comes back. */
class BackupRoundsIT {
  private static final int FILLER_ROWS = 24;

  @TempDir private Path directory;

  private List<String> files() throws IOException {
    try (Stream<Path> files = Files.list(backups())) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.contains(".backup"))
          .sorted()
          .toList();
    }
  }

  private Path backups() {
    return directory.resolve("backups");
  }

  private static void awaitLines(RunningProgram program, int count) {
    await().atMost(ClusterProcesses.DEADLINE).until(() -> program.out().lines().count() >= count);
  }

  @Test
  void backupsGoOnAfterTheNodeWasAwayUntilSigtermEndsThem() throws Exception {
    Files.createDirectory(backups());
    try (ClusterProcesses cluster =
            new ClusterProcesses("BackupRoundsIT", directory.resolve("nodes"), 1);
        RunningProgram program =
            new RunningProgram(
                directory,
                "backup",
                "--url=" + cluster.url("failoverTimeout=500ms"),
                "--every=1s",
                "--keep=2",
                backups().toString())) {
      awaitLines(program, 4);
      NodeProcess node = cluster.nodes().get(0);
      node.kill();
      await()
          .atMost(ClusterProcesses.DEADLINE)
          .until(() -> program.err().split("; the next attempt is in 1 s\n", -1).length > 4);
      List<String> left = files().stream().filter(name -> name.endsWith(".backup")).toList();
      assertEquals(2, left.size(), () -> "a node that is away ends no backup: " + left);
      long before = program.out().lines().count();
      node.startAndAwait();
      awaitLines(program, (int) before + 2);

      Program other =
          Program.run("backup", "--url=" + cluster.url(""), "--keep=2", backups().toString());
      assertEquals(1, other.status());
      assertTrue(other.err().contains("another tollgate backup writes into"), other.err());

      program.terminate();
      assertEquals(143, program.status(), program.err());
      List<String> last = files();
      assertEquals(2, last.size(), last::toString);
      assertTrue(last.stream().allMatch(name -> name.endsWith(".backup")), last::toString);
      for (String file : last) {
        Program verify = Program.run("verify", backups().resolve(file).toString());
        assertEquals(0, verify.status(), verify.err());
      }

      Program once =
          Program.run("backup", "--url=" + cluster.url(""), "--keep=2", backups().toString());
      assertEquals(0, once.status(), once.err());
      assertEquals(2, files().size());
      assertTrue(!files().contains(last.get(0)), "the oldest one is deleted");
    }
  }

  /** Makes a backup take many requests. */
  private static void fill(ClusterProcesses cluster) throws SQLException {
    try (Connection connection = cluster.connect("");
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE filler(id INT PRIMARY KEY, v CHARACTER VARYING)");
      try (PreparedStatement insert =
          connection.prepareStatement("INSERT INTO filler VALUES (?, ?)")) {
        for (int id = 0; id < FILLER_ROWS; id++) {
          insert.setInt(1, id);
          insert.setString(2, "x".repeat(1_000_000));
          insert.execute();
        }
      }
    }
  }

  /** Pauses the node while a backup has less than half of its bytes; false if none has. */
  private boolean pausesInABackup(NodeProcess node) throws Exception {
    if (parts().isEmpty()) {
      return false;
    }
    node.pause();
    for (String name : parts()) {
      // the program gets no byte more than those that it has already asked for
      long bytes = backups().resolve(name).toFile().length();
      if (bytes > 0 && bytes < FILLER_ROWS * 500_000L) {
        return true;
      }
    }
    node.resume();
    return false;
  }

  private List<String> parts() throws IOException {
    return files().stream().filter(name -> name.endsWith(".part")).toList();
  }

  @Test
  void sigtermWithinABackupLeavesNoPartOfIt() throws Exception {
    Files.createDirectory(backups());
    try (ClusterProcesses cluster =
        new ClusterProcesses("BackupRoundsIT", directory.resolve("nodes"), 1)) {
      fill(cluster);
      NodeProcess node = cluster.nodes().get(0);
      try (RunningProgram program =
          new RunningProgram(
              directory,
              "backup",
              "--url=" + cluster.url(""),
              "--every=1s",
              "--keep=2",
              backups().toString())) {
        await()
            .pollDelay(Duration.ZERO)
            .pollInterval(Duration.ofMillis(1))
            .atMost(ClusterProcesses.DEADLINE)
            .until(() -> pausesInABackup(node));
        program.terminate();
        assertEquals(143, program.status(), program.err());
        assertEquals(List.of(), parts());
      } finally {
        node.resume();
      }
    }
  }
}
