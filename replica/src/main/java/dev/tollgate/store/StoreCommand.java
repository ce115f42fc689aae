package dev.tollgate.store;

import org.h2.command.CommandContainer;
import org.h2.command.Prepared;
import org.h2.engine.SessionLocal;

/**
 * A statement of H2 that is never run twice, with what its functions may ask about.
 *
 * <p>H2 runs a statement again after a conflict without undoing the first attempt, and then reports
 * a duplicate key of its own row: here a conflict is an error.
 */
final class StoreCommand extends CommandContainer {
  private final LockAccess locks;

  StoreCommand(SessionLocal session, String sql, Prepared prepared, LockAccess locks) {
    super(session, sql, prepared);
    this.locks = locks;
  }

  /** What the lock functions in this statement work on. */
  LockAccess locks() {
    return locks;
  }

  @Override
  protected boolean isRetryable() {
    return false;
  }
}
