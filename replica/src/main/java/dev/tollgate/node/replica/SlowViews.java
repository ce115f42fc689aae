package dev.tollgate.node.replica;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.Lock;
import dev.tollgate.core.command.ClientInfo;
import dev.tollgate.core.command.FencingToken;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.node.slow.SlowApply;
import dev.tollgate.node.slow.SlowLog;
import dev.tollgate.node.slow.SlowStatement;
import dev.tollgate.node.slow.StuckLock;
import dev.tollgate.node.slow.StuckLocks;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** What is slow at this node, and which locks are stuck, as rows of views. Thread-safe. */
final class SlowViews {
  private final SlowLog slow;

  SlowViews(SlowLog slow) {
    this.slow = requireNonNull(slow, "slow");
  }

  /** The slow statements of the users that are seen. */
  List<@Nullable Object[]> statements(Visibility seen) {
    List<@Nullable Object[]> rows = new ArrayList<>();
    for (SlowStatement statement : slow.statements()) {
      if (seen.shows(statement.user())) {
        rows.add(
            new @Nullable Object[] {
              statement.answeredMicros(),
              statement.tookMillis(),
              statement.waitedMillis(),
              statement.outcome(),
              statement.formId(),
              statement.form(),
              statement.session().value(),
              statement.user().value(),
              statement.client().application(),
              statement.client().host(),
              statement.client().process()
            });
      }
    }
    return rows;
  }

  List<@Nullable Object[]> applies() {
    List<@Nullable Object[]> rows = new ArrayList<>();
    for (SlowApply entry : slow.applies()) {
      SessionId session = entry.session();
      rows.add(
          new @Nullable Object[] {
            entry.appliedMicros(),
            entry.logIndex(),
            entry.tookMillis(),
            (long) entry.commands(),
            (long) entry.slowestOrdinal(),
            entry.slowestCommand(),
            entry.slowestMillis(),
            session == null ? null : (Long) session.value()
          });
    }
    return rows;
  }

  /**
   * The holds and waits that last too long.
   *
   * @param locks a copy of all locks
   */
  List<@Nullable Object[]> stuckLocks(
      List<Lock> locks, Map<SessionId, ClientInfo> clients, Visibility seen) {
    long now = slow.nowMicros();
    StuckLocks stuck = new StuckLocks(slow.settings(), now);
    List<@Nullable Object[]> rows = new ArrayList<>();
    stuck
        .holds(locks, seen::shows)
        .forEach(hold -> rows.add(row("HOLD", hold, now, clients, seen)));
    stuck
        .waits(locks, seen::shows)
        .forEach(wait -> rows.add(row("WAIT", wait, now, clients, seen)));
    return rows;
  }

  private static @Nullable Object[] row(
      String what,
      StuckLock stuck,
      long nowMicros,
      Map<SessionId, ClientInfo> clients,
      Visibility seen) {
    FencingToken token = seen.showsToken(stuck.lock()) ? stuck.token() : null;
    ClientInfo client = clients.get(stuck.session());
    return new @Nullable Object[] {
      what,
      stuck.lock().value(),
      stuck.sinceMicros(),
      TimeUnit.MICROSECONDS.toMillis(nowMicros - stuck.sinceMicros()),
      token == null ? null : (Long) token.value(),
      stuck.lease().id().value(),
      stuck.lease().owner(),
      stuck.session().value(),
      client == null ? null : client.application(),
      client == null ? null : client.host(),
      client == null ? null : client.process(),
      (long) stuck.waiters()
    };
  }
}
