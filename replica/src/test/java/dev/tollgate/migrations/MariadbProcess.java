package dev.tollgate.migrations;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tollgate.cluster.Ports;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.awaitility.core.ConditionTimeoutException;

/** A server of MariaDB from the package of the distribution, with database tests. */
public final class MariadbProcess implements AutoCloseable {
  private static final Path SERVER = Path.of("/usr/sbin/mariadbd");
  private static final Duration DEADLINE = Duration.ofSeconds(60);

  /** What is lost when the machine dies need not be on disk. */
  private static final List<String> WITHOUT_SYNC =
      List.of(
          "--innodb-log-file-size=4M",
          "--innodb-flush-method=nosync",
          "--innodb-doublewrite=0",
          "--innodb-flush-log-at-trx-commit=0");

  private final Path directory;
  private final Process process;
  private final String url;

  private MariadbProcess(Path directory, Process process, String url) {
    this.directory = directory;
    this.process = process;
    this.url = url;
  }

  /** Starts an empty server; skips the test where MariaDB is not installed. */
  public static MariadbProcess start() throws Exception {
    assumeTrue(
        Files.isExecutable(SERVER),
        "MariaDB is not installed: apt-get install mariadb-server-core");
    Path directory = Files.createTempDirectory("mariadb");
    Files.createDirectory(directory.resolve("data"));
    int port = Ports.free();
    Process server = begin(directory, port);
    MariadbProcess mariadb =
        new MariadbProcess(
            directory, server, "jdbc:mariadb://127.0.0.1:" + port + "/tests?user=tests");
    try {
      await().atMost(DEADLINE).until(mariadb::answers);
      return mariadb;
    } catch (ConditionTimeoutException e) {
      try (mariadb) {
        throw e;
      }
    }
  }

  /** Without system tables, which it takes seconds to make, and so without users. */
  private static Process begin(Path directory, int port) throws IOException {
    Path init = Files.writeString(directory.resolve("init.sql"), "CREATE DATABASE tests;\n");
    List<String> options =
        List.of(
            SERVER.toString(),
            "--no-defaults",
            "--skip-grant-tables",
            // the server runs as root only if it is told so
            "--user=" + System.getProperty("user.name"),
            "--init-file=" + init,
            "--datadir=" + directory.resolve("data"),
            "--port=" + port,
            "--bind-address=127.0.0.1",
            "--socket=" + directory.resolve("socket"),
            "--pid-file=" + directory.resolve("pid"));
    return new ProcessBuilder(Stream.of(options, WITHOUT_SYNC).flatMap(List::stream).toList())
        .redirectErrorStream(true)
        .redirectOutput(directory.resolve("log").toFile())
        .start();
  }

  private boolean answers() {
    try (Connection connection = DriverManager.getConnection(url)) {
      return connection.isValid(1);
    } catch (SQLException e) {
      return false;
    }
  }

  public String url() {
    return url;
  }

  @Override
  public void close() throws IOException {
    process.destroy();
    process.onExit().join();
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
