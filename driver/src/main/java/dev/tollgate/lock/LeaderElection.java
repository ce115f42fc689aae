package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import dev.tollgate.transport.DaemonThreads;
import dev.tollgate.transport.PatientWait;
import java.lang.System.Logger;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A candidate that stands in an election until it is closed. Candidates are elected in the order in
 * which they stand; the leader holds the lock with the name of the election. A candidate that has
 * led stands again. Thread-safe.
 *
 * <p>The leader is told to stop a quarter of the ttl before its proof ends, so it has that time to
 * stop before another candidate can be elected.
 */
public final class LeaderElection implements AutoCloseable {
  private static final Logger LOG = LockLog.LOG;

  /** The part of the ttl that a leader has to stop. */
  private static final int STOP_PART = 4;

  /** After a term that failed or was shorter than this, the candidate pauses. */
  private static final Duration SHORT_TERM = Duration.ofSeconds(1);

  private static final long FIRST_PAUSE_MILLIS = 10;
  private static final long LONGEST_PAUSE_MILLIS = 1_000;

  private final LockClient client;
  private final String name;
  private final String candidate;
  private final Duration ttl;
  private final Candidate work;
  private final Thread thread;

  /** Where the thread is interrupted, which may be in code of the application. */
  private final ListenerLane interrupts;

  /** For the time in which the candidate does not lead. */
  private final ThreadInterrupt standing;

  private final CountDownLatch closing = new CountDownLatch(1);
  private final CountDownLatch ended = new CountDownLatch(1);
  private @Nullable Leadership term;
  private long closedNanos;

  /**
   * @throws LockException if the client has {@link LockLimits#LISTENER_LANES} listeners
   */
  LeaderElection(LockClient client, String name, String candidate, Duration ttl, Candidate work) {
    this.client = requireNonNull(client, "client");
    this.name = requireNonNull(name, "name");
    this.candidate = LockOptions.requireOwner(requireNonNull(candidate, "candidate"));
    this.ttl = LockOptions.requireTtl(ttl);
    this.work = requireNonNull(work, "work");
    this.thread = DaemonThreads.of(this::run, "tollgate-election-" + name);
    this.standing = new ThreadInterrupt(thread);
    this.interrupts = client.threads().listeners().open(toString());
  }

  void start() {
    thread.start();
  }

  /** For an election that was not started. */
  void discard() {
    interrupts.end();
  }

  public String name() {
    return name;
  }

  public String candidate() {
    return candidate;
  }

  /** The term of this candidate; empty while it does not lead. */
  public synchronized Optional<Leadership> leadership() {
    return Optional.ofNullable(term).filter(Leadership::isLeader);
  }

  /**
   * Waits until this candidate leads.
   *
   * @param wait how long at most; more than a hundred years counts as a hundred years
   * @return the term; empty if this candidate did not lead for all that time, or has stopped
   *     standing
   * @throws InterruptedException if the thread was interrupted
   */
  public Optional<Leadership> awaitLeadership(Duration wait) throws InterruptedException {
    long end = System.nanoTime() + LockOptions.requireWait(wait).toNanos();
    synchronized (this) {
      while (!isClosing()) {
        Optional<Leadership> now = leadership();
        long left = end - System.nanoTime();
        if (now.isPresent() || left <= 0) {
          return now;
        }
        TimeUnit.NANOSECONDS.timedWait(this, left);
      }
      return Optional.empty();
    }
  }

  /** True while this candidate can prove that it leads. */
  public boolean isLeader() {
    return leadership().isPresent();
  }

  /**
   * Who leads, whichever process it is in; empty if no candidate does. One round trip.
   *
   * @throws LockException if the cluster does not answer
   */
  public Optional<Leader> currentLeader() {
    return client.holder(name);
  }

  /** As {@link LockClient#onHolderChange}, for the leader of this election. */
  public Watch onLeaderChange(Consumer<Optional<Leader>> listener) {
    return client.onHolderChange(name, listener);
  }

  /**
   * Ends the term of this candidate, if it leads: its thread is interrupted, and the next candidate
   * is elected when {@link Candidate#elected} has returned. This candidate then stands again.
   */
  public void resign() {
    leadership().ifPresent(leads -> leads.end("the candidate has resigned"));
  }

  private void run() {
    try {
      stand();
    } finally {
      standing.end();
      interrupts.end();
      client.forget(this);
      ended.countDown();
    }
  }

