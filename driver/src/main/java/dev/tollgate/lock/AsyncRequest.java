package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A request for a lock that waits on a thread of the client. When its future is completed by
 * another thread, because it was canceled or has timed out, the request leaves the queue.
 */
final class AsyncRequest implements Runnable {
  /** A request that waits for as long as it takes. */
  interface Request {
    HeldLock send() throws InterruptedException;
  }

  private final Request request;
  private final ListenerLane interrupts;
  private final CompletableFuture<HeldLock> future = new CompletableFuture<>();
  private @Nullable ThreadInterrupt waiting;

  /**
   * @param interrupts where the thread that waits is interrupted; it ends with the request
   */
  AsyncRequest(Request request, ListenerLane interrupts) {
    this.request = requireNonNull(request, "request");
    this.interrupts = requireNonNull(interrupts, "interrupts");
    var unused = future.whenComplete((lock, failure) -> leave());
  }

  CompletableFuture<HeldLock> future() {
    return future;
  }

  @Override
  public void run() {
    ThreadInterrupt interrupt = begin();
    if (interrupt == null) {
      return;
    }
    try {
      HeldLock lock = request.send();
      end(interrupt);
      if (!future.complete(lock)) {
        lock.close();
      }
    } catch (InterruptedException | RuntimeException | Error e) {
      end(interrupt);
      future.completeExceptionally(e);
    }
  }

  /** The request does not run. */
  void refuse(RuntimeException refusal) {
    future.completeExceptionally(refusal);
  }

  /** Returns null if nobody wants the lock any more. */
  private synchronized @Nullable ThreadInterrupt begin() {
    if (future.isDone()) {
      return null;
    }
    waiting = new ThreadInterrupt(Thread.currentThread());
    return waiting;
  }

  /** From now on the thread is not interrupted any more, and it forgets that it was. */
  private void end(ThreadInterrupt interrupt) {
    synchronized (this) {
      waiting = null;
    }
    interrupt.end();
    var unused = Thread.interrupted();
  }

  /** The future is complete. Waits for nothing: that may be on a thread that others need. */
  private synchronized void leave() {
    if (waiting != null) {
      waiting.fireOn(interrupts);
    }
    interrupts.end();
  }
}
