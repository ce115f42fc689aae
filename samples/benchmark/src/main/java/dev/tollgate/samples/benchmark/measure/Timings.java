package dev.tollgate.samples.benchmark.measure;

import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** How long the operations of one client took. Not thread-safe: each client has its own. */
public final class Timings {
  private static final long HIGHEST_NANOS = TimeUnit.SECONDS.toNanos(60);

  private final Histogram operations = new Histogram(HIGHEST_NANOS, 3);
  private final Histogram releases = new Histogram(HIGHEST_NANOS, 3);
  private long refused;
  private long turns;

  /** Records an operation that did what it was to do. */
  public void operation(long nanos) {
    operations.recordValue(Math.min(HIGHEST_NANOS, nanos));
    turns++;
  }

  /** Counts an operation that began before its time could be taken. */
  public void untimed() {
    turns++;
  }

  /** Records the release after an operation, where the release is timed separately. */
  public void release(long nanos) {
    releases.recordValue(Math.min(HIGHEST_NANOS, nanos));
  }

  /** Counts an attempt that found the lock held. */
  public void refused() {
    refused++;
  }

  /** The number of operations, timed or not. */
  long turns() {
    return turns;
  }

  public void add(Timings other) {
    operations.add(other.operations);
    releases.add(other.releases);
    refused += other.refused;
    turns += other.turns;
  }

  /** Returns a sample of everything recorded, over this time. */
  public Sample sample(double seconds) {
    Sample sample =
        Sample.empty()
            .with(Metric.P50, micros(operations, 50))
            .with(Metric.P99, micros(operations, 99))
            .with(Metric.OPERATIONS, operations.getTotalCount() / seconds);
    if (releases.getTotalCount() > 0) {
      sample =
          sample
              .with(Metric.RELEASE_P50, micros(releases, 50))
              .with(Metric.RELEASE_P99, micros(releases, 99));
    }
    return refused > 0 ? sample.with(Metric.REFUSED, refused / seconds) : sample;
  }

  private static double micros(Histogram histogram, double percentile) {
    return histogram.getValueAtPercentile(percentile) / 1e3;
  }
}
