package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.wire.Reply;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * The way back for a statement, which measures how long the statement takes. One thread at a time
 * works on a statement, so the fields need no lock; the last one calls {@link #accept}.
 */
final class TimedAnswer implements Consumer<Reply> {
  /** Is told of the answer before it is sent. */
  interface Listener {
    void answered(Reply reply, Time time);
  }

  /**
   * How long a statement took.
   *
   * @param tookNanos from its arrival to its answer
   * @param waitedNanos how much of that it stood in a queue of the replicated state
   * @param workedNanos the time without waiting for a lock that the client asked to wait for
   * @param planned whether the text was read and accepted
   */
  record Time(long tookNanos, long waitedNanos, long workedNanos, boolean planned) {}

  private final Consumer<Reply> answer;
  private final LongSupplier nanoTime;
  private final Listener listener;
  private final long beginNanos;
  private boolean planned;
  private boolean waiting;
  private boolean waitingForLock;
  private long waitBeginNanos;
  private long waitedNanos;
  private long waitedForLockNanos;

  TimedAnswer(Consumer<Reply> answer, LongSupplier nanoTime, Listener listener) {
    this.answer = requireNonNull(answer, "answer");
    this.nanoTime = requireNonNull(nanoTime, "nanoTime");
    this.listener = requireNonNull(listener, "listener");
    this.beginNanos = nanoTime.getAsLong();
  }

  /** The text of the statement was read and accepted. */
  void planned() {
    planned = true;
  }

  /**
   * The statement stands in a queue of the replicated state from now on.
   *
   * @param forLock whether the client has asked to wait, for a lock
   */
  void waits(boolean forLock) {
    waiting = true;
    waitingForLock = forLock;
    waitBeginNanos = nanoTime.getAsLong();
  }

  void waitsNoMore() {
    if (waiting) {
      waiting = false;
      long waited = nanoTime.getAsLong() - waitBeginNanos;
      waitedNanos += waited;
      waitedForLockNanos += waitingForLock ? waited : 0;
    }
  }

  @Override
  public void accept(Reply reply) {
    long took = nanoTime.getAsLong() - beginNanos;
    try {
      listener.answered(reply, new Time(took, waitedNanos, took - waitedForLockNanos, planned));
    } finally {
      answer.accept(reply);
    }
  }
}
