package dev.tollgate.migrations;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tollgate.cluster.Ports;
import java.io.File;
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

/** A server of MariaDB from the package of the distribution, with user and database tests. */
public final class MariadbProcess implements AutoCloseable {
  private static final Path INSTALL = Path.of("/usr/bin/mariadb-install-db");
  private static final Path SERVER = Path.of("/usr/sbin/mariadbd");
  private static final Duration DEADLINE = Duration.ofSeconds(60);

  /** What is lost when the machine dies need not be on disk. */
  private static final List<String> WITHOUT_SYNC =
      List.of(
          "--innodb-log-file-size=4M",
          "--innodb-flush-method=nosync",
          "--innodb-doublewrite=0",
          "--innodb-flush-log-at-trx-commit=0");

  private static final String USER =
      """
      CREATE DATABASE tests;
      CREATE USER tests@'127.0.0.1';
      CREATE USER tests@localhost;
      GRANT ALL ON *.* TO tests@'127.0.0.1';
      GRANT ALL ON *.* TO tests@localhost;
      """;

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
        Files.isExecutable(INSTALL) && Files.isExecutable(SERVER),
        "MariaDB is not installed: apt-get install mariadb-server");
    Path directory = Files.createTempDirectory("mariadb");
    int port = Ports.free();
    Process install =
        begin(
            directory,
            INSTALL,
            List.of("--auth-root-authentication-method=normal", "--skip-test-db"));
    if (install.waitFor() != 0) {
      throw new IOException(INSTALL + ": " + Files.readString(directory.resolve("log")));
    }
    Path init = Files.writeString(directory.resolve("init.sql"), USER);
    Process server =
        begin(
            directory,
            SERVER,
            List.of(
                "--init-file=" + init,
                "--port=" + port,
                "--bind-address=127.0.0.1",
                "--socket=" + directory.resolve("socket"),
                "--pid-file=" + directory.resolve("pid")));
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

  /** The server runs as root only if it is told so. */
  private static Process begin(Path directory, Path program, List<String> options)
      throws IOException {
    File log = directory.resolve("log").toFile();
    return new ProcessBuilder(
            Stream.of(
                    List.of(
                        program.toString(),
                        "--no-defaults",
                        "--user=" + System.getProperty("user.name"),
                        "--datadir=" + directory.resolve("data")),
                    WITHOUT_SYNC,
                    options)
                .flatMap(List::stream)
                .toList())
        .redirectErrorStream(true)
        .redirectOutput(log)
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
