package dev.tollgate.node.replica;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;

import dev.tollgate.core.ClusterState;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.Notice;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RequestId;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.log.CommandPipeline;
import dev.tollgate.log.Supervision;
import dev.tollgate.log.entry.Proposal;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps time for the cluster while this node leads. Its thread reads the clock, and proposes the
 * end of what has run out; {@link Deadlines} knows what that is. What ends, ends by a log entry.
 *
 * <p>A new leader gives everything its full time again: the leader before it may have acknowledged
 * a renewal a moment ago (invariant I4). Leases that a new leader then hears nothing of are the
 * exception: {@link LeaseSilences}. So are transactions whose processes do not show themselves to
 * the new leader: {@link TransactionClock}. Once the end of a lease is proposed, renewals of that
 * lease are refused. Thread-safe.
 */
public final class TimeKeeper implements Replica.Listener, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(TimeKeeper.class);

  /** The most leases or sessions in one command. */
  private static final int EXPIRE_BATCH = 10_000;

  /** Ids that one log line names. */
  private static final int NAMED = 10;

  private static final String WHAT = "the time keeper";

  private final String nodeId;
  private final CommandPipeline pipeline;
  private final Supervision supervision;
  private final LeaseClock clock;
  private final Thread thread;

  private final ReentrantLock mutex = new ReentrantLock();
  private final Condition wakeUp = mutex.newCondition();
  private final Deadlines deadlines;
  private volatile Predicate<SessionId> connected = session -> false;
  private boolean leading;
  private boolean closed;

  /**
   * @param alone whether this node is the whole cluster
   */
  public TimeKeeper(
      String nodeId, CommandPipeline pipeline, Supervision supervision, BooleanSupplier alone) {
    this(nodeId, pipeline, supervision, alone, new LeaseClock(System::nanoTime));
  }

  TimeKeeper(
      String nodeId,
      CommandPipeline pipeline,
      Supervision supervision,
      BooleanSupplier alone,
      LeaseClock clock) {
    this.nodeId = requireNonNull(nodeId, "nodeId");
    this.pipeline = requireNonNull(pipeline, "pipeline");
    this.supervision = requireNonNull(supervision, "supervision");
    this.clock = requireNonNull(clock, "clock");
    this.deadlines = new Deadlines(requireNonNull(alone, "alone"));
    this.thread = supervision.thread("tollgate-" + nodeId + "-time", this::run);
  }

  /**
   * Has this keeper ask whether the process of a session is connected to this node. The question
   * comes with the lock of this keeper held, from any thread.
   */
  public void askWhetherConnected(Predicate<SessionId> answer) {
    connected = requireNonNull(answer, "answer");
  }

  public void start() {
    thread.start();
  }

  /** The time of this keeper, which also dates the arrival of renewals. */
  public long now() {
    return clock.now();
  }

  /** What became of a renewal. */
  public enum Renewal {
    RENEWED,
    /**
     * The session is renewed, but the end of its own lease is proposed and not applied yet. The
     * lease must not be taken for renewed until it is gone.
     */
    WITHOUT_OWN_LEASE,
    /** Renewed once an entry that is proposed by now is applied: ask again after an entry. */
    NOT_YET,
    /** The session or lease has ended, or its end is proposed. */
    GONE,
    /** This node does not keep time: it does not lead, or is about to begin. */
    NOT_HERE
  }

  /**
   * Renews a session and its own lease.
   *
   * @param arrivalNanos when the renewal arrived
   */
  public Renewal renew(SessionId session, long arrivalNanos) {
    Renewal renewal;
    Command.RecordRenewal ending = null;
    mutex.lock();
    try {
      renewal = leading ? deadlines.renew(session, arrivalNanos) : Renewal.NOT_HERE;
      if (renewal == Renewal.NOT_YET) {
        ending = deadlines.endOfSilence(session);
      }
    } finally {
      mutex.unlock();
    }
    proposeEnd(ending);
    return renewal;
  }

  /** Renews a lease. */
  public Renewal renew(LeaseId lease, long arrivalNanos) {
    Renewal renewal;
    Command.RecordRenewal ending = null;
    mutex.lock();
    try {
      renewal = leading ? deadlines.renew(lease, arrivalNanos) : Renewal.NOT_HERE;
      if (renewal == Renewal.NOT_YET) {
        ending = deadlines.endOfSilence(lease);
      }
    } finally {
      mutex.unlock();
    }
    proposeEnd(ending);
    return renewal;
  }

  /** Proposes the end of a recorded silence, if there is one; called without the lock. */
  private void proposeEnd(Command.@Nullable RecordRenewal ending) {
    if (ending != null) {
      pipeline.submit(ending, silenceEnded(ending));
    }
  }

  private Proposal.Listener silenceEnded(Command.RecordRenewal ending) {
    return new Proposal.Listener() {
      @Override
      public void applied(Outcome outcome) {
        tell(/* ended= */ true);
      }

      @Override
      public void unknown() {
        tell(/* ended= */ false);
      }

      private void tell(boolean ended) {
        mutex.lock();
        try {
          deadlines.silenceEnded(ending, ended);
        } finally {
          mutex.unlock();
        }
      }
    };
  }

  /** Records that the session has read in its transaction. */
  public void noteUse(SessionId session) {
    long now = clock.now();
    mutex.lock();
    try {
      deadlines.noteUse(session, now);
    } finally {
      mutex.unlock();
    }
  }

  /**
   * Records that the process of these sessions has left this node. Their transactions end unless a
   * renewal or {@link #returned} arrives within {@link Limits#RETURN_PATIENCE_MILLIS}.
   *
   * @param leavingNanos when the last connection of the process ended
   * @param isGone false if the process is connected again
   */
  public void left(List<SessionId> sessions, long leavingNanos, BooleanSupplier isGone) {
    mutex.lock();
    try {
      // a process is connected before its renewals come, so none is missed
      if (leading && isGone.getAsBoolean()) {
        deadlines.left(sessions, leavingNanos);
      }
    } finally {
      mutex.unlock();
    }
  }

  /** Records that a client has attached the session. */
  public void returned(SessionId session, long arrivalNanos) {
    mutex.lock();
    try {
      deadlines.returned(session, arrivalNanos);
    } finally {
      mutex.unlock();
    }
  }

  /** Milliseconds that a lease has left, or null if this node does not know. */
  public @Nullable Long remainingMillis(LeaseId lease) {
    long now = clock.now();
    mutex.lock();
    try {
      Long nanos = deadlines.remaining(lease, now);
      return nanos == null ? null : (Long) TimeUnit.NANOSECONDS.toMillis(nanos);
    } finally {
      mutex.unlock();
    }
  }

  @Override
  public void startedLeading(ClusterState state) {
    supervision.essential(WHAT, () -> beginAnew(state)).run();
  }

  private void beginAnew(ClusterState state) {
    long now = clock.now();
    mutex.lock();
    try {
      deadlines.begin(state, now);
      leading = true;
      wakeUp.signal();
    } finally {
      mutex.unlock();
    }
  }

  @Override
  public void stoppedLeading() {
    mutex.lock();
    try {
      leading = false;
      deadlines.clear();
    } finally {
      mutex.unlock();
    }
  }

  @Override
  public void failed(Throwable cause) {
    stoppedLeading();
  }

  @Override
  public void noticed(Notice notice) {
    supervision.essential(WHAT, () -> note(notice)).run();
  }

  private void note(Notice notice) {
    long now = clock.now();
    mutex.lock();
    try {
      boolean idle = deadlines.isEmpty();
      deadlines.noticed(notice, now);
      if (idle || notice instanceof Notice.WaitStarted) {
        wakeUp.signal();
      }
    } finally {
      mutex.unlock();
    }
  }

  @Override
  public void snapshotNeedsGap(boolean needed) {
    long now = clock.now();
    mutex.lock();
    try {
      deadlines.gapNeeded(needed, now);
    } finally {
      mutex.unlock();
    }
  }

  @Override
  public void close() {
    mutex.lock();
    try {
      closed = true;
      wakeUp.signal();
    } finally {
      mutex.unlock();
    }
  }

  private void run() {
    mutex.lock();
    try {
      while (!closed) {
        if (!leading || deadlines.isEmpty()) {
          wakeUp.awaitUninterruptibly();
        } else {
          // at most one tick, so that the clock notices a pause of this process
          wakeUp.awaitNanos(TimeUnit.MILLISECONDS.toNanos(LeaseClock.TICK_MILLIS));
        }
        mutex.unlock();
        try {
          tick();
        } finally {
          mutex.lock();
        }
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException("it was interrupted, so nothing expires any more", e);
    } finally {
      mutex.unlock();
    }
  }

  /** Reads the clock once, and proposes what is due. */
  void tick() {
    Deadlines.Due due;
    mutex.lock();
    try {
      if (!leading) {
        return;
      }
      due = deadlines.removeDue(clock.now(), connected);
    } finally {
      mutex.unlock();
    }
    // proposing may apply at once and call noticed(), so the lock must not be held
    proposeExpiry(due.sessions(), due.leases());
    proposeSilence(due.silentLeases());
    for (Command abort : due.transactions()) {
      pipeline.submit(abort, Proposal.Listener.NOBODY);
    }
    for (RequestId wait : due.waits()) {
      pipeline.submit(
          new Command.EndWait(wait.session(), wait.sequence(), Command.WaitEnd.TIMED_OUT),
          retry(() -> deadlines.reportAgain(wait, clock.now())));
    }
  }

  private void proposeExpiry(List<SessionId> dueSessions, List<LeaseId> dueLeases) {
    if (!dueLeases.isEmpty() || !dueSessions.isEmpty()) {
      LOG.info(
          "{}: not renewed in time: leases {}; sessions {}",
          nodeId,
          named(dueLeases),
          named(dueSessions));
    }
    for (int i = 0; i < dueLeases.size(); i += EXPIRE_BATCH) {
      List<LeaseId> batch = dueLeases.subList(i, Math.min(dueLeases.size(), i + EXPIRE_BATCH));
      pipeline.submit(
          new Command.Expire(List.of(), batch),
          retry(() -> batch.forEach(lease -> deadlines.reportAgain(lease, clock.now()))));
    }
    for (int i = 0; i < dueSessions.size(); i += EXPIRE_BATCH) {
      List<SessionId> batch =
          dueSessions.subList(i, Math.min(dueSessions.size(), i + EXPIRE_BATCH));
      pipeline.submit(
          new Command.Expire(batch, List.of()),
          retry(() -> batch.forEach(session -> deadlines.reportAgain(session, clock.now()))));
    }
  }

  /** Names the first ids, and says how many more there are. */
  private static String named(List<?> ids) {
    String first = ids.stream().limit(NAMED).map(Object::toString).collect(joining(", "));
    return ids.isEmpty()
        ? "none"
        : ids.size() <= NAMED ? first : first + " and " + (ids.size() - NAMED) + " more";
  }

  private void proposeSilence(List<Command.SilentLease> silent) {
    for (int i = 0; i < silent.size(); i += EXPIRE_BATCH) {
      pipeline.submit(
          new Command.RecordSilence(silent.subList(i, Math.min(silent.size(), i + EXPIRE_BATCH))),
          Proposal.Listener.NOBODY);
    }
  }

  /**
   * Records what leases have left, and keeps no time from then on. For a node that is alone and
   * stops, so that its next start continues from there.
   *
   * @param recordedRenewals the count of each lease in the replicated state
   */
  public void recordAll(Map<LeaseId, Long> recordedRenewals) {
    long now = clock.now();
    List<Command.SilentLease> all;
    mutex.lock();
    try {
      leading = false;
      all = deadlines.remaining(recordedRenewals, now);
      deadlines.clear();
    } finally {
      mutex.unlock();
    }
    proposeSilence(all);
  }

  /**
   * Reports again what could not be proposed; a node that no longer leads has nothing to report.
   */
  private Proposal.Listener retry(Runnable reportAgain) {
    return new Proposal.Listener() {
      @Override
      public void applied(Outcome outcome) {}

      @Override
      public void unknown() {
        mutex.lock();
        try {
          supervision.essential(WHAT, reportAgain).run();
        } finally {
          mutex.unlock();
        }
      }
    };
  }
}
