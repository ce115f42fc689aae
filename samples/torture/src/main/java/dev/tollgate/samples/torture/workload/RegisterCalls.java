package dev.tollgate.samples.torture.workload;

import dev.tollgate.samples.torture.history.Action;
import dev.tollgate.samples.torture.history.Journal;
import dev.tollgate.samples.torture.history.Outcome;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * The calls of a client on registers and their locks. The journal records each call before it is
 * sent and when it has ended. Failures that break the connection are rethrown.
 */
final class RegisterCalls {
  private final String client;
  private final String url;
  private final Journal journal;
  private @Nullable Connection connection;

  RegisterCalls(String client, String url, Journal journal) {
    this.client = client;
    this.url = url;
    this.journal = journal;
  }

  /** Begins a new session; what the last session held ends with its lease. */
  void connect() throws SQLException {
    close();
    connection = DriverManager.getConnection(url);
  }

  /** Ends the session, as far as the cluster can be reached. */
  void close() {
    Connection old = connection;
    connection = null;
    if (old != null) {
      try {
        old.close();
      } catch (SQLException e) {
        System.err.println(client + ": closing: " + e.getMessage());
      }
    }
  }

  /** A request to the store, and its answer. */
  @FunctionalInterface
  private interface Call {
    Answer run(Connection connection) throws SQLException;
  }

  private record Answer(Outcome outcome, long value) {}

  /**
   * @param number of the call, which is in the journal already
   */
  private Answer run(int number, Call call) throws SQLException {
    Connection open = connection;
    if (open == null) {
      throw new IllegalStateException("not connected");
    }
    try {
      Answer answer = call.run(open);
      journal.returned(number, answer.outcome(), answer.value(), "");
      return answer;
    } catch (SQLException e) {
      Failure failure = Failure.of(e);
      journal.returned(number, failure.outcome(), 0, failure.state());
      if (failure.endsConnection()) {
        throw e;
      }
      return new Answer(failure.outcome(), 0);
    }
  }

  private static String lock(String resource) {
    return "register-" + resource;
  }

  /** Acquires the lock; returns its token, or 0 if the lock was not granted. */
  long acquire(String resource, boolean waits) throws SQLException {
    String function = waits ? "acquire_lock" : "try_acquire_lock";
    return run(
            journal.invoke(Action.ACQUIRE, resource, 0, 0),
            open -> {
              try (PreparedStatement statement =
                  open.prepareStatement("SELECT " + function + "(?)")) {
                statement.setString(1, lock(resource));
                try (ResultSet row = statement.executeQuery()) {
                  row.next();
                  long token = row.getLong(1);
                  return new Answer(row.wasNull() ? Outcome.NOTHING : Outcome.DONE, token);
                }
              }
            })
        .value();
  }

  /** Returns the number that is in the register. */
  long check(String resource) throws SQLException {
    Answer answer =
        run(
            journal.invoke(Action.CHECK, resource, 0, 0),
            open -> {
              try (PreparedStatement statement =
                  open.prepareStatement(
                      "SELECT COALESCE(MAX(sequence), 0) FROM ledger WHERE resource = ?")) {
                statement.setString(1, resource);
                try (ResultSet row = statement.executeQuery()) {
                  row.next();
                  return new Answer(Outcome.DONE, row.getLong(1));
                }
              }
            });
    if (answer.outcome() != Outcome.DONE) {
      throw new IllegalStateException("a query was answered with " + answer.outcome());
    }
    return answer.value();
  }

  /**
   * Writes a number into the register. Beside it the store records the token under which the lock
   * is held there.
   *
   * @param token 0 for none
   */
  Outcome write(String resource, long token, long sequence) throws SQLException {
    int number = journal.invoke(Action.WRITE, resource, token, sequence);
    return run(
            number,
            open -> {
              try (PreparedStatement statement =
                  open.prepareStatement(
                      "INSERT INTO ledger(resource, sequence, token, held, client, operation)"
                          + " VALUES(?, ?, ?, lock_token(?), ?, ?)"
                          + (token == 0 ? "" : " FENCED BY LOCK ? TOKEN ?"))) {
                statement.setString(1, resource);
                statement.setLong(2, sequence);
                statement.setLong(3, token);
                statement.setString(4, lock(resource));
                statement.setString(5, client);
                statement.setInt(6, number);
                if (token != 0) {
                  statement.setString(7, lock(resource));
                  statement.setLong(8, token);
                }
                statement.executeUpdate();
                return new Answer(Outcome.DONE, 0);
              }
            })
        .outcome();
  }

  /** Releases the lock, if it was still held. */
  void release(String resource, long token) throws SQLException {
    run(
        journal.invoke(Action.RELEASE, resource, token, 0),
        open -> {
          try (PreparedStatement statement = open.prepareStatement("SELECT release_lock(?)")) {
            statement.setString(1, lock(resource));
            try (ResultSet row = statement.executeQuery()) {
              row.next();
              return new Answer(row.getBoolean(1) ? Outcome.DONE : Outcome.NOTHING, 0);
            }
          }
        });
  }
}
