package dev.tollgate.transport;

import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SqlState;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Sessions that this process has given up while the cluster still has them: after an abort, a
 * network timeout, or a close without an answer. Has the leader close them. Without that, their
 * requests would stay in line for locks, and their rows would stay locked, until the sessions
 * expire. Thread-safe; only a thread of its own waits, which ends when all is said.
 *
 * <p>A process that ends before that, or that reaches no leader, leaves the sessions to expire.
 */
final class AbandonedSessions {
  private static final Logger LOG = System.getLogger("dev.tollgate.transport");

  /** Sessions that wait for the thread; further ones expire. */
  static final int MOST = 1_000;

  private record Abandoned(
      NodeFinder finder, Request.AttachSession attach, Duration patience, long sinceNanos) {
    /** How long a leader is still looked for. */
    Duration left(long nowNanos) {
      return patience.minusNanos(nowNanos - sinceNanos);
    }
  }

  private final String name;
  private final Timekeeping environment;
  private final BooleanSupplier pointless;
  private final Queue<Abandoned> waiting = new ArrayDeque<>();
  private boolean running;

  /**
   * @param pointless true once no node can be reached any more
   */
  AbandonedSessions(String name, Timekeeping environment, BooleanSupplier pointless) {
    this.name = name;
    this.environment = environment;
    this.pointless = pointless;
  }

  /**
   * Has a session closed at the cluster.
   *
   * @param finder logs in as the user of the session
   * @param patience how long a leader is looked for, the wait for the thread included
   */
  synchronized void add(NodeFinder finder, Request.AttachSession attach, Duration patience) {
    if (waiting.size() >= MOST) {
      LOG.log(
          Level.DEBUG,
          "session {0} is left to expire: {1} are waiting to be closed",
          attach.sessionId(),
          MOST);
      return;
    }
    waiting.add(new Abandoned(finder, attach, patience, environment.nanos()));
    if (!running) {
      DaemonThreads.serving(this::run, "tollgate-abandoned-" + name).start();
      running = true;
    }
  }

  /** How many sessions wait for the thread. */
  synchronized int waiting() {
    return waiting.size();
  }

  private void run() {
    NodeConnection node = null;
    try {
      for (Abandoned next = take(); next != null; next = take()) {
        node = close(next, node);
      }
    } catch (RuntimeException | Error e) {
      LOG.log(Level.ERROR, Thread.currentThread().getName() + ": a bug in Tollgate", e);
      forgetAll();
    } finally {
      if (node != null) {
        node.close();
      }
    }
  }

  private synchronized @Nullable Abandoned take() {
    Abandoned next = waiting.poll();
    running = next != null;
    return next;
  }

  private synchronized void forgetAll() {
    waiting.clear();
    running = false;
  }

  /**
   * Closes a session.
   *
   * @param node the connection by which the session before was closed
   * @return a connection to the leader, for the next session
   */
  private @Nullable NodeConnection close(Abandoned session, @Nullable NodeConnection node) {
    Duration left = session.left(environment.nanos());
    if (left.isNegative() || left.isZero()) {
      return node;
    }
    Budget budget = new Budget(environment, left, left, pointless);
    if (node != null) {
      try {
        if (!(close(session, node, budget) instanceof Reply.NotLeader)) {
          return node;
        }
      } catch (IOException e) {
        left(session, e);
      }
      node.close();
    }
    try {
      return session.finder().find(true, leader -> close(session, leader, budget), budget).node();
    } catch (IOException e) {
      left(session, e);
    } catch (TransportException e) {
      left(session, e);
      if (e.failure().sqlState().equals(SqlState.LOGIN_REFUSED.state())) {
        // each attempt counts against the user, whose other processes may know the password
        forgetWaiting();
      }
    }
    return null;
  }

  private static Reply close(Abandoned session, NodeConnection node, Budget budget)
      throws IOException {
    Reply attached = node.ask(session.attach(), budget.within(session.patience()));
    return attached instanceof Reply.SessionReady
        ? node.ask(new Request.CloseSession(), budget.within(session.patience()))
        : attached;
  }

  private synchronized void forgetWaiting() {
    waiting.clear();
  }

  private static void left(Abandoned session, Exception cause) {
    LOG.log(
        Level.DEBUG,
        "session {0} was not closed: {1}",
        session.attach().sessionId(),
        cause.getMessage());
  }
}
