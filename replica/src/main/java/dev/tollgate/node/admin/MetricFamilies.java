package dev.tollgate.node.admin;

import dev.tollgate.core.Tally;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** Gathers metrics in the form of Prometheus' client. Each name comes once. Not thread-safe. */
final class MetricFamilies {
  static final double MICROS = TimeUnit.SECONDS.toMicros(1);
  static final double MILLIS = TimeUnit.SECONDS.toMillis(1);
  static final double NANOS = TimeUnit.SECONDS.toNanos(1);

  private final List<MetricSnapshot> families = new ArrayList<>();

  MetricFamilies gauge(String name, String help, long value) {
    return gauge(name, help, (double) value);
  }

  MetricFamilies gauge(String name, String help, double value) {
    return gauges(name, help, Map.of(Labels.EMPTY, value));
  }

  /** A gauge with labels; left out while there is no value. */
  MetricFamilies gauges(String name, String help, Map<Labels, ? extends Number> values) {
    GaugeSnapshot.Builder builder = GaugeSnapshot.builder().name(name).help(help);
    values.forEach(
        (labels, value) ->
            builder.dataPoint(
                GaugeSnapshot.GaugeDataPointSnapshot.builder()
                    .labels(labels)
                    .value(value.doubleValue())
                    .build()));
    return add(builder.build(), values.isEmpty());
  }

  /**
   * @param name without the {@code _total} that a scrape has after it
   */
  MetricFamilies counter(String name, String help, long value) {
    return counters(name, help, Map.of(Labels.EMPTY, value));
  }

  /** A counter with labels; left out while there is no value. */
  MetricFamilies counters(String name, String help, Map<Labels, ? extends Number> values) {
    CounterSnapshot.Builder builder = CounterSnapshot.builder().name(name).help(help);
    values.forEach(
        (labels, value) ->
            builder.dataPoint(
                CounterSnapshot.CounterDataPointSnapshot.builder()
                    .labels(labels)
                    .value(value.doubleValue())
                    .build()));
    return add(builder.build(), values.isEmpty());
  }

  /** A counter for each of these constants, which the label names in lower case. */
  <E extends Enum<E>> MetricFamilies counters(
      String name, String help, String label, E[] values, Function<E, Long> count) {
    Map<Labels, Number> counts = new LinkedHashMap<>();
    for (E value : values) {
      counts.put(Labels.of(label, value.name().toLowerCase(Locale.ROOT)), count.apply(value));
    }
    return counters(name, help, counts);
  }

  /**
   * @param unit how many of a tally's units make one of the metric
   */
  MetricFamilies histogram(String name, String help, Tally.Count tally, double unit) {
    List<Double> limits = new ArrayList<>();
    tally.bounds().forEach(bound -> limits.add(bound / unit));
    limits.add(Double.POSITIVE_INFINITY);
    HistogramSnapshot.HistogramDataPointSnapshot.Builder point =
        HistogramSnapshot.HistogramDataPointSnapshot.builder()
            .classicHistogramBuckets(ClassicHistogramBuckets.of(limits, tally.counts()));
    point.sum(tally.sum() / unit);
    return add(
        HistogramSnapshot.builder().name(name).help(help).dataPoint(point.build()).build(), false);
  }

  private MetricFamilies add(MetricSnapshot family, boolean empty) {
    if (!empty) {
      families.add(family);
    }
    return this;
  }

  MetricSnapshots all() {
    return new MetricSnapshots(families);
  }
}
