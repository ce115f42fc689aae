package dev.tollgate.transport;

import static java.util.Objects.requireNonNull;
import static java.util.regex.Pattern.CASE_INSENSITIVE;

import dev.tollgate.wire.KeyRequest;
import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SqlState;
import dev.tollgate.wire.TransactionMode;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A session with a cluster, which survives the loss of nodes. Thread-safe: requests of several
 * threads run one after the other. Canceling and aborting do not wait for them; closing waits at
 * most 2 s for them.
 *
 * <p>A session ends for good with {@link #close}, {@link #abort}, or a {@link TransportException}
 * of class 08.
 */
public final class ClusterSession implements AutoCloseable {
  private static final Logger LOG = System.getLogger("dev.tollgate.transport");

  /** The message of a failed fetch whose rows are lost while the session goes on. */
  private static final String ROWS_LOST =
      "The rest of the rows is lost, because the node that had them is not reachable any more. Run"
          + " the query again, or set fetchSize=0 to have all rows fetched at once.";

  private static final Pattern QUERY =
      Pattern.compile("\\s*\\(*\\s*(SELECT|VALUES|TABLE|WITH|SHOW|EXPLAIN)\\b", CASE_INSENSITIVE);

  private final Cluster cluster;
  private final SessionSettings settings;
  private final Timekeeping environment;
  private final Runnable onEnd;
  private final SessionLink link;
  private final Renewal renewal;
  private final ReentrantLock oneAtATime = new ReentrantLock();
  private long lastSequence;

  /** The last statement before the own lease was released, after which the lease holds nothing. */
  private long releasedAt;

  private volatile long sequenceUnderWay;

  /** The last statement that was canceled. */
  private volatile long sequenceCanceled;

  private volatile Duration networkTimeout;
  private volatile @Nullable String endedBecause;

  /** Closing waits for the request under way, and not for those that wait for their turn. */
  private volatile boolean closing;

  private ClusterSession(
      Cluster cluster, SessionSettings settings, SessionLink link, long sentNanos, Runnable onEnd) {
    this.cluster = cluster;
    this.settings = settings;
    this.environment = cluster.environment();
    this.link = link;
    this.onEnd = onEnd;
    this.networkTimeout = settings.network();
    this.renewal =
        Renewal.ofSession(link.sessionId(), settings.session(), settings.lease(), sentNanos);
  }

  /**
   * @param limit longest time to open in all, zero for as long as any request
   * @param onEnd leaves the cluster; called once when the session has ended, and once for each
   *     lease that was kept alive
   */
  static ClusterSession open(
      Cluster cluster, SessionSettings settings, Duration limit, Runnable onEnd)
      throws TransportException {
    Timekeeping environment = cluster.environment();
    long sentNanos = environment.nanos();
    SessionLink link =
        new SessionOpener(cluster.finder(settings), cluster.moves(), environment, settings, limit)
            .open();
    ClusterSession session = new ClusterSession(cluster, settings, link, sentNanos, onEnd);
    cluster.keepAlive(session.renewal, settings, onEnd);
    return session;
  }

  /** The number of this session in the cluster and in the cluster's views. */
  public long id() {
    return link.sessionId();
  }

  /**
   * A statement to be carried out once.
   *
   * @param parameterSets as in {@link Request.Execute}
   * @param timeout longest time to run, zero for no limit
   */
  public record Statement(
      String sql,
      TransactionMode mode,
      boolean batch,
      KeyRequest keys,
      long maxRows,
      int pageRows,
      List<byte[]> parameterSets,
      Duration timeout) {
    public Statement {
      requireNonNull(sql, "sql");
      requireNonNull(mode, "mode");
      requireNonNull(keys, "keys");
      parameterSets = List.copyOf(parameterSets);
      requireNonNull(timeout, "timeout");
    }
  }

  /**
   * Carries out a statement.
   *
   * @return an execution with {@link Reply.Result}, {@link Reply.BatchResult} or {@link
   *     Reply.Failure}
   */
  public Execution run(Statement statement) throws TransportException {
    oneAtATime.lock();
    try {
      requireOpen();
      Execution execution = new Execution(++lastSequence, statement, environment.nanos());
      ask(execution);
      return execution;
    } finally {
      oneAtATime.unlock();
    }
  }

  /**
   * Carries out several statements as one.
   *
   * @return {@link Reply.BatchResult} or {@link Reply.Failure}; empty if the node is of an earlier
   *     version, which cannot do that: then nothing was sent
   */
  public Optional<Reply> run(StatementSeries series) throws TransportException {
    oneAtATime.lock();
    try {
      requireOpen();
      long sequence = ++lastSequence;
      sequenceUnderWay = sequence;
      return Optional.of(call(new SeriesCall(series, sequence, environment.nanos())));
    } catch (SessionLink.EarlierVersionException e) {
      return Optional.empty();
    } finally {
      sequenceUnderWay = 0;
      oneAtATime.unlock();
    }
  }

  /**
   * Asks again for the result of a statement whose rows are lost with their connection: a change is
   * not made twice, a query runs again.
   *
   * @throws TransportException with {@link SqlState#CONFLICT} if another statement ran in between
   */
  public void repeat(Execution execution) throws TransportException {
    oneAtATime.lock();
    try {
      if (execution.sequence() != lastSequence) {
        throw new TransportException(SqlState.CONFLICT, ROWS_LOST, null);
      }
      execution.losses().add();
      ask(execution);
    } finally {
      oneAtATime.unlock();
    }
  }

  private void ask(Execution execution) throws TransportException {
    sequenceUnderWay = execution.sequence();
    try {
      Reply reply = call(new StatementCall(execution));
      rowsEnd(execution);
      execution.answered(reply, link.connectionNumber());
    } finally {
      sequenceUnderWay = 0;
    }
  }

  /**
   * Has this session go on only at nodes that have applied a statement, which has set something
   * that the client knows.
   */
  public void requireApplied(Execution execution) {
    oneAtATime.lock();
    try {
      link.requireApplied(execution.sequence());
    } finally {
      oneAtATime.unlock();
    }
  }

  /** An execution as a request to send. */
  private final class StatementCall implements SessionLink.Call {
    private final Execution execution;

    StatementCall(Execution execution) {
      this.execution = execution;
    }

    @Override
    public Request request() {
      return execution.request(isOwnLeaseProven());
    }

    @Override
    public boolean effectful() {
      return true;
    }

    @Override
    public SessionLink.Losses losses() {
      return execution.losses();
    }

    /** Guesses from the first word; only the node knows which functions the statement calls. */
    boolean isQuery() {
      return QUERY.matcher(execution.sql()).lookingAt();
    }

    @Override
    public Duration untilDeadline() {
      return execution.untilDeadline(environment.nanos());
    }

    @Override
    public Request.Cancel cancellation() {
      return ClusterSession.this.cancellation(execution.sequence());
    }

    @Override
    public boolean isCanceled() {
      return sequenceCanceled == execution.sequence();
    }
  }

  /** A series as a request to send. */
  private final class SeriesCall implements SessionLink.Call {
    private final StatementSeries series;
    private final long sequence;
    private final long startNanos;
    private final SessionLink.Losses losses = new SessionLink.Losses();

    SeriesCall(StatementSeries series, long sequence, long startNanos) {
      this.series = series;
      this.sequence = sequence;
      this.startNanos = startNanos;
    }

    @Override
    public Request request() {
      return series.request(sequence, isOwnLeaseProven());
    }

    @Override
    public boolean effectful() {
      return true;
    }

    @Override
    public SessionLink.Losses losses() {
      return losses;
    }

    @Override
    public int minVersion() {
      return Protocol.SERIES_VERSION;
    }

    @Override
    public Duration untilDeadline() {
      return Execution.left(series.timeout(), environment.nanos() - startNanos);
    }

    @Override
    public Request.Cancel cancellation() {
      return ClusterSession.this.cancellation(sequence);
    }

    @Override
    public boolean isCanceled() {
      return sequenceCanceled == sequence;
    }
  }

  private Request.Cancel cancellation(long sequence) {
    return new Request.Cancel(link.sessionId(), link.secret(), sequence);
  }

  /** Sends a request that changes nothing, or that may be carried out twice. */
  public Reply ask(Request request) throws TransportException {
    oneAtATime.lock();
    try {
      return call(SessionLink.Call.question(request));
    } finally {
      oneAtATime.unlock();
    }
  }

  /**
   * Asks for more rows of a statement's result.
   *
   * @throws TransportException with {@link SqlState#CONFLICT} if the rows are lost
   */
  public Reply fetch(Execution execution, long cursorId, int pageRows) throws TransportException {
    oneAtATime.lock();
    try {
      requireOpen();
      Duration timeout = networkTimeout.isZero() ? settings.failover() : networkTimeout;
      Optional<Reply> reply =
          link.callOnce(
              execution.connectionNumber(), new Request.Fetch(cursorId, pageRows), timeout);
      boolean lost =
          reply.isEmpty()
              || reply.get() instanceof Reply.NotLeader
              || (reply.get() instanceof Reply.Failure failure
                  && failure.sqlState().equals(SqlState.CONFLICT.state()));
      if (lost) {
        rowsEnd(execution);
        throw new TransportException(SqlState.CONFLICT, ROWS_LOST, null);
      }
      return reply.orElseThrow();
    } finally {
      oneAtATime.unlock();
    }
  }

  /** Gives up the rest of a statement's rows. */
  public void closeCursor(Execution execution, long cursorId) {
    oneAtATime.lock();
    try {
      if (isOpen()) {
        link.tell(execution.connectionNumber(), new Request.CloseCursor(cursorId));
      }
      rowsEnd(execution);
    } finally {
      oneAtATime.unlock();
    }
  }

  /**
   * Says whether the result of a statement has rows that are not fetched yet. The session keeps the
   * connection that has them, also if it goes on at another node.
   */
  public void hasRows(Execution execution, boolean more) {
    oneAtATime.lock();
    try {
      if (more && execution.opensRows()) {
        link.hasRows(execution.connectionNumber(), true);
      } else if (!more) {
        rowsEnd(execution);
      }
    } finally {
      oneAtATime.unlock();
    }
  }

  private void rowsEnd(Execution execution) {
    if (execution.endsRows()) {
      link.hasRows(execution.connectionNumber(), false);
    }
  }

  private Reply call(SessionLink.Call call) throws TransportException {
    requireOpen();
    Budget budget = new Budget(environment, settings.failover(), networkTimeout, () -> !isOpen());
    try {
      Reply reply = link.call(call, budget);
      if (reply instanceof Reply.Failure failure && failure.sqlState().startsWith("08")) {
        end(failure);
      }
      return reply;
    } catch (SessionLink.UnansweredException e) {
      TransportException outcome = unanswered(e, call);
      end(outcome.failure());
      throw outcome;
    } catch (TransportException e) {
      if (e.failure().sqlState().startsWith("08")) {
        end(e.failure());
      }
      throw e;
    }
  }

  private static TransportException unanswered(
      SessionLink.UnansweredException e, SessionLink.Call call) {
    boolean query = call instanceof StatementCall statement && statement.isQuery();
    String doubt =
        query
            ? "a query changes nothing, but a lock function, FOR UPDATE or NEXT VALUE FOR in it may"
                + " have taken effect or not"
            : "it may have taken effect or not";
    return e.mayHaveEffect()
        ? new TransportException(
            SqlState.OUTCOME_UNKNOWN,
            "The statement was sent and its answer is missing: "
                + doubt
                + " ("
                + e.getMessage()
                + ")",
            e)
        : new TransportException(
            SqlState.NO_QUORUM,
            "No node took the request in time; nothing was changed (" + e.getMessage() + ")",
            e);
  }

  private void requireOpen() throws TransportException {
    String reason = endedBecause;
    if (reason == null && closing) {
      reason = "it is being closed";
    }
    if (reason == null && renewal.isLost()) {
      reason =
          "the cluster ended it: an administrator did, or the cluster did not hear of the session"
              + " for its timeout";
      end(reason, /* atCluster= */ true);
    }
    if (reason != null) {
      throw new TransportException(
          SqlState.SESSION_GONE, "Session " + id() + " has ended: " + reason, null);
    }
  }

  /** False once the session has ended for good. */
  public boolean isOpen() {
    return endedBecause == null;
  }

  /** True if it is certain that the session's own lease is alive; renews it first if need be. */
  private boolean isOwnLeaseProven() {
    if (!renewal.isLost() && !renewal.isProven(environment.nanos())) {
      cluster.renewNow(renewal);
    }
    return renewal.isProven(environment.nanos());
  }

  /**
   * Checks whether a node has the session, and moves the session to another node if necessary.
   *
   * @param timeout longest time for the check, zero for as long as any request
   */
  public boolean isAlive(Duration timeout) {
    if (!lockWithin(timeout.isZero() ? settings.failover() : timeout)) {
      // the statement under way watches the node
      return isOpen();
    }
    try {
      requireOpen();
      Budget budget = new Budget(environment, settings.failover(), timeout, () -> !isOpen());
      return link.call(SessionLink.Call.question(new Request.Ping()), budget) instanceof Reply.Ok;
    } catch (SessionLink.UnansweredException e) {
      return false;
    } catch (TransportException e) {
      end(e.failure());
      return false;
    } finally {
      oneAtATime.unlock();
    }
  }

  /** Waits for the statement under way; returns false if that is still under way. */
  private boolean lockWithin(Duration patience) {
    return oneAtATime.tryLock()
        || PatientWait.until(
            System.nanoTime() + patience.toNanos(),
            nanos -> oneAtATime.tryLock(nanos, TimeUnit.NANOSECONDS));
  }

  /**
   * Releases what the session's own lease holds. The session goes on, and gets a new lease when it
   * needs one.
   *
   * @return {@link Reply.Ok} or {@link Reply.Failure}
   */
  public Reply releaseOwnLease() throws TransportException {
    oneAtATime.lock();
    try {
      if (releasedAt == lastSequence) {
        return new Reply.Ok();
      }
      Reply reply = ask(new Request.ReleaseOwnLease());
      releasedAt = lastSequence;
      return reply;
    } finally {
      oneAtATime.unlock();
    }
  }

  /** Cancels the statement under way, if there is one; does not wait for it to end. */
  public void cancel() {
    long sequence = sequenceUnderWay;
    if (sequence != 0) {
      sequenceCanceled = sequence;
      cluster.cancel(cancellation(sequence));
    }
  }

  /**
   * Keeps a lease alive that a statement of this session created, until {@link KeptLease#close}.
   * The end of the session does not matter.
   *
   * @param age time since that statement began
   * @param onLost called once if the lease ends nevertheless; must return quickly
   * @throws TransportException if this session has ended, and no other one is left
   */
  public KeptLease keepAlive(long leaseId, Duration ttl, Duration age, Runnable onLost)
      throws TransportException {
    long sentNanos = environment.nanos() - age.toNanos();
    Renewal lease = new Renewal(Renewal.Kind.LEASE, leaseId, ttl, sentNanos, onLost);
    if (!cluster.enter()) {
      throw new TransportException(
          SqlState.SESSION_GONE,
          "Session " + id() + " has ended, so lease " + leaseId + " is not kept alive",
          null);
    }
    cluster.keepAlive(lease, settings, onEnd);
    return new KeptLease(lease, cluster, onEnd);
  }

  /**
   * Tells who holds a lock, at once and whenever that has changed, until {@link HolderWatch#close}.
   * The end of the session does not matter. A node of an earlier version tells nothing.
   *
   * @throws TransportException if this session has ended, and no other one is left
   */
  public HolderWatch watchHolder(String lock, HolderWatch.Listener listener)
      throws TransportException {
    if (!cluster.enter()) {
      throw new TransportException(
          SqlState.SESSION_GONE,
          "Session " + id() + " has ended, so the holder of lock '" + lock + "' is not watched",
          null);
    }
    HolderWatch watch = new HolderWatch(lock, listener);
    watch.onClose(
        () -> {
          cluster.forget(watch);
          onEnd.run();
        });
    cluster.watchHolder(watch);
    return watch;
  }

  /** The time limit of a whole reply; zero for no limit. */
  public Duration networkTimeout() {
    return networkTimeout;
  }

  /** Limits the time of every reply from the next request on; a late reply ends the session. */
  public void setNetworkTimeout(Duration timeout) {
    networkTimeout = requireNonNull(timeout, "timeout");
  }

  /**
   * Ends the session, at the cluster too if that can be done soon; returns soon in any case. If it
   * cannot, the cluster is told later, as after {@link #abort}.
   */
  @Override
  public void close() {
    if (!isOpen()) {
      return;
    }
    closing = true;
    cancel();
    boolean atCluster = false;
    Duration patience = environment.timing().closeWait();
    if (lockWithin(patience)) {
      try {
        Budget budget = new Budget(environment, patience, patience, () -> !isOpen());
        Reply reply = link.call(SessionLink.Call.question(new Request.CloseSession()), budget);
        atCluster = reply instanceof Reply.Ok;
      } catch (SessionLink.UnansweredException | TransportException e) {
        LOG.log(Level.DEBUG, "session {0} was not closed: {1}", id(), e.getMessage());
      } finally {
        oneAtATime.unlock();
      }
    }
    end("it was closed", atCluster);
  }

  /**
   * Ends the session on this side at once. Another thread then has the cluster end it too, so that
   * its requests leave their lines and its rows are free. If no leader is reached within
   * failoverTimeout, the session expires after its ttl.
   */
  public void abort() {
    end("it was aborted", /* atCluster= */ false);
  }

  private void end(Reply.Failure failure) {
    end(failure.message(), failure.sqlState().equals(SqlState.SESSION_GONE.state()));
  }

  /**
   * @param atCluster true if the cluster has ended the session too
   */
  private synchronized void end(String reason, boolean atCluster) {
    if (endedBecause == null) {
      endedBecause = reason;
      link.sever();
      cluster.forget(renewal);
      onEnd.run();
      if (!atCluster) {
        cluster.closeLater(settings, link.attachToLeader());
      }
    }
  }
}
