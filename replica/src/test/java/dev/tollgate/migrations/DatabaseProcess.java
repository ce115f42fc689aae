package dev.tollgate.migrations;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Comparator;
import java.util.stream.Stream;
import org.awaitility.core.ConditionTimeoutException;

/** A server of another database, with its data in a directory that ends with the server. */
public final class DatabaseProcess implements AutoCloseable {
  private static final Duration DEADLINE = Duration.ofSeconds(60);

  private final Path directory;
  private final Process process;
  private final String url;

  private DatabaseProcess(Path directory, Process process, String url) {
    this.directory = directory;
    this.process = process;
    this.url = url;
  }

  /** Takes over a server that has just been started, and waits until it answers. */
  static DatabaseProcess of(Path directory, Process process, String url) throws IOException {
    DatabaseProcess database = new DatabaseProcess(directory, process, url);
    try {
      await().atMost(DEADLINE).until(database::answers);
      return database;
    } catch (ConditionTimeoutException e) {
      try (database) {
        throw e;
      }
    }
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

  /** The programs that start servers hand the signal on to the server and its own processes. */
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
