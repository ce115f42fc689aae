package dev.tollgate.log.ratis;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.LogConsumer;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

/**
 * Tells a consumer in turn that this node leads and that it does not. Ratis reports this on two
 * threads, and "leads" may come after the "does not lead" of the same term. So neither report is
 * passed on. Each only triggers a check of the true state, which Ratis changes before it reports
 * anything.
 *
 * <p>No thread waits here. A thread that is telling the consumer also delivers what other threads
 * report meanwhile. The thread that reports the loss of leadership holds a monitor of Ratis, for
 * which the consumer may be waiting. Thread-safe.
 */
final class LeadershipNews {
  /** The value of {@code leadingTerm} while this node does not lead. */
  static final long NONE = -1;

  private final LogConsumer consumer;
  private final LongSupplier leadingTerm;
  private final AtomicInteger changes = new AtomicInteger();

  /** Used only by the thread that tells the consumer. */
  private long told = NONE;

  /**
   * @param leadingTerm the term in which this node leads at this moment, having applied all of
   *     earlier leaders, or {@link #NONE}; must not block
   */
  LeadershipNews(LogConsumer consumer, LongSupplier leadingTerm) {
    this.consumer = requireNonNull(consumer, "consumer");
    this.leadingTerm = requireNonNull(leadingTerm, "leadingTerm");
  }

  /** Reports that leadership has changed, or may have. */
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
