package dev.tollgate.migrations;

import static java.util.Objects.requireNonNull;

import dev.tollgate.jdbc.DefinitionMarks;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;

/**
 * A change of one row that says which statements are done. It commits with the transaction that it
 * stands in, or, on Tollgate, takes effect as one command with a definition (ADR 0140).
 */
record RowUpdate(String sql, List<Object> values) {
  RowUpdate {
    requireNonNull(sql, "sql");
    values = List.copyOf(values);
  }

  /** Changes the row in the open transaction; returns how many rows that were. */
  int execute(Connection connection) throws SQLException {
    try (PreparedStatement update = connection.prepareStatement(sql)) {
      for (int i = 0; i < values.size(); i++) {
        update.setObject(i + 1, values.get(i));
      }
      return update.executeUpdate();
    }
  }

  /** Has a definition that is about to be executed take effect together with this change. */
  void goWith(Connection tollgate, String definition) throws SQLException {
    tollgate.unwrap(DefinitionMarks.class).markDefinition(definition, sql, values.toArray());
  }

  /** Returns true if the change went with its definition; else the change is forgotten. */
  static boolean wasSent(Connection tollgate) throws SQLException {
    return !tollgate.unwrap(DefinitionMarks.class).dropMark();
  }

  /** Forgets a change whose definition has failed. */
  static void forget(Connection tollgate, SQLException failure) {
    try {
      var unused = wasSent(tollgate);
    } catch (SQLException e) {
      failure.addSuppressed(e);
    }
  }
}
