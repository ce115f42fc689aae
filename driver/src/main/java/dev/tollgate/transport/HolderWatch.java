package dev.tollgate.transport;

import static java.util.Objects.requireNonNull;

import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A lock whose exclusive holder this process wants to know, from any thread until it is closed. The
 * control connection has one request under way for it; after a failover, it asks the next leader.
 */
public final class HolderWatch implements AutoCloseable {
  /** Is told of each holder, one after the other, by the control thread: must return quickly. */
  @FunctionalInterface
  public interface Listener {
    /**
     * @param token 0 if no lease holds the lock exclusively
     * @param owner of the lease, null if there is none
     */
    void holds(long token, @Nullable String owner);
  }

  private static final long NOT_KNOWN = -1;

  private final String lock;
  private final Listener listener;
  private final AtomicBoolean closed = new AtomicBoolean();
  private volatile Runnable forget = () -> {};
  private volatile long knownToken = NOT_KNOWN;

  HolderWatch(String lock, Listener listener) {
    this.lock = requireNonNull(lock, "lock");
    this.listener = requireNonNull(listener, "listener");
  }

  void onClose(Runnable action) {
    forget = requireNonNull(action, "action");
  }

  Request.AwaitHolder request() {
    return new Request.AwaitHolder(lock, knownToken);
  }

  void answered(Reply.Holder holder) {
    knownToken = holder.token();
    if (!closed.get()) {
      listener.holds(holder.token(), holder.owner());
    }
  }

  /** Ends the watch; a call of the listener that has begun goes on. */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      forget.run();
    }
  }
}
