package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

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
  private static final Logger LOG = System.getLogger("dev.tollgate.lock");

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
  private final CountDownLatch closing = new CountDownLatch(1);
  private @Nullable Leadership term;

  LeaderElection(LockClient client, String name, String candidate, Duration ttl, Candidate work) {
    this.client = requireNonNull(client, "client");
    this.name = requireNonNull(name, "name");
    this.candidate = LockOptions.requireOwner(requireNonNull(candidate, "candidate"));
    this.ttl = LockOptions.requireTtl(ttl);
    this.work = requireNonNull(work, "work");
    this.thread = new Thread(this::stand, "tollgate-election-" + name);
    this.thread.setDaemon(true);
  }

  void start() {
    thread.start();
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
      }
      boolean brief = System.nanoTime() - begin < SHORT_TERM.toNanos();
      pauseMillis = brief ? Math.min(2 * pauseMillis, LONGEST_PAUSE_MILLIS) : FIRST_PAUSE_MILLIS;
      pause(pauseMillis);
    }
  }

  private void lead(HeldLock lock) {
    Leadership leads = new Leadership(lock, candidate, thread, client.threads().listeners());
    synchronized (this) {
      term = leads;
    }
    lock.lease().whenLost(() -> leads.end("the lock is lost, or cannot be proven"));
    try {
      if (!isClosing()) {
        work.elected(leads);
      }
    } catch (InterruptedException e) {
      LOG.log(Logger.Level.DEBUG, "{0} was interrupted", leads);
    } catch (Exception | Error e) {
      LOG.log(Logger.Level.WARNING, "the term of " + leads + " has failed", e);
    } finally {
      leads.returned();
      // that of the term that has ended
      boolean interrupted = Thread.interrupted();
      lock.close();
      LOG.log(Logger.Level.DEBUG, "term over: {0}, interrupted: {1}", leads, interrupted);
    }
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
   * Candidate#elected} does not return, the lock is held until it does.
   */
  @Override
  public void close() {
    closing.countDown();
    leadership().ifPresent(leads -> leads.end("the election was closed"));
    thread.interrupt();
    client.forget(this);
    if (Thread.currentThread() != thread) {
      try {
        thread.join(ttl.toMillis());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  @Override
  public String toString() {
    return "candidate '" + candidate + "' of election '" + name + "'";
  }
}
