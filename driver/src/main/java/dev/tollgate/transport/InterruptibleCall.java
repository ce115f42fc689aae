package dev.tollgate.transport;

import static java.util.Objects.requireNonNull;

import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.spi.AbstractInterruptibleChannel;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A call that blocks without noticing interrupts, and what the thread that interrupts it does
 * instead. The JDK offers such a hook to implementers of channels only, so this is one, without
 * bytes. Single use.
 *
 * <p>A thread has one such hook at a time, and other channels that are used within the call take it
 * away, such as those from which a class loader reads. So the call sets it again before each wait
 * for a node.
 */
public final class InterruptibleCall<R> extends AbstractInterruptibleChannel {
  private static final ThreadLocal<@Nullable InterruptibleCall<?>> CURRENT = new ThreadLocal<>();

  private final Runnable onInterrupt;
  private boolean interrupted;

  /**
   * @param onInterrupt called by the thread that interrupts, at most once; must neither wait nor
   *     throw
   */
  public InterruptibleCall(Runnable onInterrupt) {
    this.onInterrupt = requireNonNull(onInterrupt, "onInterrupt");
  }

  /** Makes the call. A thread that is interrupted already finds the hook called before. */
  public R run(Supplier<R> call) {
    begin();
    CURRENT.set(this);
    try {
      return call.get();
    } finally {
      CURRENT.remove();
      stopListening();
    }
  }

  /** Sets the hook of the call that this thread is in, if it is in one. */
  static void listenAgain() {
    InterruptibleCall<?> current = CURRENT.get();
    if (current != null) {
      current.begin();
    }
  }

  private void stopListening() {
    try {
      end(/* completed= */ true);
    } catch (AsynchronousCloseException e) {
      interrupted = true;
    }
  }

  /** True if the thread was interrupted during the call; the thread's own flag may be gone. */
  public boolean isInterrupted() {
    return interrupted;
  }

  @Override
  protected void implCloseChannel() {
    onInterrupt.run();
  }
}
