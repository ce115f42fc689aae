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
 * A session's connection, wherever it is: makes another when one breaks, attaches the session to
 * it, and sends the request under way again, until it is answered or its budget is spent.
 *
 * <p>One thread at a time calls; any thread may {@link #sever}.
 */
final class SessionLink {
  private static final Logger LOG = System.getLogger("dev.tollgate.transport");

  /** One request, which may have to be sent more than once. */
  interface Call {
    /** The request, made anew for every time it is sent; may wait for a moment. */
    Request request();

    /** True if it may change something, so that its outcome matters if the answer is lost. */
    boolean effectful();

    /** How long the answer may take, zero for ever; asked before each sending. */
    Duration untilDeadline();

    /** The time is over: try to end it at the node. */
    void cancel();

    /** A request that changes nothing, or may be carried out twice, and has no deadline. */
    static Call question(Request request) {
      return new Question(request);
    }
  }

  private record Question(Request request) implements Call {
    @Override
    public boolean effectful() {
      return false;
    }

    @Override
    public Duration untilDeadline() {
      return Duration.ZERO;
    }

    @Override
    public void cancel() {}
  }

  private final NodeFinder finder;
  private final Moves moves;
  private final Timekeeping environment;
  private final Request.SessionOptions options;
  private final long sessionId;
  private final long secret;
  private volatile @Nullable NodeConnection node;
  private volatile boolean severed;
  private boolean needsLeader;
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

  /** Counts the connections so far; what belongs to one of them is lost with the next. */
  int connectionNumber() {
    return connections;
  }

  /**
   * Asks until there is an answer.
   *
   * @throws UnansweredException if there is none when the budget is spent, or after a cancellation
   * @throws TransportException if the session is gone
   */
  Reply call(Call call, Budget budget) throws UnansweredException, TransportException {
    boolean mayHaveEffect = false;
    IOException trouble = null;
    while (true) {
      NodeConnection current = attached(budget, mayHaveEffect, trouble);
      boolean sentBefore = mayHaveEffect;
      try {
        current.checkAfterIdling();
        long requestId = current.newRequestId();
        current.send(requestId, call.request(), millis(call.untilDeadline()));
        mayHaveEffect |= call.effectful();
        Optional<Reply> reply = await(current, requestId, call, budget);
        if (reply.isEmpty()) {
          throw new UnansweredException(mayHaveEffect, "it did not end in time", null);
        }
        if (reply.get() instanceof Reply.NotLeader elsewhere) {
          finder.map().learn(elsewhere.cluster());
          needsLeader = true;
          trouble = new IOException(current.address() + " does not lead");
        } else if (sentBefore && isBusy(reply.get())) {
          // it was not taken this time, but may have been before
          trouble = new IOException(current.address() + " is busy");
        } else {
          return sentBefore ? withDoubt(reply.get()) : reply.get();
        }
      } catch (NodeConnection.OversizeException e) {
        throw new TransportException(SqlState.TOO_LARGE, String.valueOf(e.getMessage()), e);
      } catch (IOException e) {
        finder.map().doubt(current.address());
        trouble = e;
      }
      disconnect();
      if (!budget.pause()) {
        throw new UnansweredException(mayHaveEffect, trouble.getMessage(), trouble);
      }
    }
  }

  private static boolean isBusy(Reply reply) {
    return reply instanceof Reply.Failure failure
        && failure.sqlState().equals(SqlState.BUSY.state());
  }

  /** The answer to a request that was sent before: without the session nobody knows what it did. */
  private Reply withDoubt(Reply reply) throws TransportException {
    if (reply instanceof Reply.Failure failure
        && failure.sqlState().equals(SqlState.SESSION_GONE.state())) {
      throw gone(new TransportException(failure, null), true);
    }
    return reply;
  }

  /** Asks once, on the connection there is; empty if there is none, or it breaks. */
  Optional<Reply> callOnce(Request request, Duration timeout) {
    NodeConnection current = node;
    if (current == null) {
      return Optional.empty();
    }
    try {
      return Optional.of(current.ask(request, timeout));
    } catch (IOException e) {
      disconnect();
      return Optional.empty();
    }
  }

  /** Sends something that is not answered; it does not matter if it gets lost. */
  void tell(Request request) {
    NodeConnection current = node;
    if (current != null) {
      try {
        current.tell(request);
      } catch (IOException e) {
        disconnect();
      }
    }
  }

  /** Empty when the deadline is over and the node does not say how the cancelled request ended. */
  private Optional<Reply> await(NodeConnection current, long requestId, Call call, Budget budget)
      throws IOException {
    boolean cancelled = false;
    boolean timed = !call.untilDeadline().isZero();
    long deadline = environment.nanos() + call.untilDeadline().toNanos();
    while (!severed && !budget.limitReached()) {
      Duration wait = environment.timing().pingAfter();
      if (timed) {
        Duration left = Duration.ofNanos(deadline - environment.nanos());
        if (left.isNegative() || left.isZero()) {
          if (cancelled) {
            return Optional.empty();
          }
          call.cancel();
          cancelled = true;
          deadline = environment.nanos() + environment.timing().cancelGrace().toNanos();
          continue;
        }
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
    if (current != null) {
      return current;
    }
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
    return new Request.AttachSession(sessionId, secret, needsLeader, options);
  }

  private void disconnect() {
    NodeConnection current = node;
    node = null;
    if (current != null) {
      current.close();
    }
  }

  /** Ends the connection for good; whoever waits for an answer stops waiting. */
  void sever() {
    severed = true;
    disconnect();
  }

  private static int millis(Duration duration) {
    return duration.isZero()
        ? 0
        : (int) Math.max(1, Math.min(duration.toMillis(), Integer.MAX_VALUE));
  }

  /** No answer; the caller decides what that means for the session. */
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
