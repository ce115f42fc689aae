package dev.tollgate.samples.benchmark.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class TimingsTest {
  /** Times are kept to three digits. */
  private static final double RESOLUTION = 1_000;

  private final Timings timings = new Timings();

  @Test
  void percentilesAreThoseOfAllOperations() {
    for (int i = 1; i <= 100; i++) {
      timings.operation(TimeUnit.MICROSECONDS.toNanos(i));
    }
    Sample sample = timings.sample(4);
    assertEquals(50, sample.values().get(Metric.P50), 50 / RESOLUTION);
    assertEquals(99, sample.values().get(Metric.P99), 99 / RESOLUTION);
    assertEquals(25, sample.values().get(Metric.OPERATIONS));
  }

  @Test
  void refusedAttemptsAreNoOperations() {
    timings.operation(TimeUnit.MICROSECONDS.toNanos(10));
    timings.refused();
    timings.refused();
    Sample sample = timings.sample(1);
    assertEquals(1, sample.values().get(Metric.OPERATIONS));
    assertEquals(2, sample.values().get(Metric.REFUSED));
  }

  @Test
  void releasesAreTimedApart() {
    timings.operation(TimeUnit.MICROSECONDS.toNanos(10));
    timings.release(TimeUnit.MICROSECONDS.toNanos(70));
    Sample sample = timings.sample(1);
    assertEquals(10, sample.values().get(Metric.P99), 10 / RESOLUTION);
    assertEquals(70, sample.values().get(Metric.RELEASE_P50), 70 / RESOLUTION);
  }

  @Test
  void whatNobodyDidHasNoColumn() {
    assertFalse(timings.sample(1).values().containsKey(Metric.REFUSED));
    assertFalse(timings.sample(1).values().containsKey(Metric.RELEASE_P50));
  }

  @Test
  void timesOfSeveralClientsAreOneDistribution() {
    Timings other = new Timings();
    timings.operation(TimeUnit.MICROSECONDS.toNanos(10));
    timings.untimed();
    other.operation(TimeUnit.MICROSECONDS.toNanos(20));
    timings.add(other);
    assertEquals(3, timings.turns());
    assertEquals(20, timings.sample(1).values().get(Metric.P99), 20 / RESOLUTION);
    assertEquals(2, timings.sample(1).values().get(Metric.OPERATIONS));
  }

  @Test
  void whatTakesOverAMinuteCountsAsAMinute() {
    timings.operation(TimeUnit.MINUTES.toNanos(5));
    assertEquals(60e6, timings.sample(1).values().get(Metric.P50), 60e6 / RESOLUTION);
  }
}
