package dev.tollgate.core.command;

import static java.util.Objects.requireNonNull;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** The result of a command; the same on every replica, except for the wording of SQL errors. */
public sealed interface Outcome {
  /** A session was opened under this id. */
  record SessionOpened(SessionId session) implements Outcome {
    public SessionOpened {
      requireNonNull(session, "session");
    }
  }

  /** A lease was created under this id. */
  record LeaseCreated(LeaseId lease) implements Outcome {
    public LeaseCreated {
      requireNonNull(lease, "lease");
    }
  }

  /** The lock is held under this token. */
  record Granted(FencingToken token) implements Outcome {
    public Granted {
      requireNonNull(token, "token");
    }
  }

  /**
   * All locks of a request are held.
   *
   * @param tokens in the order in which the request named the locks
   */
  record GrantedAll(List<FencingToken> tokens) implements Outcome {
    public GrantedAll {
      tokens = List.copyOf(tokens);
    }
  }

  /** Other leases hold the lock, and the request does not wait, or no longer waits. */
  record NotGranted() implements Outcome {}

  /** The request stands in the lock's queue; {@link Notice.Completed} will follow. */
  record Waiting() implements Outcome {}

  /** Yes or no, for operations that may find nothing to do. */
  record Answered(boolean answer) implements Outcome {}

  /** The command is done, without further result. */
  record Done() implements Outcome {}

  /**
   * A statement ran.
   *
   * @param result its update count, rows and generated keys, encoded by the store
   */
  record Executed(Payload result) implements Outcome {
    public Executed {
      requireNonNull(result, "result");
    }
  }

  /**
   * The executions of a batch or a series, each {@link Executed}, {@link Refused} or {@link
   * SqlFailed}. A series that stopped at a failure has no outcomes after it. A series that came to
   * its commit has one outcome more, {@link Done} or {@link Refused}.
   */
  record Batch(List<Outcome> outcomes) implements Outcome {
    public Batch {
      outcomes = List.copyOf(outcomes);
    }
  }

  /**
   * A row that the statement needs belongs to another transaction. The statement has changed
   * nothing and is to be tried again. Used between the store and the core only, never an outcome of
   * a command.
   *
   * @param with the session of that transaction
   * @param row the row, or null if the store cannot name it or the conflict is about more than one
   *     row
   * @param waitMillis how long the statement itself says that it waits, or null
   */
  record Conflict(SessionId with, @Nullable RowKey row, @Nullable Long waitMillis)
      implements Outcome {
    public Conflict {
      requireNonNull(with, "with");
    }

    /** A conflict that is not about one row. */
    public Conflict(SessionId with) {
      this(with, null, null);
    }
  }

  /** The state machine rejected the command; nothing has changed. */
  record Refused(RefusalCode code, String message) implements Outcome {
    public Refused {
      requireNonNull(code, "code");
      requireNonNull(message, "message");
    }
  }

  /**
   * The database rejected the statement; nothing has changed except sequence positions.
   *
   * @param message may name generated objects differently on different replicas
   */
  record SqlFailed(String sqlState, int vendorCode, String message) implements Outcome {
    public SqlFailed {
      requireNonNull(sqlState, "sqlState");
      requireNonNull(message, "message");
    }
  }
}
