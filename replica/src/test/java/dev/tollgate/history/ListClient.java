package dev.tollgate.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.cluster.ClusterProcesses;
import dev.tollgate.history.ListTransaction.Append;
import dev.tollgate.history.ListTransaction.End;
import dev.tollgate.history.ListTransaction.Read;
import dev.tollgate.history.ListTransaction.Step;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A client that runs random transactions over lists, and remembers what it saw. What it asks for
 * follows from its seed alone. One that loses its {@link Patience} leaves its transaction open and
 * its commit without an answer.
 */
final class ListClient {
  static final int LISTS = 6;

  private static final int MAX_STEPS = 5;
  private static final int COMMITS_PER_ABORT = 10;
  private static final int VALUES_PER_CLIENT = 1_000_000;

  private final Patience patience;
  private final String table;
  private final HistoriesIT.Mix mix;
  private final Random random;
  private final int number;
  private final List<ListTransaction> history = new ArrayList<>();
  private int lastValue;

  ListClient(ClusterProcesses cluster, String table, HistoriesIT.Mix mix, long seed, int number) {
    this.patience = new Patience(cluster::connect, number);
    this.table = table;
    this.mix = mix;
    this.random = new Random(seed + number);
    this.number = number;
    this.lastValue = (number + 1) * VALUES_PER_CLIENT;
  }

  /** What a step asks for; the value is for those that append. */
  private record Request(Kind kind, int key, int value) {}

  private enum Kind {
    READ,
    READ_ALL,
    LOCK,
    APPEND,
    /** Reads FOR UPDATE and writes the list that the client made of it. */
    UPDATE,
    /** An append that is undone by a savepoint. */
    UNDONE,
    /** A statement that fails and changes nothing. */
    FAILED
  }

  /** A transaction, before anything of it is sent. */
  private record Plan(boolean serializable, List<Request> requests, boolean rollback) {}

  private Plan plan() {
    boolean serializable =
        switch (mix) {
          case READ_COMMITTED -> false;
          case SERIALIZABLE -> true;
          case BOTH -> random.nextInt(4) == 0;
        };
    List<Request> requests = new ArrayList<>();
    int steps = 1 + random.nextInt(MAX_STEPS);
    for (int i = 0; i < steps; i++) {
      Kind kind = Kind.values()[random.nextInt(Kind.values().length)];
      requests.add(new Request(kind, random.nextInt(LISTS), ++lastValue));
    }
    return new Plan(serializable, requests, random.nextInt(10) == 0);
  }

  /** Runs transactions until it is stopped; what it saw. */
  List<ListTransaction> run(AtomicBoolean stopped, AtomicInteger committed) throws SQLException {
    Connection connection = null;
    while (!stopped.get()) {
      if (connection == null) {
        connection = patience.connect().orElse(null);
      }
      if (connection != null && !perform(connection, plan(), committed)) {
        connection.close();
        connection = null;
      }
    }
    if (connection != null) {
      connection.close();
    }
    return history;
  }

  /** Runs one transaction; false if the connection is dead. */
  private boolean perform(Connection connection, Plan plan, AtomicInteger committed)
      throws SQLException {
    long began = System.nanoTime();
    List<Step> steps = new ArrayList<>();
    End end = End.ROLLED_BACK;
    boolean alive = true;
    boolean committing = false;
    try {
      connection.setAutoCommit(false);
      connection.setTransactionIsolation(
          plan.serializable
              ? Connection.TRANSACTION_SERIALIZABLE
              : Connection.TRANSACTION_READ_COMMITTED);
      for (Request request : plan.requests) {
        perform(connection, request, steps);
      }
      if (plan.rollback) {
        connection.rollback();
      } else {
        committing = true;
        if (patience.isImpatient() && random.nextInt(COMMITS_PER_ABORT) == 0) {
          Patience.abortSoon(connection, random);
        }
        connection.commit();
        end = End.COMMITTED;
        committed.incrementAndGet();
      }
    } catch (SQLException e) {
      if (patience.isLost(e)) {
        alive = false;
        end = committing && !e.getSQLState().equals("08001") ? End.UNKNOWN : End.ROLLED_BACK;
      } else if (e.getSQLState().equals("40001") || e.getSQLState().equals("HYT00")) {
        alive = rollback(connection);
      } else {
        throw e;
      }
    }
    String name = "T" + number + "." + history.size();
    history.add(new ListTransaction(name, plan.serializable, steps, end, began, System.nanoTime()));
    return alive;
  }

