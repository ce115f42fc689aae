package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import dev.tollgate.transport.ClusterSession;
import dev.tollgate.transport.InterruptibleCall;
import dev.tollgate.wire.SqlState;
import java.lang.System.Logger;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * One request for locks under a lease. A request that waits does so on the thread of its caller. A
 * thread that reads from a socket does not notice an interrupt. So whichever thread interrupts the
 * caller has the request canceled, and the answer to that ends the wait.
 *
 * <p>What a request is granted although its caller has to leave is released.
 */
final class LockRequest implements WaitingRequests.Wait {
  private static final Logger LOG = LockLog.LOG;

  /** The longest wait that the cluster takes; a longer one is asked for again. */
  static final Duration LONGEST = Duration.ofHours(1);

  /** How long the cluster may take to say that a wait is over. */
  private static final Duration GRACE = Duration.ofSeconds(1);

  /** How long the answer to a cancellation may take until the connection is given up. */
  private static final Duration FAREWELL = Duration.ofSeconds(2);

  /** A cancellation that comes before its statement is sent has no effect, so it is repeated. */
  private static final Duration CANCEL_AGAIN = Duration.ofMillis(50);

  private record Answer(Optional<List<Long>> tokens, @Nullable SQLException failure) {
    static final Answer NONE = new Answer(Optional.empty(), null);

    static Answer failed(SQLException failure) {
      return new Answer(Optional.empty(), failure);
    }
  }

  private record Asking(Connection connection, ClusterSession session) {}

  private final LockClient client;
  private final Lease lease;
  private final List<String> names;
  private final LockOptions options;
  private final CompletableFuture<Connection> opened = new CompletableFuture<>();
  private @Nullable Asking underWay;
  private volatile boolean sent;
  private volatile boolean leaves;
  private volatile long leavesAtNanos;

  /** Until when cancellations are repeated; of the thread that ends waits. */
  private @Nullable Long cancelsUntilNanos;

  LockRequest(LockClient client, Lease lease, List<String> names, LockOptions options) {
    this.client = requireNonNull(client, "client");
    this.lease = requireNonNull(lease, "lease");
    this.names = List.copyOf(names);
    this.options = requireNonNull(options, "options");
  }

