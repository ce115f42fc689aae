package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.spi.AbstractInterruptibleChannel;
import java.util.function.Supplier;

/**
 * A call that blocks without noticing interrupts, and what the thread that interrupts it does
 * instead. The JDK offers such a hook to implementers of channels only, so this is one, without
 * bytes. Single use.
 */
final class InterruptibleCall<R> extends AbstractInterruptibleChannel {
  private final Runnable onInterrupt;
  private boolean interrupted;

  /**
   * @param onInterrupt called by the thread that interrupts, at most once; must neither wait nor
   *     throw
   */
  InterruptibleCall(Runnable onInterrupt) {
    this.onInterrupt = requireNonNull(onInterrupt, "onInterrupt");
  }

  /** Makes the call. A thread that is interrupted already finds the hook called before. */
  R run(Supplier<R> call) {
    begin();
    try {
      return call.get();
    } finally {
      stopListening();
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
  boolean isInterrupted() {
    return interrupted;
  }

  @Override
  protected void implCloseChannel() {
    onInterrupt.run();
  }
}