  private boolean rollback(Connection connection) throws SQLException {
    try {
      connection.rollback();
      return true;
    } catch (SQLException e) {
      if (patience.isLost(e)) {
        return false;
      }
      throw e;
    }
  }

  private void perform(Connection connection, Request request, List<Step> steps)
      throws SQLException {
    int key = request.key;
    switch (request.kind) {
      case READ -> steps.add(new Read(key, read(connection, key, ""), false));
      case READ_ALL -> readAll(connection, steps);
      case LOCK -> steps.add(new Read(key, read(connection, key, " FOR UPDATE"), true));
      case APPEND -> {
        // before it is answered: an append without an answer may have happened
        steps.add(new Append(key, request.value));
        write(connection, "V || ?", key, request.value + ",");
      }
      case UPDATE -> {
        List<Integer> before = read(connection, key, " FOR UPDATE");
        steps.add(new Read(key, before, true));
        steps.add(new Append(key, request.value));
        StringBuilder list = new StringBuilder();
        before.forEach(value -> list.append(value).append(','));
        write(connection, "?", key, list.append(request.value).append(',').toString());
      }
      case UNDONE -> {
        Savepoint savepoint = connection.setSavepoint();
        write(connection, "V || ?", key, request.value + ",");
        connection.rollback(savepoint);
      }
      case FAILED -> fail(connection, key);
    }
  }

  private List<Integer> read(Connection connection, int key, String clause) throws SQLException {
    try (PreparedStatement read =
        connection.prepareStatement("SELECT V FROM " + table + " WHERE K = ?" + clause)) {
      read.setInt(1, key);
      try (ResultSet row = read.executeQuery()) {
        assertTrue(row.next());
        return values(row.getString(1));
      }
    }
  }

  private void readAll(Connection connection, List<Step> steps) throws SQLException {
    try (Statement read = connection.createStatement();
        ResultSet rows = read.executeQuery("SELECT K, V FROM " + table + " ORDER BY K")) {
      for (int key = 0; key < LISTS; key++) {
        assertTrue(rows.next());
        assertEquals(key, rows.getInt(1));
        steps.add(new Read(key, values(rows.getString(2)), false));
      }
    }
  }

  private void write(Connection connection, String expression, int key, String text)
      throws SQLException {
    try (PreparedStatement write =
        connection.prepareStatement(
            "UPDATE " + table + " SET V = " + expression + " WHERE K = ?")) {
      write.setString(1, text);
      write.setInt(2, key);
      assertEquals(1, write.executeUpdate());
    }
  }

  /** The second row of the statement has a key that is there. */
  private void fail(Connection connection, int key) throws SQLException {
    try (Statement insert = connection.createStatement()) {
      SQLException refused =
          assertThrows(
              SQLException.class,
              () ->
                  insert.executeUpdate(
                      "INSERT INTO "
                          + table
                          + " VALUES("
                          + -lastValue
                          + ", ''), ("
                          + key
                          + ", '')"));
      if (!refused.getSQLState().equals("23505")) {
        throw refused;
      }
    }
  }

  /** The list that a text stands for. */
  static List<Integer> values(String text) {
    return text.isEmpty()
        ? List.of()
        : Arrays.stream(text.split(",", -1))
            .filter(v -> !v.isEmpty())
            .map(Integer::valueOf)
            .toList();
  }
}
