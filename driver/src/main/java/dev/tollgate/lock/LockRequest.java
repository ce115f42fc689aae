package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import dev.tollgate.wire.SqlState;
import java.lang.System.Logger;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * One request for locks under a lease. It waits on a thread of the client, because a thread that
 * waits for a node cannot be interrupted.
 *
 * <p>A caller that is interrupted, or has waited for long enough, leaves the request. What the
 * request is granted nevertheless is released, on whichever thread learns of it.
 */
final class LockRequest {
  private static final Logger LOG = System.getLogger("dev.tollgate.lock");

  /** How long the cluster may take to say that a wait is over. */
  private static final Duration GRACE = Duration.ofSeconds(1);

  /** How long a caller that leaves waits until its request has ended. */
  private static final Duration FAREWELL = Duration.ofSeconds(2);

  /** A cancellation that comes before its statement is sent has no effect, so it is repeated. */
  private static final Duration CANCEL_AGAIN = Duration.ofMillis(50);

  private record Answer(Optional<List<Long>> tokens, @Nullable SQLException failure) {}

  private final LockClient client;
  private final Lease lease;
  private final List<String> names;
  private final LockOptions options;
  private final CompletableFuture<Answer> answer = new CompletableFuture<>();
  private final CountDownLatch ended = new CountDownLatch(1);
  private @Nullable Answer delivered;
  private @Nullable Statement underWay;
  private boolean left;
  private volatile boolean sent;

  LockRequest(LockClient client, Lease lease, List<String> names, LockOptions options) {
    this.client = requireNonNull(client, "client");
    this.lease = requireNonNull(lease, "lease");
    this.names = List.copyOf(names);
    this.options = requireNonNull(options, "options");
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
      reply = new Answer(Optional.empty(), e);
    }
    return read(reply);
  }

  private PreparedStatement prepare(Connection connection, Duration wait) throws SQLException {
    return LockCalls.acquire(connection, names, options, lease.id(), wait);
  }

  /** Asks and waits for at most this long. */
  Optional<List<Long>> await(Duration wait) throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    client.threads().runWaiting(() -> run(wait));
    Runnable onLoss =
        () -> answer.completeExceptionally(new LockLostException("its lease is lost"));
    lease.whenLost(onLoss);
    try {
      return read(answer.get(wait.plus(GRACE).toNanos(), TimeUnit.NANOSECONDS));
    } catch (InterruptedException e) {
      leave();
      throw e;
    } catch (TimeoutException e) {
      leave();
      return Optional.empty();
    } catch (ExecutionException e) {
      leave();
      lease.assertAlive();
      throw new IllegalStateException(e);
    } finally {
      lease.forgetHook(onLoss);
    }
  }

  private void run(Duration wait) {
    Answer reply;
    try {
      reply = new Answer(ask(wait), null);
    } catch (SQLException e) {
      reply = new Answer(Optional.empty(), e);
    } catch (RuntimeException | Error e) {
      reply = new Answer(Optional.empty(), new SQLException(e));
    }
    boolean unwanted;
    synchronized (this) {
      delivered = reply;
      unwanted = left;
    }
    answer.complete(reply);
    if (unwanted) {
      clean(reply);
    }
    ended.countDown();
  }

  private Optional<List<Long>> ask(Duration wait) throws SQLException {
    Connection connection = client.connections().forWaiting();
    boolean whole = false;
    try (PreparedStatement statement = prepare(connection, wait)) {
      synchronized (this) {
        if (left) {
          whole = true;
          return Optional.empty();
        }
        underWay = statement;
        sent = true;
      }
      Optional<List<Long>> tokens = LockCalls.tokens(statement, names.size());
      whole = true;
      return tokens;
    } catch (SQLException e) {
      whole = !LockCalls.isConnectionLost(e);
      throw e;
    } finally {
      synchronized (this) {
        underWay = null;
      }
      if (whole) {
        client.connections().giveBack(connection);
      } else {
        client.connections().discard(connection);
      }
    }
  }

  /** The caller does not want the locks any more; when this returns, it mostly has none. */
  private void leave() {
    Answer early;
    synchronized (this) {
      left = true;
      early = delivered;
    }
    if (early != null) {
      clean(early);
    } else if (!cancelUntil(System.nanoTime() + FAREWELL.toNanos())) {
      client.threads().runChore(() -> cancelUntil(System.nanoTime() + lease.ttl().toNanos()));
    }
  }

  /** Returns true if the request has ended, and what it was granted is released. */
  private boolean cancelUntil(long endNanos) {
    boolean interrupted = false;
    try {
      while (endNanos - System.nanoTime() > 0) {
        cancel();
        try {
          if (ended.await(CANCEL_AGAIN.toNanos(), TimeUnit.NANOSECONDS)) {
            return true;
          }
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
      return false;
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private synchronized void cancel() {
    if (underWay != null) {
      try {
        underWay.cancel();
      } catch (SQLException e) {
        LOG.log(Logger.Level.DEBUG, "a wait for {0} was not canceled: {1}", names, e.getMessage());
      }
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