  /** A candidate goes on standing, whatever goes wrong, until its election is closed. */
  private void stand() {
    long pauseMillis = FIRST_PAUSE_MILLIS;
    while (!isClosing()) {
      long begin = System.nanoTime();
      try {
        LockOptions options = LockOptions.DEFAULT.ttl(ttl).owner(candidate);
        lead(client.acquire(name, options, ttl.dividedBy(STOP_PART)));
      } catch (InterruptedException e) {
        LOG.log(Logger.Level.DEBUG, "{0} was interrupted", this);
      } catch (LockException | IllegalStateException e) {
        LOG.log(Logger.Level.WARNING, this + " does not stand now: " + e.getMessage());
      } catch (Throwable e) {
        // a candidate in another language may throw anything
        LOG.log(Logger.Level.ERROR, this + " does not stand now", e);
      }
      boolean brief = System.nanoTime() - begin < SHORT_TERM.toNanos();
      pauseMillis = brief ? Math.min(2 * pauseMillis, LONGEST_PAUSE_MILLIS) : FIRST_PAUSE_MILLIS;
      pause(pauseMillis);
    }
  }

  private void lead(HeldLock lock) {
    Leadership leads =
        new Leadership(lock, candidate, thread, interrupts, client.threads().listeners());
    if (!begins(leads)) {
      // the interrupt comes when the lock is granted
      standing.end();
      boolean interrupted = Thread.interrupted();
      lock.close();
      LOG.log(Logger.Level.DEBUG, "{0} is closed, interrupted: {1}", this, interrupted);
      return;
    }
    lock.lease().whenLost(() -> leads.end("the lock is lost, or cannot be proven"));
    String how = "the candidate has returned";
    try {
      work.elected(leads);
    } catch (InterruptedException e) {
      LOG.log(Logger.Level.DEBUG, "{0} was interrupted", leads);
    } catch (Throwable e) {
      LOG.log(Logger.Level.WARNING, "the term of " + leads + " has failed", e);
      how = "the candidate has failed: " + e;
    } finally {
      leads.returned(how);
      // that of the term that has ended
      boolean interrupted = Thread.interrupted();
      lock.close();
      synchronized (this) {
        term = null;
      }
      LOG.log(Logger.Level.DEBUG, "term over: {0}, interrupted: {1}", leads, interrupted);
    }
  }

  /** Begins a term, unless the candidacy has ended. */
  private synchronized boolean begins(Leadership leads) {
    if (isClosing()) {
      return false;
    }
    term = leads;
    notifyAll();
    return true;
  }

  private void pause(long millis) {
    try {
      closing.await(millis, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      LOG.log(Logger.Level.DEBUG, "{0} was interrupted", this);
    }
  }

  private boolean isClosing() {
    return closing.getCount() == 0;
  }

  /**
   * Ends the candidacy. Waits for at most one ttl until a term has ended; if {@link
   * Candidate#elected} does not return, the lock is held until it does. A thread that was
   * interrupted waits too, and stays interrupted.
   */
  @Override
  public void close() {
    end();
    var unused = awaitEnd();
  }

  /**
   * Ends the candidacy without waiting. A term that is over has had its interrupt: a second one
   * would disturb what the candidate does before it returns.
   */
  void end() {
    Leadership leads;
    synchronized (this) {
      if (isClosing()) {
        return;
      }
      closedNanos = System.nanoTime();
      closing.countDown();
      notifyAll();
      leads = term;
    }
    if (leads == null) {
      standing.fireOn(interrupts);
    } else {
      leads.end("the election was closed");
    }
  }

  /**
   * Waits until the candidate has returned, for at most one ttl after the candidacy has ended; not
   * at all on the thread that leads, which cannot return meanwhile.
   *
   * @return the term of a candidate that has not returned
   */
  Optional<Leadership> awaitEnd() {
    long deadlineNanos;
    synchronized (this) {
      deadlineNanos = closedNanos + ttl.toNanos();
    }
    boolean over =
        Thread.currentThread() != thread
            && PatientWait.until(deadlineNanos, nanos -> ended.await(nanos, TimeUnit.NANOSECONDS));
    synchronized (this) {
      return over ? Optional.empty() : Optional.ofNullable(term);
    }
  }

  @Override
  public String toString() {
    return "candidate '" + candidate + "' of election '" + name + "'";
  }
}
