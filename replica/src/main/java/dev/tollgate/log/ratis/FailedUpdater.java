package dev.tollgate.log.ratis;

import static dev.tollgate.log.ratis.RatisInternals.field;
import static java.util.Objects.requireNonNull;

import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.raftlog.RaftLog;

/**
 * Ends the thread with which Ratis applies the log, once an entry could not be applied.
 *
 * <p>Ratis 3.3.0 (StateMachineUpdater) closes its server at such an entry, which ends the thread.
 * Where another thread closes the server already, that thread waits until all committed entries are
 * applied, and the updater runs in a circle for ever. So this class tells the updater that there is
 * nothing left to apply.
 */
final class FailedUpdater {
  private final RaftServer.Division division;

  /**
   * @param division a server that is not closed yet
   */
  FailedUpdater(RaftServer.Division division) {
    this.division = requireNonNull(division, "division");
  }

  /**
   * Makes the updater end when it has met the exception of its entry.
   *
   * @throws IllegalStateException if this Ratis is not the version that this class was written for
   */
  @SuppressWarnings("unchecked") // a field of Ratis
  void end() {
    try {
      Object state = field(division.getClass(), "state").get(division);
      Object updater =
          ((Supplier<?>) field(state.getClass(), "stateMachineUpdater").get(state)).get();
      ((AtomicReference<Long>) field(updater.getClass(), "stopIndex").get(updater))
          .set(RaftLog.INVALID_LOG_INDEX);
    } catch (ReflectiveOperationException | ClassCastException e) {
      throw new IllegalStateException("this Ratis ends its updater otherwise", e);
    }
  }
}
