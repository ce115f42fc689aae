package dev.tollgate.store;

import java.sql.SQLException;
import org.h2.message.DbException;

/** The errors of statements that want more than there is. */
final class Exhausted {
  /** SQLState of a statement of the log that is too much work: "statement too complex". */
  static final String TOO_MUCH_WORK = "54001";

  /** SQLState of a statement for which there is no memory: "out of memory". */
  static final String NO_MEMORY = "53200";

  private static final int TOO_MUCH_WORK_CODE = 90_910;
  private static final int NO_MEMORY_CODE = 90_911;

  private Exhausted() {}

  static DbException work(String message) {
    return DbException.convert(new SQLException(message, TOO_MUCH_WORK, TOO_MUCH_WORK_CODE));
  }

  /** For a query, which may end by the stack of the thread that it happens to be on. */
  static SQLException recursion() {
    return new SQLException(
        "the query was ended, because it led the database into a recursion that is deeper than its"
            + " stack: the query, or a JSON value, array or geometry in it, is nested too deep",
        TOO_MUCH_WORK,
        TOO_MUCH_WORK_CODE);
  }

  static SQLException memory(String message) {
    return new SQLException(message, NO_MEMORY, NO_MEMORY_CODE);
  }
}
