package dev.tollgate.store.h2;

import dev.tollgate.wire.SqlState;
import java.sql.SQLException;
import org.h2.message.DbException;

/** The errors of statements that need more work, stack or memory than there is. */
public final class Exhausted {
  private Exhausted() {}

  public static DbException work(String message) {
    return DbException.convert(SqlErrors.exception(SqlState.TOO_MUCH_WORK, message));
  }

  /**
   * For queries only: a query may end because of the stack of the thread that it happens to be on.
   */
  public static SQLException recursion() {
    return SqlErrors.exception(
        SqlState.TOO_MUCH_WORK,
        "the query was ended, because it led the database into a recursion that is deeper than its"
            + " stack: the query, or a JSON value, array or geometry in it, is nested too deep");
  }

  public static DbException memoryOfQuery() {
    return DbException.convert(
        memory(
            "the query was ended, because the node has not enough memory for its result and what it"
                + " sorts or groups: let it return fewer rows, page by key, or give the nodes more"
                + " heap"));
  }

  /**
   * @param losses connections that were lost while the reply to the query was due on them
   */
  public static DbException memoryOfLostQuery(int losses) {
    return DbException.convert(
        memory(
            (losses == 1
                    ? "the connection to a node was lost while the query ran there, and the query"
                        + " was ended at the next node before it took as much memory as there is"
                    : losses
                        + " connections were lost while the query ran, and it was not run again")
                + ": the query may have exhausted the memory of the node before. Run it again if"
                + " the connection was lost for another reason; otherwise let it return fewer rows,"
                + " page by key, or give the nodes more heap"));
  }

  public static SQLException memory(String message) {
    return SqlErrors.exception(SqlState.NO_MEMORY, message);
  }
}
