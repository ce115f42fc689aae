package dev.tollgate.samples.benchmark.system;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** One server of PostgreSQL with the settings that it comes with, fsync among them. */
public final class PostgresServer implements Ensemble {
  private static final int PORT = 401;

  private final Process process;
  private final String url;

  /**
   * @param programs the directory that has initdb and postgres
   */
  public PostgresServer(Ground ground, Path programs) throws Exception {
    this.url = "jdbc:postgresql://127.0.0.1:" + ground.port(PORT) + "/postgres?user=benchmark";
    Path data = Files.createDirectory(ground.directory().resolve("postgres"));
    List<String> asUser = asUser(data);
    Process made =
        ground.start(
            "initdb",
            Map.of(),
            command(
                asUser,
                programs.resolve("initdb").toString(),
                "--pgdata=" + data,
                "--username=benchmark",
                "--auth=trust",
                "--encoding=UTF8",
                "--locale=C"));
    if (made.waitFor() != 0) {
      throw new IOException("initdb failed:\n" + ground.outputOf("initdb"));
    }
    this.process =
        ground.start(
            "postgres-server",
            Map.of(),
            command(
                asUser,
                programs.resolve("postgres").toString(),
                "-D",
                data.toString(),
                "-p",
                Integer.toString(ground.port(PORT)),
                "-c",
                "listen_addresses=127.0.0.1",
                "-c",
                "unix_socket_directories=",
                "-c",
                "max_connections=200"));
    ground.awaitReady(
        "postgres-server",
        process,
        () ->
            ground.outputOf("postgres-server").contains("ready to accept connections")
                && Ground.accepts(ground.port(PORT)));
  }

  /** The server refuses to run as root, so root starts it as the user that its package makes. */
  private static List<String> asUser(Path data) throws IOException {
    if (!"root".equals(System.getProperty("user.name"))) {
      return List.of();
    }
    Files.setOwner(
        data,
        data.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName("postgres"));
    return List.of("runuser", "-u", "postgres", "--");
  }

  private static List<String> command(List<String> asUser, String... command) {
    List<String> all = new ArrayList<>(asUser);
    all.addAll(List.of(command));
    return all;
  }

  /** The directories where distributions put PostgreSQL, the newest version first. */
  public static List<Path> usualDirectories() throws IOException {
    Path versions = Path.of("/usr/lib/postgresql");
    if (!Files.isDirectory(versions)) {
      return List.of();
    }
    try (Stream<Path> found = Files.list(versions)) {
      return found.sorted((a, b) -> b.compareTo(a)).map(version -> version.resolve("bin")).toList();
    }
  }

  @Override
  public List<Kind> kinds() {
    return List.of(Kind.POSTGRES, Kind.SHEDLOCK);
  }

  @Override
  public String endpoints() {
    return url;
  }

  @Override
  public void stop() throws InterruptedException {
    Ground.kill(process);
  }
}
