package dev.tollgate.log;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Holds entries back while leadership is handed over. Ratis refuses new entries once a transfer is
 * requested. Without a hold, clients would be sent on, find that this node still leads, and come
 * back at once, again and again. Meanwhile a successor needs the processors to be elected. The one
 * entry that waits here keeps all that follows in the pipeline. Thread-safe.
 */
public final class EntryHold {
  private final ReentrantLock mutex = new ReentrantLock();
  private int holders;
  private int underWay;

  /** Completes when entries may pass again; null while they may. */
  private @Nullable CompletableFuture<Void> release;

  /** Completes when the entries from before the hold are done; null if nothing waits for that. */
  private @Nullable CompletableFuture<Void> drained;

  /** Proposes an entry now, or once nothing holds it back. */
  public CompletableFuture<Void> pass(Supplier<CompletableFuture<Void>> proposal) {
    CompletableFuture<Void> held;
    mutex.lock();
    try {
      held = release;
      underWay += held == null ? 1 : 0;
    } finally {
      mutex.unlock();
    }
    if (held != null) {
      return held.thenCompose(released -> pass(proposal));
    }
    CompletableFuture<Void> done;
    try {
      done = proposal.get();
    } catch (RuntimeException | Error e) {
      passed();
      throw e;
    }
    return done.whenComplete((nothing, failure) -> passed());
  }

  private void passed() {
    CompletableFuture<Void> waiting = null;
    mutex.lock();
    try {
      underWay--;
      if (underWay == 0) {
        waiting = drained;
        drained = null;
      }
    } finally {
      mutex.unlock();
    }
    if (waiting != null) {
      // the thread that lands an entry must not wait for what follows from that
      var unused = waiting.completeAsync(() -> null);
    }
  }

  /**
   * Holds back the entries proposed from now on. Must be followed by one {@link #end}.
   *
   * @return completes, on another thread, when the entries from before are done
   */
  public CompletableFuture<Void> begin() {
    mutex.lock();
    try {
      holders++;
      if (release == null) {
        release = new CompletableFuture<>();
      }
      if (underWay == 0) {
        return CompletableFuture.completedFuture(null);
      }
      if (drained == null) {
        drained = new CompletableFuture<>();
      }
      return drained.copy();
    } finally {
      mutex.unlock();
    }
  }

  /**
   * Releases the held entries at once: this node no longer leads, so whatever is proposed is
   * refused, and its clients look for the next leader. Each hold still has to be ended. Returns
   * before the entries pass.
   */
  public void leadershipLost() {
    CompletableFuture<Void> released;
    mutex.lock();
    try {
      released = release;
      release = null;
    } finally {
      mutex.unlock();
    }
    if (released != null) {
      // the caller may have a monitor of the log, for which a thread that proposes waits
      var unused = released.completeAsync(() -> null);
    }
  }

  /** Releases the held entries, unless another hold remains. Call on a thread that may propose. */
  public void end() {
    CompletableFuture<Void> released = null;
    mutex.lock();
    try {
      holders--;
      if (holders == 0) {
        released = release;
        release = null;
      }
    } finally {
      mutex.unlock();
    }
    if (released != null) {
      released.complete(null);
    }
  }
}
