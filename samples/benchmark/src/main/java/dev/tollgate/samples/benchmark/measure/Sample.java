package dev.tollgate.samples.benchmark.measure;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;

/** What one entrant did in one round. Not every metric makes sense everywhere. */
public record Sample(Map<Metric, Double> values) {
  public Sample {
    Map<Metric, Double> copy = new EnumMap<>(Metric.class);
    copy.putAll(values);
    values = Collections.unmodifiableMap(copy);
  }

  /** Returns this sample with one more value. */
  public Sample with(Metric metric, double value) {
    Map<Metric, Double> more = new EnumMap<>(Metric.class);
    more.putAll(values);
    more.put(metric, value);
    return new Sample(more);
  }

  public static Sample empty() {
    return new Sample(Map.of());
  }
}
