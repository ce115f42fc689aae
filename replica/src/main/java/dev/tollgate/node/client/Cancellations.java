package dev.tollgate.node.client;

import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.RequestId;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.UserName;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The statements that are under way at this node, and which of them their clients have canceled. A
 * cancellation comes by another connection than its statement, and may overtake it: then it is kept
 * until the statement comes, until a later statement of its session comes, or until the session
 * ends. A user that sends too many pushes out its own. Thread-safe.
 */
final class Cancellations {
  /** One statement. A cancellation stays with it until it is answered. Thread-safe. */
  static final class Statement {
    private boolean canceled;
    private @Nullable Runnable interruption;

    synchronized boolean isCanceled() {
      return canceled;
    }

    /**
     * Begins a part of the statement that a cancellation ends; if it has come, it does so now.
     *
     * @param interruption called at most once, by any thread; must not wait
     */
    void interruptBy(Runnable interruption) {
      synchronized (this) {
        if (!canceled) {
          this.interruption = interruption;
          return;
        }
      }
      interruption.run();
    }

    /**
     * Puts the statement into a queue, from which a cancellation takes it out.
     *
     * @param entry puts it there, or goes on with it at once
     * @param withdrawal takes it out; false if it is not there, because it goes on
     * @param withdrawn run once if it was taken out; must not wait
     */
    void enqueue(Runnable entry, BooleanSupplier withdrawal, Runnable withdrawn) {
      Runnable leave =
          () -> {
            if (withdrawal.getAsBoolean()) {
              withdrawn.run();
            }
          };
      // what the statement does next registers its own end, also on another thread
      interruptBy(leave);
      entry.run();
      if (isCanceled()) {
        // the cancellation may have come before the statement was in the queue
        leave.run();
      }
    }

    /** That part has ended. */
    synchronized void goesOn() {
      interruption = null;
    }

    void cancel() {
      Runnable now;
      synchronized (this) {
        canceled = true;
        now = interruption;
        interruption = null;
      }
      if (now != null) {
        now.run();
      }
    }
  }

  private final Map<RequestId, Statement> underWay = new LinkedHashMap<>();

  /** The statement that a session has canceled before it came. */
  private record Kept(long sequence, UserName user) {}

  /** By session, the oldest first. */
  private final Map<SessionId, Kept> kept = new LinkedHashMap<>();

  /** The sessions of each user for which one is kept, in the same order. */
  private final Map<UserName, Set<SessionId>> ofUsers = new HashMap<>();

  /** A statement has come. */
  synchronized Statement begins(RequestId request) {
    Statement statement = new Statement();
    Kept canceled = kept.get(request.session());
    if (canceled != null && canceled.sequence() <= request.sequence()) {
      forget(request.session());
      if (canceled.sequence() == request.sequence()) {
        statement.cancel();
      }
    }
    underWay.put(request, statement);
    return statement;
  }

  /** A statement is answered. If it was sent again meanwhile, the other one goes on. */
  synchronized void ends(RequestId request, Statement statement) {
    underWay.remove(request, statement);
  }

  synchronized void sessionEnded(SessionId session) {
    forget(session);
  }

  /**
   * Cancels a statement that is under way here or will come.
   *
   * @param user of the session
   */
  void cancel(RequestId request, UserName user) {
    Statement statement;
    synchronized (this) {
      statement = underWay.get(request);
      if (statement == null) {
        keep(request, user);
        return;
      }
    }
    statement.cancel();
  }

  private void keep(RequestId request, UserName user) {
    forget(request.session());
    kept.put(request.session(), new Kept(request.sequence(), user));
    Set<SessionId> ofUser = ofUsers.computeIfAbsent(user, any -> new LinkedHashSet<>());
    ofUser.add(request.session());
    if (ofUser.size() > Limits.KEPT_CANCELLATIONS_PER_USER && !user.equals(UserName.ANONYMOUS)) {
      forget(ofUser.iterator().next());
    } else if (kept.size() > Limits.KEPT_CANCELLATIONS) {
      forget(kept.keySet().iterator().next());
    }
  }

  private void forget(SessionId session) {
    Kept forgotten = kept.remove(session);
    if (forgotten != null) {
      ofUsers.computeIfPresent(
          forgotten.user(),
          (user, sessions) -> sessions.remove(session) && sessions.isEmpty() ? null : sessions);
    }
  }

  /** How many cancellations wait for their statements. */
  synchronized int kept() {
    return kept.size();
  }
}
