package dev.tollgate.migrations;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tollgate.cluster.Ports;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** A server of PostgreSQL from the package of the distribution, with user tests. */
public final class PostgresProcess {
  private static final Path VERSIONS = Path.of("/usr/lib/postgresql");

  private PostgresProcess() {}

  /** Where initdb and postgres are, the newest version first; empty if they are not installed. */
  private static Optional<Path> programs() throws IOException {
    if (!Files.isDirectory(VERSIONS)) {
      return Optional.empty();
    }
    try (Stream<Path> found = Files.list(VERSIONS)) {
      return found
          .map(version -> version.resolve("bin"))
          .filter(programs -> Files.isExecutable(programs.resolve("initdb")))
          .max(Comparator.naturalOrder());
    }
  }

  /** Starts an empty server; skips the test where PostgreSQL is not installed. */
  public static DatabaseProcess start() throws Exception {
    Optional<Path> installed = programs();
    assumeTrue(installed.isPresent(), "PostgreSQL is not installed: apt-get install postgresql");
    return start(installed.get());
  }

  private static DatabaseProcess start(Path programs) throws Exception {
    Path directory = Files.createTempDirectory("postgres");
    int port = Ports.free();
    List<String> asUser = asUser(directory);
    Path data = directory.resolve("data");
    Process initdb =
        begin(
            directory,
            asUser,
            programs.resolve("initdb").toString(),
            "--pgdata=" + data,
            "--username=tests",
            "--auth=trust",
            "--encoding=UTF8",
            "--locale=C",
            "--no-sync");
    if (initdb.waitFor() != 0) {
      throw new IOException("initdb failed: " + Files.readString(directory.resolve("log")));
    }
    Process server =
        begin(
            directory,
            asUser,
            programs.resolve("postgres").toString(),
            "-D" + data,
            "-p" + port,
            "-clisten_addresses=127.0.0.1",
            "-cunix_socket_directories=",
            "-cfsync=off");
    return DatabaseProcess.of(
        directory, server, "jdbc:postgresql://127.0.0.1:" + port + "/postgres?user=tests");
  }

  /** The server refuses to run as root, so root starts it as the user of its package. */
  private static List<String> asUser(Path directory) throws IOException {
    if (!"root".equals(System.getProperty("user.name"))) {
      return List.of();
    }
    Files.setOwner(
        directory,
        directory
            .getFileSystem()
            .getUserPrincipalLookupService()
            .lookupPrincipalByName("postgres"));
    return List.of("runuser", "-u", "postgres", "--");
  }

  private static Process begin(Path directory, List<String> asUser, String... command)
      throws IOException {
    List<String> all = new ArrayList<>(asUser);
    all.addAll(List.of(command));
    File log = directory.resolve("log").toFile();
    return new ProcessBuilder(all).redirectErrorStream(true).redirectOutput(log).start();
  }
}
