package dev.tollgate.store.statement;

import dev.tollgate.core.SqlContext;
import dev.tollgate.core.command.FenceId;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.UserName;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The lock state that the functions and views of schema TOLLGATE work on, as a statement may see
 * it.
 */
public interface LockAccess {
  /**
   * Returns the same access for a query that may have to end. A log entry with a definition waits
   * for the queries under way, and a query that asks for the lock state waits for the entry.
   *
   * @param queryEnds true if the query is to end; a waiting call then throws {@link
   *     java.util.concurrent.CancellationException}
   */
  default LockAccess until(BooleanSupplier queryEnds) {
    return this;
  }

  /** Returns the same access for a query of a user, who may not see all of it. */
  default LockAccess seenBy(UserName user) {
    return this;
  }

  /** Answers whether the lock is held under this token, or refuses the user. */
  Outcome holdsLock(LockName lock, long token);

  /** Grants the token under which the lock is held exclusively, or none, or refuses the user. */
  Outcome lockToken(LockName lock);

  /** Performs an operation at the statement's log position; refused outside the log. */
  Outcome perform(Operation operation);

  /** Returns null if the statement may write a row under this lock, otherwise the refusal. */
  default Outcome.@Nullable Refused admitRow(FenceId fence, LockName lock) {
    throw new IllegalStateException("no row is written here, but one of fence " + fence);
  }

  /**
   * The rows of a system table as it is now, each with the columns that the table declares. Each
   * row is made when it is read, whenever that is: there may be a million rows.
   */
  Iterable<@Nullable Object[]> rows(SystemTable table);

  /** For statements that may not call a lock function. */
  LockAccess NONE =
      new LockAccess() {
        @Override
        public Outcome holdsLock(LockName lock, long token) {
          return new Outcome.Answered(false);
        }

        @Override
        public Outcome lockToken(LockName lock) {
          return new Outcome.NotGranted();
        }

        @Override
        public Outcome perform(Operation operation) {
          throw new IllegalStateException("no lock operation here");
        }

        @Override
        public Iterable<@Nullable Object[]> rows(SystemTable table) {
          return List.of();
        }
      };

  /** The lock state at the position of a statement of the log. */
  static LockAccess of(SqlContext context) {
    return new LockAccess() {
      @Override
      public Outcome holdsLock(LockName lock, long token) {
        return context.holdsLock(lock, token);
      }

      @Override
      public Outcome lockToken(LockName lock) {
        return context.lockToken(lock);
      }

      @Override
      public Outcome perform(Operation operation) {
        return context.perform(operation);
      }

      @Override
      public Outcome.@Nullable Refused admitRow(FenceId fence, LockName lock) {
        return context.admitRow(fence, lock);
      }

      @Override
      public Iterable<@Nullable Object[]> rows(SystemTable table) {
        throw new IllegalStateException("the views of schema TOLLGATE are read outside the log");
      }
    };
  }
}
