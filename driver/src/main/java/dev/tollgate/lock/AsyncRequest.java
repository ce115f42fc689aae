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
  private final CompletableFuture<HeldLock> future = new CompletableFuture<>();
  private @Nullable Thread waiting;

  AsyncRequest(Request request) {
    this.request = requireNonNull(request, "request");
    var unused = future.whenComplete((lock, failure) -> leave());
  }

  CompletableFuture<HeldLock> future() {
    return future;
  }

  @Override
  public void run() {
    if (!begin()) {
      return;
    }
    try {
      HeldLock lock = request.send();
      end();
      if (!future.complete(lock)) {
        lock.close();
      }
    } catch (InterruptedException | RuntimeException | Error e) {
      end();
      future.completeExceptionally(e);
    }
  }

  private synchronized boolean begin() {
    if (future.isDone()) {
      return false;
    }
    waiting = Thread.currentThread();
    return true;
  }

  /** From now on the thread is not interrupted any more, and it forgets that it was. */
  private synchronized void end() {
    waiting = null;
    var unused = Thread.interrupted();
  }

  private synchronized void leave() {
    if (waiting != null) {
      waiting.interrupt();
    }
  }
}
