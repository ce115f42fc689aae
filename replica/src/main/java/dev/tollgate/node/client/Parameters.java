package dev.tollgate.node.client;

import dev.tollgate.store.h2.SqlErrors;
import dev.tollgate.store.h2.SqlValue;
import java.sql.SQLException;
import java.util.List;

/**
 * Sets of parameter values. A statement's own parameters come first, and those of its Tollgate
 * clauses follow. The database gets the first ones only.
 */
final class Parameters {
  private Parameters() {}

  /**
   * All values of a set.
   *
   * @throws SQLException if their number is not the number of parameters in the statement
   */
  static List<SqlValue> decode(byte[] set, int expected) throws SQLException {
    List<SqlValue> values = SqlValue.decode(set);
    if (values.size() != expected) {
      throw SqlErrors.parameterCount(expected, values.size());
    }
    return values;
  }

  /** A set of the first values of a set. */
  static byte[] first(byte[] set, int wanted, int expected) throws SQLException {
    return first(set, decode(set, expected), wanted);
  }

  /** A set of the first values of a set that is already decoded. */
  static byte[] first(byte[] set, List<SqlValue> values, int wanted) {
    return wanted == values.size() ? set : SqlValue.encodeFirst(values, wanted);
  }
}
