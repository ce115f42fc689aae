package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import dev.tollgate.lock.LockObserver.Outcome;
import java.lang.System.Logger;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/** The observers of a client, and the clock for its requests. Thread-safe. */
final class LockObservers {
  private static final Logger LOG = System.getLogger("dev.tollgate.lock");

  private final Executor listeners;
  private volatile List<LockObserver> observers = List.of();

  /**
   * @param listeners where a loss is told
   */
  LockObservers(Executor listeners) {
    this.listeners = requireNonNull(listeners, "listeners");
  }

  synchronized void add(LockObserver observer) {
    requireNonNull(observer, "observer");
    if (observers.size() >= LockLimits.LISTENERS) {
      throw new IllegalStateException(
          "this client has " + LockLimits.LISTENERS + " observers already (LockLimits.LISTENERS)");
    }
    List<LockObserver> more = new ArrayList<>(observers);
    more.add(observer);
    observers = List.copyOf(more);
  }

  /** A request for locks. */
  interface Request<R, E extends Exception> {
    Optional<R> run() throws E;
  }

  /** Runs a request, and tells the observers how it ended. */
  <R, E extends Exception> Optional<R> observe(Request<R, E> request) throws E {
    long begin = System.nanoTime();
    Outcome outcome = Outcome.FAILED;
    try {
      Optional<R> granted = request.run();
      outcome = granted.isPresent() ? Outcome.GRANTED : Outcome.REFUSED;
      return granted;
    } catch (Exception e) {
      if (e instanceof InterruptedException) {
        outcome = Outcome.INTERRUPTED;
      }
      throw e;
    } finally {
      requestEnded(outcome, Duration.ofNanos(System.nanoTime() - begin));
    }
  }

  private void requestEnded(Outcome outcome, Duration took) {
    tell(observer -> observer.requestEnded(outcome, took));
  }

  /** Tells the observers on a thread of the listeners: the thread that finds a loss has no time. */
  void leaseLost(Lease lease) {
    if (!observers.isEmpty()) {
      listeners.execute(() -> tell(observer -> observer.leaseLost(lease)));
    }
  }

  /** Whatever an observer throws, the caller gets its locks. */
  private void tell(Consumer<LockObserver> news) {
    for (LockObserver observer : observers) {
      try {
        news.accept(observer);
      } catch (Throwable e) {
        LOG.log(Logger.Level.WARNING, "an observer of a lock client", e);
      }
    }
  }
}
