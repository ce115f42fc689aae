package dev.tollgate.cluster;

import dev.tollgate.lock.Leadership;
import dev.tollgate.lock.LockClient;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A process with candidates of the election 'chief'. The leader writes its token into table TERM,
 * which the lock fences, until it is interrupted. Prints a line for what happens to it.
 */
final class Candidates {
  static final String ELECTION = "chief";
  static final String TABLE =
      "CREATE TABLE TERM(ID BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, TOKEN BIGINT)"
          + " FENCED BY LOCK 'chief'";

  private static final int WRITES_EVERY_MILLIS = 20;

  private final String url;

  private Candidates(String url) {
    this.url = url;
  }

  /**
   * @param arguments URL, name of the process, number of candidates, ttl in milliseconds
   */
  public static void main(String[] arguments) throws Exception {
    Candidates candidates = new Candidates(arguments[0]);
    Duration ttl = Duration.ofMillis(Long.parseLong(arguments[3]));
    try (LockClient client = LockClient.connect(arguments[0])) {
      for (int i = 0; i < Integer.parseInt(arguments[2]); i++) {
        client.elect(ELECTION, arguments[1] + "-" + i, ttl, candidates::lead);
      }
      new CountDownLatch(1).await();
    }
  }

  private static synchronized void say(String what, Leadership term) {
    System.out.println(what + " " + term.token());
    System.out.flush();
  }

  private void lead(Leadership term) throws SQLException {
    term.ended().thenAccept(reason -> say("ended", term));
    say("elected", term);
    try (Connection connection = DriverManager.getConnection(url)) {
      CountDownLatch never = new CountDownLatch(1);
      boolean interrupted = false;
      while (term.isLeader() && !interrupted) {
        write(connection, term);
        try {
          interrupted = never.await(WRITES_EVERY_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
      boolean flagged = Thread.interrupted();
      if (interrupted || flagged) {
        say("interrupted", term);
      }
      // a leader must not do that, and the store refuses it
      write(connection, term);
      say("written", term);
    } catch (SQLException e) {
      say("refused with " + e.getSQLState(), term);
    }
  }

  private static void write(Connection connection, Leadership term) throws SQLException {
    try (PreparedStatement insert =
        connection.prepareStatement(
            "INSERT INTO TERM(TOKEN) VALUES (?) FENCED BY LOCK 'chief' TOKEN ?")) {
      insert.setLong(1, term.token());
      insert.setLong(2, term.token());
      insert.executeUpdate();
    }
  }
}
