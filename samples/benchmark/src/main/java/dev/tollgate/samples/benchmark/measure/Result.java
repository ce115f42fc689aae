package dev.tollgate.samples.benchmark.measure;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * The rounds of one case.
 *
 * @param samples of each entrant, one a round; the first entrant is compared with the others
 * @param absent entrants without samples, and why
 */
public record Result(
    String scenario, String label, Map<String, List<Sample>> samples, Map<String, String> absent) {
  public Result {
    Map<String, List<Sample>> copy = new LinkedHashMap<>();
    samples.forEach((name, rounds) -> copy.put(name, List.copyOf(rounds)));
    samples = copy;
    absent = new LinkedHashMap<>(absent);
  }

  /** The metrics that any entrant has, in the order of their declaration. */
  List<Metric> metrics() {
    TreeSet<Metric> metrics = new TreeSet<>();
    samples.values().forEach(rounds -> rounds.forEach(s -> metrics.addAll(s.values().keySet())));
    return List.copyOf(metrics);
  }

  /** The values of this metric, one a round; empty if the entrant lacks it in any round. */
  double[] rounds(String entrant, Metric metric) {
    List<Double> values = new ArrayList<>();
    for (Sample sample : samples.getOrDefault(entrant, List.of())) {
      Double value = sample.values().get(metric);
      if (value == null) {
        return new double[0];
      }
      values.add(value);
    }
    return values.stream().mapToDouble(Double::doubleValue).toArray();
  }
}
