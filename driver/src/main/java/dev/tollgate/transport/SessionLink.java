package dev.tollgate.transport;

import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SqlState;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The connection of a session to the node that serves it. When the connection breaks, opens
 * another, attaches the session, and sends the request under way again, until a reply arrives or
 * the budget is spent.
 *
 * <p>One thread at a time calls; any thread may {@link #sever}.
 */
final class SessionLink {
  private static final Logger LOG = System.getLogger("dev.tollgate.transport");

  /** One request, which may have to be sent more than once. */
  interface Call {
    /** Makes the request anew for each sending; may wait for a moment. */
    Request request();

    /**
     * True if the request may change something, so that a lost reply leaves its outcome unknown.
     */
    boolean effectful();

    /** The oldest version of the protocol that has the request. */
    default int minVersion() {
      return 1;
    }

    /** The connections that were lost while the reply to the request was due on them. */
    Losses losses();

    /** How long the reply may take, zero for no limit; read before each sending. */
    Duration untilDeadline();

    /** What ends the request at the node when its time is over; null if nothing does. */
    Request.@Nullable Cancel cancellation();

    /** True once another thread has canceled the request. */
    default boolean isCanceled() {
      return false;
    }

    /** A request that changes nothing, or may be carried out twice, and has no deadline. */
    static Call question(Request request) {
      return new Question(request, new Losses());
    }
  }

  private record Question(Request request, Losses losses) implements Call {
    @Override
    public boolean effectful() {
      return false;
    }

    @Override
    public Duration untilDeadline() {
      return Duration.ZERO;
    }

    @Override
    public Request.@Nullable Cancel cancellation() {
      return null;
    }
  }

  /**
   * Counts connections that were lost while the reply to a request was due on them. The request may
   * be what ended the node at the other end. Belongs to the thread that calls.
   */
  static final class Losses {
    private int count;

    void add() {
      count++;
    }

    int count() {
      return count;
    }
  }

  private final NodeFinder finder;
  private final Moves moves;
  private final Timekeeping environment;
  private final Request.SessionOptions options;
  private final long sessionId;
  private final long secret;
  private final FormerConnections former = new FormerConnections();
  private volatile @Nullable NodeConnection node;
  private volatile boolean severed;
  private boolean needsLeader;

  /** See {@link Request.AttachSession#settingSequence}. */
  private volatile long settingSequence;

  private int connections = 1;

  /**
   * @param node the connection that has the session
   */
  SessionLink(
      NodeFinder finder,
      Moves moves,
      Timekeeping environment,
      Request.SessionOptions options,
      Reply.SessionReady ready,
      NodeConnection node) {
    this.finder = finder;
    this.moves = moves;
    this.environment = environment;
    this.options = options;
    this.sessionId = ready.sessionId();
    this.secret = ready.secret();
    this.node = node;
    this.needsLeader = options.readConsistency() != ReadConsistency.ANY;
  }

  long sessionId() {
    return sessionId;
  }

  long secret() {
    return secret;
  }

  /** Has only nodes take the session that have applied the statement with this number. */
  void requireApplied(long sequence) {
    settingSequence = Math.max(settingSequence, sequence);
  }

  /** The number of connections so far; the state of one connection is lost with the next. */
  int connectionNumber() {
    return connections;
  }

  /**
   * Sends the request until a reply arrives.
   *
   * @throws UnansweredException if there is no reply when the budget is spent, or after {@link
   *     #sever}
   * @throws TransportException if the session is gone, or if the request is too large
   * @throws EarlierVersionException if the node is too old for the request, which was not sent
   */
  Reply call(Call call, Budget budget) throws UnansweredException, TransportException {
    boolean mayHaveEffect = false;
    IOException trouble = null;
    while (true) {
      long knownTerm = finder.news().term();
      NodeConnection current = attached(budget, mayHaveEffect, trouble);
      boolean sentBefore = mayHaveEffect;
      if (current.version() < call.minVersion() && !sentBefore) {
        throw new EarlierVersionException(call);
      }
      boolean due = false;
      try {
        if (current.version() < call.minVersion()) {
          throw new IOException(current.address() + " is of an earlier version");
        }
        // the rows of a leader that goes on are worth more than to be told soon of another one
        if (needsLeader && !former.hasRows(connections)) {
          finder.news().watch(current);
        }
        current.checkAfterIdling();
        long requestId = current.newRequestId();
        current.send(
            requestId, call.request(), call.losses().count(), millis(call.untilDeadline()));
        due = true;
        mayHaveEffect |= call.effectful();
        Optional<Reply> reply = await(current, requestId, call, budget);
        if (reply.isEmpty()) {
          throw new UnansweredException(mayHaveEffect, "it did not end in time", null);
        }
        if (reply.get() instanceof Reply.NotLeader elsewhere) {
          finder.map().learn(elsewhere.cluster(), current.address());
          needsLeader = true;
          trouble = new IOException(current.address() + " does not lead");
        } else if (sentBefore && isBusy(reply.get())) {
          // the request was not taken this time, but may have been taken before
          trouble = new IOException(current.address() + " is busy");
        } else {
          return sentBefore ? withDoubt(reply.get()) : reply.get();
        }
      } catch (NodeConnection.OversizeException e) {
        throw new TransportException(SqlState.TOO_LARGE, String.valueOf(e.getMessage()), e);
      } catch (IOException e) {
        finder.map().doubt(current.address());
        trouble = e;
        if (due) {
          call.losses().add();
        }
        disconnect();
      } finally {
        finder.news().forget(current);
      }
      leave();
      if (!budget.pause(finder.news(), knownTerm)) {
        throw new UnansweredException(mayHaveEffect, trouble.getMessage(), trouble);
      }
    }
  }

  private static boolean isBusy(Reply reply) {
    return reply instanceof Reply.Failure failure
        && failure.sqlState().equals(SqlState.BUSY.state());
  }

  /** Checks the reply to a resent request: without the session, its outcome is unknown. */
  private Reply withDoubt(Reply reply) throws TransportException {
    if (reply instanceof Reply.Failure failure
        && failure.sqlState().equals(SqlState.SESSION_GONE.state())) {
      throw gone(new TransportException(failure, null), true);
    }
    return reply;
  }

  /**
   * Records whether a result has more rows than were fetched on a connection. Such a connection
   * stays open when the session moves to another node.
   */
  void hasRows(int connection, boolean more) {
    if (more) {
      former.opened(connection);
    } else {
      former.ended(connection);
    }
  }

  /** Sends a request once, on this connection; empty if it is not there any more, or breaks. */
  Optional<Reply> callOnce(int connection, Request request, Duration timeout) {
    NodeConnection with = connection(connection);
    if (with == null) {
      return Optional.empty();
    }
    try {
      return Optional.of(with.ask(request, timeout));
    } catch (IOException e) {
      broken(connection);
      return Optional.empty();
    }
  }

  /** Sends a request that gets no reply; its loss does not matter. */
  void tell(int connection, Request request) {
    NodeConnection with = connection(connection);
    if (with != null) {
      try {
        with.tell(request);
      } catch (IOException e) {
        broken(connection);
      }
    }
  }

  private @Nullable NodeConnection connection(int number) {
    return number == connections ? node : former.find(number);
  }

  private void broken(int number) {
    if (number == connections) {
      disconnect();
    } else {
      former.broken(number);
    }
  }

  /**
   * Waits for the reply. Empty when the link is severed, or the limit of the budget is reached.
   * When the deadline is over, the node is told so again and again, and still has the last word: it
   * alone knows how the request ended.
   */
  private Optional<Reply> await(NodeConnection current, long requestId, Call call, Budget budget)
      throws IOException {
    boolean canceled = false;
    boolean timed = !call.untilDeadline().isZero();
    long deadline = environment.nanos() + call.untilDeadline().toNanos();
    while (!severed && !budget.limitReached()) {
      if (!canceled && call.isCanceled()) {
        canceled = true;
        timed = true;
        deadline = environment.nanos();
      }
      if (timed && environment.nanos() - deadline >= 0) {
        Request.Cancel cancellation = call.cancellation();
        if (cancellation != null) {
          // on this connection a cancellation cannot overtake its request
          current.send(current.newRequestId(), cancellation, 0);
        }
        deadline = environment.nanos() + environment.timing().cancelAgain().toNanos();
      }
      Duration wait = environment.timing().pingAfter();
      if (timed) {
        Duration left = Duration.ofNanos(Math.max(0, deadline - environment.nanos()));
        wait = left.compareTo(wait) < 0 ? left : wait;
      }
      long arrivedBefore = current.arrivedBytes();
      Optional<NodeConnection.Arrival> arrival = current.receive(budget.withinLimit(wait));
      if (arrival.isPresent() && arrival.get().requestId() == requestId) {
        return Optional.of(arrival.get().reply());
      }
      if (arrival.isPresent() || current.arrivedBytes() != arrivedBefore) {
        budget.healthy();
      }
    }
    return Optional.empty();
  }

  private NodeConnection attached(
      Budget budget, boolean mayHaveEffect, @Nullable IOException trouble)
      throws UnansweredException, TransportException {
    NodeConnection current = node;
    if (current != null && !(needsLeader && finder.news().isSuperseded(current))) {
      return current;
    }
    leave();
    long since = environment.nanos();
    Request.AttachSession attach = attach();
    try {
      current =
          finder
              .find(
                  needsLeader,
                  candidate -> candidate.ask(attach, budget.within(Duration.ofDays(1))),
                  budget)
              .node();
    } catch (NodeFinder.UnreachableException e) {
      throw new UnansweredException(mayHaveEffect, e.getMessage(), trouble == null ? e : trouble);
    } catch (TransportException e) {
      throw gone(e, mayHaveEffect);
    }
    node = current;
    connections++;
    if (severed) {
      current.close();
      throw new UnansweredException(mayHaveEffect, "the connection was closed", null);
    }
    long searchedMillis = (environment.nanos() - since) / 1_000_000;
    LOG.log(
        Level.DEBUG,
        "session {0} moved to {1}, found in {2} ms",
        sessionId,
        current.address(),
        searchedMillis);
    moves.add(current.address(), searchedMillis, environment.nanos());
    return current;
  }

  private TransportException gone(TransportException refusal, boolean mayHaveEffect) {
    String message =
        "Session " + sessionId + " was not taken by its cluster: " + refusal.getMessage();
    return mayHaveEffect
        ? new TransportException(
            SqlState.OUTCOME_UNKNOWN,
            message + " Whether the last statement took effect is not known.",
            refusal)
        : new TransportException(SqlState.SESSION_GONE, message, refusal);
  }

  private Request.AttachSession attach() {
    return new Request.AttachSession(sessionId, secret, needsLeader, options, settingSequence);
  }

  /** What attaches the session at the leader, wherever it is now. */
  Request.AttachSession attachToLeader() {
    return new Request.AttachSession(sessionId, secret, /* leaderOnly= */ true, options);
  }

  /** Leaves a connection that works, and that may have rows to be fetched. */
  private void leave() {
    NodeConnection current = node;
    node = null;
    if (current != null) {
      former.left(connections, current);
      if (severed) {
        former.close();
      }
    }
  }

  private void disconnect() {
    NodeConnection current = node;
    node = null;
    if (current != null) {
      current.close();
    }
  }

  /** Ends the connection for good; a thread that waits for a reply stops waiting. */
  void sever() {
    severed = true;
    disconnect();
    former.close();
  }

  private static int millis(Duration duration) {
    return duration.isZero()
        ? 0
        : (int) Math.max(1, Math.min(duration.toMillis(), Integer.MAX_VALUE));
  }

  /** The request was not sent, because the node does not know such requests. */
  static final class EarlierVersionException extends TransportException {
    private static final long serialVersionUID = 1L;

    EarlierVersionException(Call call) {
      super(
          SqlState.NOT_SUPPORTED,
          "The node is of an earlier version than " + call.minVersion() + " of the protocol.",
          null);
    }
  }

  /** No reply arrived; the caller decides what that means for the session. */
  static final class UnansweredException extends Exception {
    private static final long serialVersionUID = 1L;
    private final boolean mayHaveEffect;

    UnansweredException(
        boolean mayHaveEffect, @Nullable String message, @Nullable Throwable cause) {
      super(message, cause);
      this.mayHaveEffect = mayHaveEffect;
    }

    /** True if the request may have been carried out, or may still be. */
    boolean mayHaveEffect() {
      return mayHaveEffect;
    }
  }
}
