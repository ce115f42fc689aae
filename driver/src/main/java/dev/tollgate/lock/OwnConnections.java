package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import dev.tollgate.transport.PatientWait;
import dev.tollgate.wire.SqlState;
import java.lang.System.Logger;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Connections that a client opens itself. Each use has places of its own, so that a release never
 * stands behind waiting requests or works.
 */
final class OwnConnections implements Connections {
  private static final Logger LOG = LockLog.LOG;

  /** Idle connections that are kept. */
  private static final int IDLE = LockLimits.SHORT_REQUESTS;

  /** How long a short request waits for the others. */
  private static final Duration TURN = Duration.ofSeconds(30);

  /** What connections are lent for; none takes the places of another. */
  private enum Use {
    WAITING(
        LockLimits.WAITING_REQUESTS, "requests of this client wait for locks", "WAITING_REQUESTS"),
    SHORT(LockLimits.SHORT_REQUESTS, "requests of this client are under way", "SHORT_REQUESTS"),
    WORK(LockLimits.WORKS, "works of this client are in HeldLock.run", "WORKS");

    final int most;
    final String users;
    final String limit;

    Use(int most, String users, String limit) {
      this.most = most;
      this.users = users;
      this.limit = limit;
    }
  }

  /** Opens a connection. */
  interface Opener {
    Connection open() throws SQLException;
  }

  /** An attempt to reach a node that found none for as long as it tried. */
  private record Vain(long beganNanos, long endedNanos, SQLException failure) {
    /** True if a caller that came then would have found no node either. */
    boolean covers(long sinceNanos, long nowNanos) {
      long took = endedNanos - beganNanos;
      return beganNanos - sinceNanos >= 0
          || (endedNanos - sinceNanos >= 0 && nowNanos - sinceNanos >= took - took / 10);
    }
  }

  private final Opener opener;
  private final Semaphore shortRequests = new Semaphore(LockLimits.SHORT_REQUESTS, true);
  private final Map<Use, Integer> taken = new EnumMap<>(Use.class);
  private final Map<Connection, Use> lent = new HashMap<>();
  private final Deque<Connection> idle = new ArrayDeque<>();
  private boolean closed;

  /** The last one to begin, or null. */
  private @Nullable Vain vain;

  OwnConnections(Opener opener) {
    this.opener = requireNonNull(opener, "opener");
  }

  @Override
  public Connection forWaiting() throws SQLException {
    return lend(Use.WAITING, this::idleOrNew);
  }

  @Override
  public @Nullable Connection forWaitingNow() throws SQLException {
    return lendIfThere(Use.WAITING, this::takeOpenIdle);
  }

  @Override
  public Connection forWork() throws SQLException {
    return lend(Use.WORK, this::idleOrNew);
  }

  @Override
  public Connection forShortRequest() throws SQLException {
    long since = System.nanoTime();
    takeTurn();
    boolean done = false;
    try {
      requireNotVain(since);
      Connection connection = lend(Use.SHORT, this::idleOrNew);
      done = true;
      return connection;
    } finally {
      if (!done) {
        shortRequests.release();
      }
    }
  }

  /** How many short requests wait for the others. */
  int waitingForTurn() {
    return shortRequests.getQueueLength();
  }

  /** A release has to go on in a thread that was interrupted. */
  private void takeTurn() throws SQLException {
    long end = System.nanoTime() + TURN.toNanos();
    if (!PatientWait.until(end, nanos -> shortRequests.tryAcquire(nanos, TimeUnit.NANOSECONDS))) {
      throw new SQLException(
          LockLimits.SHORT_REQUESTS
              + " requests of this client were under way for "
              + TURN.toSeconds()
              + " s (LockLimits.SHORT_REQUESTS); is the cluster reachable?",
          SqlState.BUSY.state(),
          SqlState.BUSY.vendorCode());
    }
  }

  /**
   * Fails if another request has looked for a node while this one waited for its turn, for all of
   * its time or for nine tenths of it: to look once more would take as long again, and each of many
   * requests would do so one after the other.
   */
  private synchronized void requireNotVain(long sinceNanos) throws SQLException {
    Vain last = vain;
    if (last != null && last.covers(sinceNanos, System.nanoTime())) {
      throw new SQLException(
          last.failure.getMessage(),
          last.failure.getSQLState(),
          last.failure.getErrorCode(),
          last.failure);
    }
  }

  private Connection idleOrNew() throws SQLException {
    Connection found = takeOpenIdle();
    return found == null ? open() : found;
  }

