package dev.tollgate.jdbc;

import dev.tollgate.wire.Reply;
import dev.tollgate.wire.SqlState;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the statements of a batch have done, in their order. A batch travels in parts, each of which
 * is a request. A part that fails as a whole says nothing about the parts before it, whose counts
 * stand. A batch goes on after a failure, as in H2, unless the session has ended.
 *
 * <p>Not thread-safe.
 */
final class BatchOutcome {
  /** Connection exceptions: the session has ended. */
  private static final String CONNECTION_CLASS = "08";

  private final long[] counts;
  private final List<SQLException> failures = new ArrayList<>();
  private int done;

  /** True if a statement was carried out. */
  private boolean effective;

  /**
   * @param size how many statements the batch has
   */
  BatchOutcome(int size) {
    counts = new long[size];
  }

  /** The number of statements that were carried out, have failed or were given up. */
  int done() {
    return done;
  }

  /** Records that the next statement was carried out. */
  void succeeded(long count) {
    counts[done++] = count;
    effective = true;
  }

  /** Records that the next statement has failed. */
  void failed(SQLException failure) {
    failedTogether(1, failure);
  }

  /**
   * Records that the next statements, which were one request, have failed with one error. If the
   * session has ended, the statements after them are given up.
   */
  void failedTogether(int statements, SQLException failure) {
    int from = done;
    done += statements;
    Arrays.fill(counts, from, done, Statement.EXECUTE_FAILED);
    failures.add(ofBatch(failure, from));
    if (isConnection(failure) && done < counts.length) {
      failures.add(
          JdbcErrors.exception(
              SqlState.SESSION_GONE,
              "Statements " + shown(done) + " of the batch were not sent: the session has ended"));
      Arrays.fill(counts, done, counts.length, Statement.EXECUTE_FAILED);
      done = counts.length;
    }
  }

  private static boolean isConnection(SQLException failure) {
    String state = failure.getSQLState();
    return state != null && state.startsWith(CONNECTION_CLASS);
  }

  /** 08001 promises that nothing was changed. That holds for the part, and not for the batch. */
  private SQLException ofBatch(SQLException failure, int from) {
    if (!effective || !SqlState.NO_QUORUM.state().equals(failure.getSQLState())) {
      return failure;
    }
    return JdbcErrors.exception(
        new Reply.Failure(
            SqlState.SESSION_GONE,
            "No node took the batch from statement "
                + (from + 1)
                + " on in time. Statements before number "
                + (from + 1)
                + " were carried out, as the update counts say; the end of the session rolls back"
                + " an open transaction"),
        /* statement= */ null,
        failure);
  }

  private String shown(int from) {
    return (from + 1) + " to " + counts.length;
  }

  /** The update count of each statement, {@link Statement#EXECUTE_FAILED} for those that failed. */
  long[] counts() {
    return counts;
  }

  /** What failed, in order. */
  List<SQLException> failures() {
    return failures;
  }

  /** The first failure, which has the others chained to it; null if nothing failed. */
  @Nullable SQLException chain() {
    for (int i = 1; i < failures.size(); i++) {
      failures.get(0).setNextException(failures.get(i));
    }
    return failures.isEmpty() ? null : failures.get(0);
  }
}
