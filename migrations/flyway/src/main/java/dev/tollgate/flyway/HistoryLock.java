package dev.tollgate.flyway;

import static java.util.Objects.requireNonNull;

import dev.tollgate.migrations.Database;
import dev.tollgate.migrations.FencedSession;
import dev.tollgate.migrations.MigrationLock;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.Callable;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.logging.Log;
import org.flywaydb.core.api.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The lock of a history table, and the session that it fences: the one that runs scripts and writes
 * the history. While the lock is held, that session writes under its token or not at all.
 *
 * <p>Not thread-safe, as the command of Flyway that has it.
 */
final class HistoryLock {
  private static final Log LOG = LogFactory.getLog(HistoryLock.class);

  private final Connection session;
  private final LockSettings settings;
  private final Database tollgate;
  private final String name;
  private final RowWait rowWait;
  private @Nullable MigrationLock held;
  private boolean isWorking;

  /**
   * @param session of scripts and history
   * @param tollgate where the lock is taken, on a connection of its own
   * @param rowWait how long the session waits for rows
   */
  HistoryLock(
      Connection session, LockSettings settings, Database tollgate, String name, RowWait rowWait) {
    this.session = requireNonNull(session, "session");
    this.settings = requireNonNull(settings, "settings");
    this.tollgate = requireNonNull(tollgate, "tollgate");
    this.name = requireNonNull(name, "name");
    this.rowWait = requireNonNull(rowWait, "rowWait");
  }

  String name() {
    return name;
  }

  /** Takes the lock unless it is held, and fences the session, until {@link #close}. */
  MigrationLock hold() {
    if (held == null) {
      held = settings.acquire(tollgate, name);
      LOG.debug("Lock '" + name + "' taken under token " + held.token());
      fenceAgain();
      rowWait.begin(session);
    }
    return held;
  }

  /** Fences the session if the lock is held; a script could have ended the fence. */
  void fenceAgain() {
    if (held == null) {
      return;
    }
    try {
      FencedSession.fence(session, held);
    } catch (SQLException e) {
      throw failure("the session was not fenced by lock '" + name + "'", e);
    }
  }

  /**
   * Does work that changes the history, and commits it also if it fails, since Flyway records that
   * then. Releases the lock unless it was held before.
   *
   * @param first what is done under the lock before the transaction begins
   */
  <T> T during(Runnable first, Callable<T> work) {
    if (isWorking) {
      return called(work);
    }
    boolean wasHeld = held != null;
    hold();
    isWorking = true;
    try {
      first.run();
      return committed(work);
    } catch (FlywayException e) {
      throw explained(e);
    } finally {
      isWorking = false;
      if (!wasHeld) {
        release();
      }
    }
  }

  private <T> T committed(Callable<T> work) {
    try {
      session.setAutoCommit(false);
      T result;
      try {
        result = called(work);
      } catch (RuntimeException e) {
        commitAfter(e);
        throw e;
      }
      session.commit();
      session.setAutoCommit(true);
      return result;
    } catch (SQLException e) {
      throw failure("the history was not committed", e);
    }
  }

  private void commitAfter(RuntimeException failure) {
    try {
      session.commit();
      session.setAutoCommit(true);
    } catch (SQLException e) {
      failure.addSuppressed(e);
    }
  }

  private static <T> T called(Callable<T> work) {
    try {
      return work.call();
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new FlywayException(e);
    }
  }

  private FlywayException failure(String what, SQLException e) {
    return explained(new FlywayException(what + ": " + e.getMessage(), e));
  }

  /** What failed was refused because the lock is gone, if it is. */
  private FlywayException explained(FlywayException failure) {
    return held == null ? failure : LockSettings.explained(failure, held);
  }

  /** Ends the fence and releases the lock; what is not committed is rolled back. */
  void close() {
    if (held != null) {
      release();
    }
  }

  private void release() {
    MigrationLock released = requireNonNull(held, "held");
    held = null;
    try (released) {
      if (!session.getAutoCommit()) {
        session.rollback();
        session.setAutoCommit(true);
      }
      rowWait.end(session);
      FencedSession.release(session);
    } catch (SQLException e) {
      LOG.debug("The session stays fenced, as it does not answer: " + e.getMessage());
    }
  }
}
