package dev.tollgate.samples.torture.workload;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Writers that count in a row each, so that there are always entries between being written and
 * being synced. Nothing is concluded from what they are answered.
 */
public final class Load implements AutoCloseable {
  /** How many there are, and how many rows. */
  public static final int WRITERS = 6;

  private static final long PAUSE_MILLIS = 5;

  private final String url;
  private final List<CompletableFuture<Void>> writers = new ArrayList<>();
  private volatile boolean closed;

  /** Starts the writers. */
  public Load(String url) {
    this.url = url;
    for (int i = 0; i < WRITERS; i++) {
      int row = i;
      writers.add(
          CompletableFuture.runAsync(
              () -> write(row), task -> new Thread(task, "load " + row).start()));
    }
  }

  private void write(int row) {
    while (!closed) {
      try (Connection connection = DriverManager.getConnection(url);
          PreparedStatement count =
              connection.prepareStatement("UPDATE load SET n = n + 1 WHERE writer = ?")) {
        count.setInt(1, row);
        while (!closed) {
          count.executeUpdate();
          TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
        }
      } catch (SQLException e) {
        Failure.of(e); // if this failure is expected, the next round connects again
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  /** Ends the writers; fails with the cause if one has ended by itself. */
  @Override
  public void close() {
    closed = true;
    writers.forEach(CompletableFuture::join);
  }
}
