package dev.tollgate.node.replica;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.ClusterState;
import dev.tollgate.core.StalledError;
import dev.tollgate.core.command.Limits;
import dev.tollgate.log.entry.LoggedError;
import java.util.Queue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * When which thread may use the replicated state: one changes it, an entry at a time, and the
 * others read it between two entries. Knows which threads must not wait for that. Thread-safe.
 */
public final class StateAccess {
  private static final Logger LOG = LoggerFactory.getLogger(StateAccess.class);

  /** How often a query that waits for an entry checks whether the query has to end. */
  private static final long LOOK_MILLIS = 20;

  private final String nodeId;
  private final Supplier<ClusterState> state;
  private final long longestMillis;
  private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
  private final Queue<Consumer<ClusterState>> questions = new ConcurrentLinkedQueue<>();

  /** Threads that use the state alone, or wait to: questions do not overtake them. */
  private final AtomicInteger alone = new AtomicInteger();

  /** True on a thread that must not wait. */
  private final ThreadLocal<Boolean> prompt = ThreadLocal.withInitial(() -> false);

  /**
   * @param state returns the state that is valid now; called only by a thread that may use it
   */
  StateAccess(String nodeId, Supplier<ClusterState> state) {
    this(nodeId, state, Limits.APPLY_WAIT_MILLIS);
  }

  /**
   * @param longestMillis how long a change waits for other threads
   */
  StateAccess(String nodeId, Supplier<ClusterState> state, long longestMillis) {
    this.nodeId = requireNonNull(nodeId, "nodeId");
    this.state = requireNonNull(state, "state");
    this.longestMillis = longestMillis;
  }

  /** A change of the state. */
  interface Change<E extends Exception> {
    void run() throws E;
  }

  /**
   * Changes the state while no other thread uses it, and then answers the questions.
   *
   * @throws StalledError if another thread uses the state for too long
   */
  <E extends Exception> void change(Change<E> change) throws E {
    long begun = System.nanoTime();
    alone.incrementAndGet();
    try {
      lockUntil(lock.writeLock(), longestMillis, () -> requireWait(begun));
      try {
        change.run();
      } finally {
        lock.writeLock().unlock();
      }
    } finally {
      noLongerAlone();
    }
  }

  /**
   * Runs work that must not wait, because other clients wait for the thread. Examples are a frame
   * on an event loop, and what follows a proof of leadership. During that work, {@link #look}
   * fails.
   */
  public void promptly(Runnable work) {
    boolean before = prompt.get();
    prompt.set(true);
    try {
      work.run();
    } finally {
      prompt.set(before);
    }
  }

  private boolean requireWait(long begunNanos) {
    long waited = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begunNanos);
    if (waited >= longestMillis) {
      throw new StalledError("a thread that looks at the state between two entries", waited, null);
    }
    return false;
  }

  private void requireTime() {
    if (prompt.get()) {
      throw new IllegalStateException(
          "this thread must not wait for the entry that is being applied: use facts() or ask()");
    }
  }

  /**
   * Reads the state between two entries. Waits for the end of the entry that is being applied, so
   * it must not run on a thread for which others wait.
   *
   * @param question must copy what it wants to keep, and must not take long: nothing is applied
   *     meanwhile
   */
  public <T extends @Nullable Object> T look(Function<ClusterState, T> question) {
    requireTime();
    lock.readLock().lock();
    try {
      return question.apply(state.get());
    } finally {
      lock.readLock().unlock();
    }
  }

  /**
   * Reads the state like {@link #look}, for a query: the entry that is being applied may be waiting
   * for the end of that very query.
   *
   * @param ended whether the query has to end
   * @throws CancellationException once the query has to end
   */
  <T extends @Nullable Object> T look(Function<ClusterState, T> question, BooleanSupplier ended) {
    requireTime();
    lockUntil(lock.readLock(), LOOK_MILLIS, ended);
    try {
      return question.apply(state.get());
    } finally {
      lock.readLock().unlock();
    }
  }

  private static void lockUntil(Lock wanted, long lookMillis, BooleanSupplier ended) {
    boolean interrupted = false;
    try {
      boolean locked = false;
      while (!locked) {
        try {
          locked = wanted.tryLock(lookMillis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
          interrupted = true;
        }
        if (!locked && ended.getAsBoolean()) {
          throw new CancellationException("the query was to end before it could look at the locks");
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Answers a question between two entries: at once, on this thread, or after the entry that is
   * being applied, on its thread. Never waits.
   *
   * @param question as in {@link #look}; neither it nor what it does with the answer may wait
   */
  public void ask(Consumer<ClusterState> question) {
    questions.add(question);
    // a thread that waits for the state is not overtaken: it answers the question afterwards
    while (alone.get() == 0 && !questions.isEmpty() && lock.readLock().tryLock()) {
      answerQuestion();
    }
  }

  /** Answers the questions that came meanwhile; later ones are answered by those that ask them. */
  private void noLongerAlone() {
    alone.decrementAndGet();
    for (int left = questions.size(); left > 0 && lock.readLock().tryLock(); left--) {
      answerQuestion();
    }
  }

  /** Answers a question, if there is one, and gives the read lock back. */
  private void answerQuestion() {
    try {
      Consumer<ClusterState> question = questions.poll();
      if (question != null) {
        question.accept(state.get());
      }
    } catch (RuntimeException e) {
      LOG.error("{}: a question about the state failed", nodeId, LoggedError.of(e));
    } finally {
      lock.readLock().unlock();
    }
  }

  /**
   * Reads the state between two entries like {@link #look}, while no other thread does.
   *
   * @param ended whether the query that reads has to end
   * @throws CancellationException once the query has to end
   */
  public <T> T lookAlone(Function<ClusterState, T> question, BooleanSupplier ended) {
    requireTime();
    alone.incrementAndGet();
    try {
      lockUntil(lock.writeLock(), LOOK_MILLIS, ended);
      try {
        return question.apply(state.get());
      } finally {
        lock.writeLock().unlock();
      }
    } finally {
      noLongerAlone();
    }
  }
}
