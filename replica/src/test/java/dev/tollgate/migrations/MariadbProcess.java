package dev.tollgate.migrations;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tollgate.cluster.Ports;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** A server of MariaDB from the package of the distribution, with database tests. */
final class MariadbProcess {
  private static final Path SERVER = Path.of("/usr/sbin/mariadbd");

  private static final Path SYSTEM_TABLES = Path.of("/usr/share/mysql/mysql_system_tables.sql");

  /** What is lost when the machine dies need not be on disk. */
  private static final List<String> WITHOUT_SYNC =
      List.of(
          "--innodb-log-file-size=4M",
          "--innodb-flush-method=nosync",
          "--innodb-doublewrite=0",
          "--innodb-flush-log-at-trx-commit=0");

  private MariadbProcess() {}

  /** Starts an empty server; skips the test where MariaDB is not installed. */
  static DatabaseProcess start() throws Exception {
    assumeTrue(
        Files.isExecutable(SERVER),
        "MariaDB is not installed: apt-get install mariadb-server-core");
    Path directory = Files.createTempDirectory("mariadb");
    Files.createDirectory(directory.resolve("data"));
    int port = Ports.free();
    Process server = begin(directory, port);
    return DatabaseProcess.of(
        directory, server, "jdbc:mariadb://127.0.0.1:" + port + "/tests?user=tests");
  }

  /** Without most system tables, which it takes seconds to make, and so without users. */
  private static Process begin(Path directory, int port) throws IOException {
    Path init = Files.write(directory.resolve("init.sql"), initialStatements());
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

  /** A database for tests, and the tables that Flyway looks into; each statement in one line. */
  private static List<String> initialStatements() throws IOException {
    List<String> statements = new ArrayList<>();
    statements.add("CREATE DATABASE tests;");
    statements.add("CREATE DATABASE mysql;");
    statements.add("USE mysql;");
    try (Stream<String> lines = Files.lines(SYSTEM_TABLES)) {
      lines
          .filter(line -> line.matches("CREATE TABLE IF NOT EXISTS (proc|event) .*;"))
          .forEach(statements::add);
    }
    return statements;
  }
}
