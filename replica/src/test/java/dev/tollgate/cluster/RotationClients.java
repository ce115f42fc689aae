package dev.tollgate.cluster;

import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A process with clients that acquire a lock, write, and release the lock, again and again. Every
 * second client opens a new connection four times a second. A statement that fails ends its client.
 * The process prints how far it is, and ends when its input does.
 */
final class RotationClients {
  static final String TABLE = "CREATE TABLE DONE(CLIENT INT PRIMARY KEY, N BIGINT NOT NULL)";
  static final String LOCKS = "rotation-%";
  static final String FAILED = "failed";

  private static final int CLIENTS_PER_LOCK = 2;
  private static final long CONNECTED_NANOS = TimeUnit.MILLISECONDS.toNanos(250);
  private static final long SAY_MILLIS = 50;

  private final String url;
  private final AtomicBoolean ends = new AtomicBoolean();
  private final AtomicLong cycles = new AtomicLong();
  private final AtomicLong connections = new AtomicLong();
  private final AtomicLong slowestNanos = new AtomicLong();

  private RotationClients(String url) {
    this.url = url;
  }

  /**
   * @param arguments URL, number of the first client, number of clients
   */
  public static void main(String[] arguments) throws Exception {
    RotationClients clients = new RotationClients(arguments[0]);
    int first = Integer.parseInt(arguments[1]);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < Integer.parseInt(arguments[2]); i++) {
      int number = first + i;
      Thread thread = new Thread(() -> clients.run(number), "client-" + number);
      thread.start();
      threads.add(thread);
    }
    Thread input = new Thread(clients::awaitEndOfInput, "input");
    input.setDaemon(true);
    input.start();
    while (!clients.ends.get()) {
      TimeUnit.MILLISECONDS.sleep(SAY_MILLIS);
      clients.sayProgress("did");
    }
    for (Thread thread : threads) {
      thread.join();
    }
    clients.sayProgress("ended");
  }

  private void awaitEndOfInput() {
    try {
      while (System.in.read() >= 0) {
        // only the end counts
      }
    } catch (IOException e) {
      say(FAILED + " " + e);
    }
    ends.set(true);
  }

  private static synchronized void say(String line) {
    System.out.println(line);
    System.out.flush();
  }

  private void sayProgress(String verb) {
    say(
        verb
            + " "
            + cycles.get()
            + " "
            + connections.get()
            + " "
            + TimeUnit.NANOSECONDS.toMillis(slowestNanos.get()));
  }

  private void run(int client) {
    boolean reconnects = client % 2 == 1;
    String doing = "connecting";
    try {
      Connection connection = connect();
      long connected = System.nanoTime();
      while (!ends.get()) {
        long begun = System.nanoTime();
        doing = "acquiring";
        String lock = "rotation-" + client / CLIENTS_PER_LOCK;
        ask(connection, "SELECT acquire_lock(?)", lock);
        doing = "updating";
        try (PreparedStatement update =
            connection.prepareStatement("UPDATE DONE SET N = N + 1 WHERE CLIENT = ?")) {
          update.setInt(1, client);
          if (update.executeUpdate() != 1) {
            throw new SQLException("no row of client " + client);
          }
        }
        cycles.incrementAndGet();
        doing = "releasing";
        ask(connection, "SELECT release_lock(?)", lock);
        if (reconnects && begun - connected > CONNECTED_NANOS) {
          doing = "connecting again";
          connection.close();
          connection = connect();
          connected = System.nanoTime();
        }
        slowestNanos.accumulateAndGet(System.nanoTime() - begun, Math::max);
      }
      connection.close();
    } catch (SQLException e) {
      say(FAILED + " " + client + " " + doing + ": " + e.getSQLState() + " " + e.getMessage());
      e.printStackTrace();
    }
  }

  private Connection connect() throws SQLException {
    Connection connection = DriverManager.getConnection(url);
    connections.incrementAndGet();
    return connection;
  }

  /** The lock has to be granted, or to be there to be released. */
  private static void ask(Connection connection, String text, String lock) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(text)) {
      statement.setString(1, lock);
      try (ResultSet row = statement.executeQuery()) {
        row.next();
        if (row.getObject(1) == null || row.getObject(1).equals(false)) {
          throw new SQLException(text + " of " + lock + " returned " + row.getObject(1));
        }
      }
    }
  }
}
