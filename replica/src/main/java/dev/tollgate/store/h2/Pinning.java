package dev.tollgate.store.h2;

import org.h2.api.DatabaseEventListener;
import org.h2.engine.SessionLocal;
import org.jspecify.annotations.Nullable;

/**
 * Holds the pins of the statement that is being applied, and pins again whenever H2 starts a
 * statement. A definition runs statements of its own (ALTER TABLE copies rows with an INSERT). When
 * H2 starts and ends them, it forgets the time of the definition.
 */
public final class Pinning implements DatabaseEventListener {
  /**
   * The statement that is being applied, and its thread. Queries on other threads are not pinned.
   */
  private record Applied(Thread thread, SessionLocal session, Pins pins) {}

  private volatile @Nullable Applied applied;

  public void begin(SessionLocal session, Pins pins) {
    applied = new Applied(Thread.currentThread(), session, pins);
    // H2 folds constants when it prepares the statement, before the statement starts
    H2Clock.pin(session, pins);
    H2Sessions.forgetIdentifiers(session);
  }

  public void end(SessionLocal session) {
    applied = null;
    H2Clock.unpin(session);
  }

  @Override
  public void setProgress(int state, String name, long x, long max) {
    Applied now = applied;
    if (state == STATE_STATEMENT_START
        && now != null
        && now.thread().equals(Thread.currentThread())) {
      H2Clock.pin(now.session(), now.pins());
    }
  }
}
