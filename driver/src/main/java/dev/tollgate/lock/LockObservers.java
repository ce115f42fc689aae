package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import dev.tollgate.lock.LockObserver.Outcome;
import java.lang.System.Logger;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** The observers of a client, and the clock for its requests. Thread-safe. */
final class LockObservers {
  private static final Logger LOG = LockLog.LOG;

  /** An observer, and where it is told of losses. */
  private record Told(LockObserver observer, ListenerLane lane) {}

  private final ListenerLanes listeners;
  private volatile List<Told> observers = List.of();

  /**
   * @param listeners where a loss is told
   */
  LockObservers(ListenerLanes listeners) {
    this.listeners = requireNonNull(listeners, "listeners");
  }

  synchronized void add(LockObserver observer) {
    requireNonNull(observer, "observer");
    if (observers.size() >= LockLimits.LISTENERS) {
      throw new IllegalStateException(
          "this client has " + LockLimits.LISTENERS + " observers already (LockLimits.LISTENERS)");
    }
    List<Told> more = new ArrayList<>(observers);
    more.add(new Told(observer, listeners.open("an observer of a lock client")));
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
    for (Told told : observers) {
      tell(told.observer, observer -> observer.requestEnded(outcome, took));
    }
  }

  /** Tells each observer on a lane of its own: the thread that finds a loss has no time. */
  void leaseLost(Lease lease) {
    for (Told told : observers) {
      told.lane.execute(() -> tell(told.observer, observer -> observer.leaseLost(lease)));
    }
  }

  /** Whatever an observer throws, the caller gets its locks. */
  private static void tell(LockObserver observer, Consumer<LockObserver> news) {
    try {
      news.accept(observer);
    } catch (Throwable e) {
      LOG.log(Logger.Level.WARNING, "an observer of a lock client", e);
    }
  }
}
