package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import dev.tollgate.transport.KeptLease;
import java.lang.System.Logger;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Whether a lease is alive, closed or lost, and who is told. The state changes once, on whichever
 * thread finds the end. Thread-safe.
 */
final class LeaseLife {
  private static final Logger LOG = System.getLogger("dev.tollgate.lock");

  private enum State {
    ALIVE,
    CLOSED,
    LOST
  }

  private final String lease;
  private final ClientThreads threads;
  private final Duration margin;
  private final Runnable afterLoss;
  private final List<Consumer<LockLostException>> listeners = new ArrayList<>();
  private final List<Runnable> hooks = new ArrayList<>();
  private State state = State.ALIVE;
  private String lostBecause = "";
  private @Nullable KeptLease proof;
  private @Nullable Future<?> deadline;

  /**
   * @param lease its name in messages
   * @param margin how long before the end of the proof the lease counts as lost
   * @param afterLoss runs once, after the state has changed
   */
  LeaseLife(String lease, ClientThreads threads, Duration margin, Runnable afterLoss) {
    this.lease = requireNonNull(lease, "lease");
    this.threads = requireNonNull(threads, "threads");
    this.margin = requireNonNull(margin, "margin");
    this.afterLoss = requireNonNull(afterLoss, "afterLoss");
  }

  /** Takes over the proof that the lease is alive, and watches its deadline from now on. */
  void provenBy(KeptLease kept) {
    boolean alive;
    synchronized (this) {
      proof = kept;
      alive = state == State.ALIVE;
    }
    if (alive) {
      watchDeadline();
    } else {
      kept.close();
    }
  }

  private void watchDeadline() {
    if (isAlive()) {
      Future<?> next = threads.runLater(remaining().plusMillis(1), this::watchDeadline);
      synchronized (this) {
        deadline = next;
        if (state != State.ALIVE) {
          next.cancel(false);
        }
      }
    }
  }

  Duration margin() {
    return margin;
  }

  /** How long the proof lasts; zero if the lease is not alive. */
  Duration remaining() {
    KeptLease kept = proof();
    if (kept == null) {
      return Duration.ZERO;
    }
    Duration left = kept.remaining().minus(margin);
    return left.isNegative() ? Duration.ZERO : left;
  }

  /** The proof of a lease that is alive, or null. */
  synchronized @Nullable KeptLease proof() {
    return state == State.ALIVE ? proof : null;
  }

  boolean isAlive() {
    synchronized (this) {
      if (state != State.ALIVE) {
        return false;
      }
    }
    if (remaining().isZero()) {
      lose("it was not renewed in time");
      return false;
    }
    return true;
  }

  /** As {@link #isAlive}, but does not look at the clock. */
  synchronized boolean hasNotEnded() {
    return state == State.ALIVE;
  }

  synchronized RuntimeException notAlive() {
    return state == State.CLOSED
        ? new IllegalStateException(lease + " was closed")
        : new LockLostException(lease + " is lost: " + lostBecause);
  }

  void onLost(Consumer<LockLostException> listener) {
    synchronized (this) {
      if (state == State.ALIVE) {
        if (listeners.size() >= LockLimits.LISTENERS) {
          throw new IllegalStateException(
              lease + " has " + LockLimits.LISTENERS + " listeners already (LockLimits.LISTENERS)");
        }
        listeners.add(listener);
        return;
      }
      if (state == State.CLOSED) {
        return;
      }
    }
    tell(listener);
  }

  /**
   * Runs on the thread that finds the loss, within the change of state, so never after {@link
   * #close} has returned. Must be quick.
   */
  void whenLost(Runnable hook) {
    synchronized (this) {
      if (state == State.ALIVE) {
        hooks.add(hook);
        return;
      }
      if (state == State.LOST) {
        hook.run();
      }
    }
  }

  synchronized void forgetHook(Runnable hook) {
    hooks.remove(hook);
  }

  /**
   * Hands over who is told, to the lease that takes the place of this one.
   *
   * @return false if this lease has ended; then nothing is handed over
   */
  boolean bequeathTo(LeaseLife successor) {
    List<Consumer<LockLostException>> told;
    List<Runnable> run;
    synchronized (this) {
      if (state != State.ALIVE) {
        return false;
      }
      told = List.copyOf(listeners);
      run = List.copyOf(hooks);
      listeners.clear();
      hooks.clear();
    }
    run.forEach(successor::whenLost);
    told.forEach(successor::onLost);
    return true;
  }

  private void tell(Consumer<LockLostException> listener) {
    threads
        .listeners()
        .execute(
            () -> {
              try {
                listener.accept((LockLostException) notAlive());
              } catch (RuntimeException e) {
                LOG.log(Logger.Level.WARNING, "a listener for the loss of " + lease, e);
              }
            });
  }

  void lose(String because) {
    List<Consumer<LockLostException>> told;
    KeptLease kept;
    synchronized (this) {
      if (state != State.ALIVE) {
        return;
      }
      state = State.LOST;
      lostBecause = because;
      told = List.copyOf(listeners);
      hooks.forEach(Runnable::run);
      hooks.clear();
      endWatch();
      kept = proof;
    }
    LOG.log(Logger.Level.WARNING, "{0} is lost: {1}", lease, because);
    if (kept != null) {
      kept.close();
    }
    told.forEach(this::tell);
    afterLoss.run();
  }

  /** Returns false if the lease had ended before. */
  boolean close() {
    if (!leave()) {
      return false;
    }
    KeptLease kept = lastProof();
    if (kept != null) {
      kept.close();
    }
    return true;
  }

  /** As {@link #close}, but its heartbeats go on. */
  synchronized boolean leave() {
    if (state != State.ALIVE) {
      return false;
    }
    state = State.CLOSED;
    hooks.clear();
    endWatch();
    return true;
  }

  private synchronized @Nullable KeptLease lastProof() {
    return proof;
  }

  private void endWatch() {
    if (deadline != null) {
      deadline.cancel(false);
    }
  }

  @Override
  public String toString() {
    return lease;
  }
}