  /** A thread that was interrupted asks for no lock by a call that may be interrupted. */
  static void requireNotInterrupted() throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
  }

  /** Asks without waiting. Returns the tokens in the order of the names; empty if not granted. */
  Optional<List<Long>> now() {
    Answer reply;
    try {
      reply =
          client
              .calls()
              .call(
                  connection -> {
                    try (PreparedStatement statement = prepare(connection, Duration.ZERO)) {
                      sent = true;
                      return new Answer(LockCalls.tokens(statement, names.size()), null);
                    }
                  });
    } catch (SQLException e) {
      reply = Answer.failed(e);
    }
    return read(reply);
  }

  private PreparedStatement prepare(Connection connection, Duration wait) throws SQLException {
    return LockCalls.acquire(connection, names, options, lease.id(), wait);
  }

  /** Asks and waits for at most this long. */
  Optional<List<Long>> await(Duration wait) throws InterruptedException {
    requireNotInterrupted();
    Duration longest = wait.plus(GRACE);
    leavesAtNanos = System.nanoTime() + longest.toNanos();
    client.waits().begin(this, longest);
    Runnable onLoss = this::leave;
    lease.whenLost(onLoss);
    InterruptibleCall<Answer> asking = new InterruptibleCall<>(this::leave);
    Answer reply;
    try {
      Connection connection = connect();
      reply = connection == null ? Answer.NONE : asking.run(() -> ask(connection, wait));
    } catch (SQLException e) {
      reply = Answer.failed(e);
    } finally {
      lease.forgetHook(onLoss);
      client.waits().end(this);
    }
    if (Thread.interrupted() || asking.isInterrupted()) {
      clean(reply);
      throw new InterruptedException();
    }
    if (leaves && reply.tokens().isEmpty()) {
      clean(reply);
      client.requireOpen();
      lease.assertAlive();
      return Optional.empty();
    }
    return read(reply);
  }

  /** Returns null if the caller has to leave before there is a connection. */
  private @Nullable Connection connect() throws SQLException, InterruptedException {
    Connection idle = client.connections().forWaitingNow();
    if (idle != null) {
      return idle;
    }
    client.threads().runConnecting(this::open);
    try {
      return opened.get();
    } catch (CancellationException e) {
      return null;
    } catch (InterruptedException e) {
      if (!opened.cancel(false) && !opened.isCompletedExceptionally()) {
        client.connections().giveBack(opened.join());
      }
      throw e;
    } catch (ExecutionException e) {
      throw e.getCause() instanceof SQLException failure ? failure : new SQLException(e.getCause());
    }
  }

  private void open() {
    try {
      Connection connection = client.connections().forWaiting();
      if (!opened.complete(connection)) {
        client.connections().giveBack(connection);
      }
    } catch (SQLException | RuntimeException | Error e) {
      opened.completeExceptionally(e);
    }
  }

  private Answer ask(Connection connection, Duration wait) {
    boolean whole = false;
    try (PreparedStatement statement = prepare(connection, wait)) {
      setUnderWay(new Asking(connection, connection.unwrap(ClusterSession.class)));
      if (leaves) {
        whole = true;
        return Answer.NONE;
      }
      sent = true;
      Answer reply = new Answer(LockCalls.tokens(statement, names.size()), null);
      whole = true;
      return reply;
    } catch (SQLException e) {
      whole = !LockCalls.isConnectionLost(e);
      return Answer.failed(e);
    } catch (RuntimeException | Error e) {
      return Answer.failed(new SQLException(e));
    } finally {
      setUnderWay(null);
      if (whole) {
        client.connections().giveBack(connection);
      } else {
        client.connections().discard(connection);
      }
    }
  }

  private synchronized void setUnderWay(@Nullable Asking asking) {
    underWay = asking;
  }

  /** Has the wait ended soon; does not wait itself. */
  @Override
  public void leave() {
    leaves = true;
    opened.cancel(false);
    client.waits().hasten();
  }

  @Override
  public Duration endIfDue(long nowNanos) {
    long left = leavesAtNanos - nowNanos;
    if (!leaves && left > 0) {
      return Duration.ofNanos(left);
    }
    leaves = true;
    opened.cancel(false);
    if (cancelsUntilNanos == null) {
      cancelsUntilNanos = nowNanos + FAREWELL.toNanos();
    }
    end(/* byForce= */ cancelsUntilNanos - nowNanos <= 0);
    return CANCEL_AGAIN;
  }

  /** Ends the session itself, too: a pool may do anything in abort. */
  private synchronized void end(boolean byForce) {
    Asking asking = underWay;
    if (asking == null) {
      return;
    }
    if (!byForce) {
      asking.session().cancel();
      return;
    }
    asking.session().abort();
    try {
      ForeignCode.run(() -> asking.connection().abort(Runnable::run));
    } catch (SQLException e) {
      LOG.log(Logger.Level.DEBUG, "a wait for {0} was not aborted: {1}", names, e.getMessage());
    }
  }

  /** Leaves nothing granted that no caller has, and no lease alive that may be granted it yet. */
  private void clean(Answer reply) {
    SQLException failure = reply.failure();
    if (reply.tokens().isPresent()) {
      lease.locks().giveUp(names);
    } else if (failure != null && SqlState.LEASE_GONE.state().equals(failure.getSQLState())) {
      lease.lose("the cluster has ended it");
    } else if (failure != null && sent && LockCalls.isUnknown(failure)) {
      lease.lose("the request for " + names + " may still be granted: " + failure.getMessage());
    }
  }

  private Optional<List<Long>> read(Answer reply) {
    SQLException failure = reply.failure();
    if (failure == null) {
      return reply.tokens();
    }
    clean(reply);
    if (SqlState.LEASE_GONE.state().equals(failure.getSQLState())) {
      lease.assertAlive();
    }
    throw LockException.of("the request for " + names + " failed", failure);
  }
}
