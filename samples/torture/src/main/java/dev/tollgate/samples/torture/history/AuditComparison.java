package dev.tollgate.samples.torture.history;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * How the audit files of the nodes compare.
 *
 * @param events of the log, each counted once
 * @param compared lines that were compared with another node's line
 * @param excused lines that are missing where the file says that lines may be missing
 * @param kinds how often each event of the log happened
 * @param differences for a reader; empty if the files agree
 */
public record AuditComparison(
    int events, long compared, long excused, Map<String, Long> kinds, List<String> differences) {
  public AuditComparison {
    kinds = Map.copyOf(kinds);
    differences = List.copyOf(differences);
  }

  /** Adds what other files of the same nodes have. */
  AuditComparison and(AuditComparison other) {
    Map<String, Long> sum = new TreeMap<>(kinds);
    other.kinds.forEach((kind, count) -> sum.merge(kind, count, Long::sum));
    List<String> all = new ArrayList<>(differences);
    all.addAll(other.differences);
    return new AuditComparison(
        events + other.events, compared + other.compared, excused + other.excused, sum, all);
  }
}
