package dev.tollgate.log.ratis;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.LogConsumer;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

/**
 * Tells a consumer in turn that this node leads and that it does not. What Ratis says of it comes
 * from two threads, and "leads" may come after the "does not lead" of the same term. So neither is
 * passed on: both only have the truth looked up, which Ratis changes before it says anything.
 *
 * <p>Nobody waits here. A thread that is telling the consumer also tells what others bring
 * meanwhile: whoever says that this node does not lead holds a monitor of Ratis, for which the
 * consumer may be waiting. Thread-safe.
 */
final class LeadershipNews {
  /** What {@code leadingTerm} says while this node does not lead. */
  static final long NONE = -1;

  private final LogConsumer consumer;
  private final LongSupplier leadingTerm;
  private final AtomicInteger changes = new AtomicInteger();

  /** By the thread that tells the consumer. */
  private long told = NONE;

  /**
   * @param leadingTerm the term in which this node leads at this moment, having applied all of
   *     earlier leaders, or {@link #NONE}; must not block
   */
  LeadershipNews(LogConsumer consumer, LongSupplier leadingTerm) {
    this.consumer = requireNonNull(consumer, "consumer");
    this.leadingTerm = requireNonNull(leadingTerm, "leadingTerm");
  }

  /** Leadership has changed, or may have. */
  void changed() {
    int seen = changes.incrementAndGet();
    if (seen > 1) {
      return;
    }
    do {
      try {
        tell();
      } catch (RuntimeException | Error e) {
        consumer.failed(e);
      }
      seen = changes.addAndGet(-seen);
    } while (seen > 0);
  }

  private void tell() {
    long term = leadingTerm.getAsLong();
    if (term == told) {
      return;
    }
    if (told != NONE) {
      told = NONE;
      consumer.stoppedLeading();
    }
    if (term != NONE) {
      told = term;
      consumer.startedLeading(term);
    }
  }
}
