package dev.tollgate.samples.torture.history;

import java.util.List;
import java.util.Map;

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
}
