package dev.tollgate.flyway;

import static java.util.Objects.requireNonNull;

import dev.tollgate.migrations.Database;
import dev.tollgate.migrations.MigrationException;
import dev.tollgate.migrations.MigrationLock;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
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

  /** The longest that one request for a lock may wait. */
  private static final Duration LONGEST_WAIT = Duration.ofHours(1);

  private final Connection session;
  private final RunSettings settings;
  private final Database tollgate;
  private final String name;
  private @Nullable MigrationLock held;

  /**
   * @param session of scripts and history
   * @param tollgate where the lock is taken, on a connection of its own
   */
  HistoryLock(Connection session, RunSettings settings, Database tollgate, String name) {
    this.session = requireNonNull(session, "session");
    this.settings = requireNonNull(settings, "settings");
    this.tollgate = requireNonNull(tollgate, "tollgate");
    this.name = requireNonNull(name, "name");
  }

  String name() {
    return name;
  }

  /**
   * Does what changes the history, and commits it also if it fails, since Flyway then records that.
   * Releases the lock unless it was held before.
   */
  <T> T during(Callable<T> work) {
    if (held != null) {
      return called(work);
    }
    hold();
    try {
      return committed(work);
    } finally {
      release();
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
      return result;
    } catch (SQLException e) {
      throw failure("the history was not committed", e);
    } catch (FlywayException e) {
      requireHeld(e);
      throw e;
    }
  }

  private void commitAfter(RuntimeException failure) {
    try {
      session.commit();
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

  /** What failed was refused because the lock is gone, if it is. */
  private void requireHeld(FlywayException failure) {
    if (held == null) {
      return;
    }
    try {
      held.assertHeld();
    } catch (MigrationException lost) {
      FlywayException refused =
          new FlywayException("The run was refused: " + lost.getMessage(), failure);
      refused.addSuppressed(lost);
      throw refused;
    }
  }

  /** Takes the lock unless it is held, and fences the session, until {@link #close}. */
  void hold() {
    if (held != null) {
      return;
    }
    held = acquire();
    LOG.debug("Lock '" + name + "' taken under token " + held.token());
    fenceAgain();
  }

  private MigrationLock acquire() {
    while (true) {
      try {
        return MigrationLock.acquire(tollgate, name, settings.lease(), wait(settings.retries()));
      } catch (MigrationException e) {
        if (e.reason() != MigrationException.Reason.LOCK_BUSY || settings.retries() >= 0) {
          throw new FlywayException(message(e), e);
        }
      }
    }
  }

  private static Duration wait(int retries) {
    Duration wait = Duration.ofSeconds(retries);
    return retries < 0 || wait.compareTo(LONGEST_WAIT) > 0 ? LONGEST_WAIT : wait;
  }

  private static String message(MigrationException e) {
    return e.reason() == MigrationException.Reason.LOCK_BUSY
        ? e.getMessage()
            + ". Another run of Flyway is at work; flyway.lockRetryCount says for how many seconds"
            + " to wait, -1 for as long as it takes"
        : String.valueOf(e.getMessage());
  }

  /** Fences the session if the lock is held; a script could have ended the fence. */
  void fenceAgain() {
    if (held == null) {
      return;
    }
    try (PreparedStatement fence = session.prepareStatement("SET FENCED BY LOCK ? TOKEN ?")) {
      fence.setString(1, name);
      fence.setLong(2, held.token());
      fence.execute();
    } catch (SQLException e) {
      throw failure("the session was not fenced by lock '" + name + "'", e);
    }
  }

  private FlywayException failure(String what, SQLException e) {
    FlywayException failure = new FlywayException(what + ": " + e.getMessage(), e);
    requireHeld(failure);
    return failure;
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
      try (Statement statement = session.createStatement()) {
        statement.execute("SET NOT FENCED");
      }
    } catch (SQLException e) {
      LOG.debug("The session stays fenced, as it does not answer: " + e.getMessage());
    }
  }
}