  private Connection open() throws SQLException {
    long began = System.nanoTime();
    try {
      return opener.open();
    } catch (SQLException e) {
      if (SqlState.NO_QUORUM.state().equals(e.getSQLState())) {
        noteVain(began, e);
      }
      throw e;
    }
  }

  @Override
  public void failed(long sentNanos, SQLException failure) {
    String state = failure.getSQLState();
    if (SqlState.NO_QUORUM.state().equals(state)) {
      noteVain(sentNanos, failure);
    } else if (SqlState.OUTCOME_UNKNOWN.state().equals(state)) {
      noteVain(
          sentNanos,
          new SQLException(
              "No node has answered another request of this client: " + failure.getMessage(),
              SqlState.NO_QUORUM.state(),
              SqlState.NO_QUORUM.vendorCode(),
              failure));
    }
  }

  private synchronized void noteVain(long beganNanos, SQLException failure) {
    if (vain == null || beganNanos - vain.beganNanos > 0) {
      vain = new Vain(beganNanos, System.nanoTime(), failure);
    }
  }

  private @Nullable Connection takeOpenIdle() throws SQLException {
    Connection found = takeIdle();
    while (found != null && !isOpen(found)) {
      found = takeIdle();
    }
    return found;
  }

  private Connection lend(Use use, Opener opener) throws SQLException {
    return requireNonNull(lendIfThere(use, opener::open), "connection");
  }

  /** Finds a connection, or null. */
  private interface Source {
    @Nullable Connection find() throws SQLException;
  }

  /** Takes a place first, so that no connection is opened in vain. */
  private @Nullable Connection lendIfThere(Use use, Source source) throws SQLException {
    takePlace(use);
    Connection found = null;
    boolean isLent = false;
    try {
      found = source.find();
      isLent = found != null && isStillOpen(found, use);
    } finally {
      if (!isLent) {
        freePlace(use);
      }
    }
    if (found != null && !isLent) {
      end(found);
      throw closed();
    }
    return found;
  }

  private synchronized void takePlace(Use use) throws SQLException {
    if (closed) {
      throw closed();
    }
    int before = taken.getOrDefault(use, 0);
    if (before >= use.most) {
      throw new SQLException(
          use.most + " " + use.users + " (LockLimits." + use.limit + "): try again later",
          SqlState.TOO_MANY.state(),
          SqlState.TOO_MANY.vendorCode());
    }
    taken.put(use, before + 1);
  }

  private synchronized void freePlace(Use use) {
    taken.merge(use, -1, Integer::sum);
  }

  /** Returns false if the client was closed meanwhile. */
  private synchronized boolean isStillOpen(Connection connection, Use use) {
    if (!closed) {
      lent.put(connection, use);
    }
    return !closed;
  }

  private synchronized @Nullable Connection takeIdle() throws SQLException {
    if (closed) {
      throw closed();
    }
    return idle.pollFirst();
  }

  private static SQLException closed() {
    return new SQLException(
        "the lock client is closed",
        SqlState.SESSION_GONE.state(),
        SqlState.SESSION_GONE.vendorCode());
  }

  @Override
  public void giveBack(Connection connection) {
    if (!takeBack(connection, /* reusable= */ true)) {
      end(connection);
    }
  }

  /** Nothing tells what the work has set in the session, or whether it goes on with it. */
  @Override
  public void giveBackAfterWork(Connection connection) {
    discard(connection);
  }

  @Override
  public void discard(Connection connection) {
    takeBack(connection, /* reusable= */ false);
    end(connection);
  }

  /** Returns true if the connection is kept for the next request. */
  private synchronized boolean takeBack(Connection connection, boolean reusable) {
    Use use = lent.remove(connection);
    if (use != null) {
      freePlace(use);
    }
    if (use == Use.SHORT) {
      shortRequests.release();
    }
    boolean kept = reusable && !closed && idle.size() < IDLE && isOpen(connection);
    if (kept) {
      idle.addFirst(connection);
    }
    return kept;
  }

  private static boolean isOpen(Connection connection) {
    try {
      return !connection.isClosed();
    } catch (SQLException e) {
      return false;
    }
  }

  private static void end(Connection connection) {
    try {
      connection.close();
    } catch (SQLException e) {
      LOG.log(Logger.Level.DEBUG, "a connection did not close", e);
    }
  }

  @Override
  public void close() {
    Set<Connection> all = new HashSet<>();
    synchronized (this) {
      closed = true;
      all.addAll(idle);
      all.addAll(lent.keySet());
      idle.clear();
    }
    all.forEach(OwnConnections::end);
  }
}
