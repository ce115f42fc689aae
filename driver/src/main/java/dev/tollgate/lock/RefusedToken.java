package dev.tollgate.lock;

import dev.tollgate.wire.SqlState;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/** Finds out whether a failure comes from a token that the cluster has refused. */
final class RefusedToken {
  /** Causes may form a ring. */
  private static final int MOST = 100;

  private RefusedToken() {}

  /**
   * Looks at a failure, at what caused it, and at the next exceptions of a batch: JdbcTemplate and
   * JPA throw exceptions of their own.
   *
   * @return the SQLException with 23T01; null if there is none among the first {@value #MOST}
   */
  static @Nullable SQLException in(Throwable failure) {
    Deque<Throwable> left = new ArrayDeque<>();
    left.add(failure);
    for (int seen = 0; seen < MOST; seen++) {
      Throwable each = left.poll();
      if (each == null) {
        return null;
      }
      if (each instanceof SQLException refused) {
        if (SqlState.STALE_TOKEN.state().equals(refused.getSQLState())) {
          return refused;
        }
        addIfThere(left, refused.getNextException());
      }
      addIfThere(left, each.getCause());
    }
    return null;
  }

  private static void addIfThere(Deque<Throwable> left, @Nullable Throwable next) {
    if (next != null) {
      left.add(next);
    }
  }
}
