package dev.tollgate.history;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.history.Answer.Nothing;
import dev.tollgate.history.Answer.Refused;
import dev.tollgate.history.CellRequest.Acquire;
import dev.tollgate.history.CellRequest.ForceRelease;
import dev.tollgate.history.CellRequest.HoldsLock;
import dev.tollgate.history.CellRequest.OfLease;
import dev.tollgate.history.CellRequest.Read;
import dev.tollgate.history.CellRequest.ReadToken;
import dev.tollgate.history.CellRequest.Release;
import dev.tollgate.history.CellRequest.Renew;
import dev.tollgate.history.CellRequest.Revoke;
import dev.tollgate.history.CellRequest.Write;
import dev.tollgate.wire.SqlState;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Asks for cells over JDBC: locks, and rows of table CELLS. */
final class CellConnection implements AutoCloseable {
  private static final Map<Class<? extends CellRequest>, String> FUNCTIONS =
      Map.of(
          Release.class, "release_lock",
          ForceRelease.class, "force_release_lock",
          ReadToken.class, "lock_token",
          HoldsLock.class, "holds_lock",
          Renew.class, "renew_lease",
          Revoke.class, "revoke_lease");

  private static final long WAIT_MILLIS = 100;

  private final Connection connection;

  CellConnection(Connection connection) {
    this.connection = connection;
  }

  Connection jdbc() {
    return connection;
  }

  void createCells(int count) throws SQLException {
    update("CREATE TABLE CELLS(K INT PRIMARY KEY, V BIGINT NOT NULL)", List.of());
    for (int cell = 0; cell < count; cell++) {
      update("INSERT INTO CELLS VALUES(?, ?)", List.of(cell, Cell.INITIAL.value()));
    }
  }

  long createLease(long ttlMillis) throws SQLException {
    return ((Answer.Value) query("SELECT create_lease(?)", List.of(ttlMillis))).number();
  }

  /**
   * Asks, and waits for the answer.
   *
   * @throws SQLException if it is none of those that a {@link CellRequest} can explain
   */
  Answer ask(int cell, CellRequest request) throws SQLException {
    try {
      if (request instanceof Write write) {
        return Answer.of(write(cell, write));
      }
      return request instanceof Read
          ? query("SELECT V FROM CELLS WHERE K = ?", List.of(cell))
          : call(cell, request);
    } catch (SQLException e) {
      if (e.getSQLState().equals(SqlState.LEASE_GONE.state())
          || e.getSQLState().equals(SqlState.STALE_TOKEN.state())) {
        return new Refused(e.getSQLState());
      }
      throw e;
    }
  }

  private static String lock(int cell) {
    return "cell" + cell;
  }

  /** A lease below 1 is the connection's own. */
  private Answer call(int cell, CellRequest request) throws SQLException {
    List<Object> parameters = new ArrayList<>();
    if (cell != CellCall.ALL) {
      parameters.add(lock(cell));
    }
    if (request instanceof HoldsLock held) {
      parameters.add(held.token());
    }
    if (request instanceof OfLease leased && leased.lease() > 0) {
      parameters.add(leased.lease());
    }
    String function = FUNCTIONS.get(request.getClass());
    if (request instanceof Acquire acquire) {
      function = acquire.waits() ? "acquire_lock" : "try_acquire_lock";
      if (acquire.waits() && acquire.lease() > 0) {
        parameters.add(WAIT_MILLIS);
      }
    }
    String marks = "?, ".repeat(parameters.size() - 1) + "?";
    return query("SELECT " + function + "(" + marks + ")", parameters);
  }

  private int write(int cell, Write write) throws SQLException {
    List<Object> parameters = new ArrayList<>(List.of(write.value(), cell));
    StringBuilder sql = new StringBuilder("UPDATE CELLS SET V = ? WHERE K = ?");
    if (write.expected().isPresent()) {
      sql.append(" AND V = ?");
      parameters.add(write.expected().getAsLong());
    }
    if (write.token().isPresent()) {
      sql.append(" FENCED BY LOCK ? TOKEN ?");
      parameters.add(lock(cell));
      parameters.add(write.token().getAsLong());
    }
    return update(sql.toString(), parameters);
  }

  private int update(String sql, List<?> parameters) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      set(statement, parameters);
      return statement.executeUpdate();
    }
  }

  /** The one value of the one row. */
  private Answer query(String sql, List<?> parameters) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      set(statement, parameters);
      try (ResultSet row = statement.executeQuery()) {
        assertTrue(row.next(), sql);
        Object value = row.getObject(1);
        if (value instanceof Boolean flag) {
          return Answer.of(flag);
        }
        return value == null ? new Nothing() : Answer.of(row.getLong(1));
      }
    }
  }

  private static void set(PreparedStatement statement, List<?> parameters) throws SQLException {
    for (int i = 0; i < parameters.size(); i++) {
      statement.setObject(i + 1, parameters.get(i));
    }
  }

  @Override
  public void close() throws SQLException {
    connection.close();
  }
}
