package dev.tollgate.samples.torture.workload;

import dev.tollgate.samples.torture.history.Outcome;
import java.sql.SQLException;

/**
 * What an exception means to its client.
 *
 * @param state SQLSTATE
 */
record Failure(String state, Outcome outcome) {

  /**
   * Classifies an exception. A client need not expect exceptions that are not listed here, and
   * ends.
   */
  static Failure of(SQLException e) {
    String state = e.getSQLState() == null ? "" : e.getSQLState();
    return switch (state) {
      case "23T01", "23T02", "55T01" -> new Failure(state, Outcome.REFUSED);
      case "08001", "40001" -> new Failure(state, Outcome.FAILED);
      case "08006", "08007" -> new Failure(state, Outcome.UNKNOWN);
      default -> throw new IllegalStateException("SQLSTATE " + state + " was not expected", e);
    };
  }

  boolean endsConnection() {
    return state.startsWith("08");
  }
}
