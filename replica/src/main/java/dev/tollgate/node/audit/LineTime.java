package dev.tollgate.node.audit;

import dev.tollgate.core.command.LogPosition;

/**
 * The time of a line about the log: the time of the log, or that of this node for the first entries
 * of a cluster, which are older than the first time stamp.
 */
record LineTime(long micros, boolean isOfLog) {
  static LineTime of(LogPosition command, long nodeMicros) {
    boolean stamped = command.timeMicros() > 0;
    return new LineTime(stamped ? command.timeMicros() : nodeMicros, stamped);
  }

  /** Begins a line. Where the line stands in the log comes next ({@link AuditFile}). */
  JsonLine begin(String event) {
    return new JsonLine(micros, event);
  }

  /** Says that the time is not that of the log, if so. */
  JsonLine describe(JsonLine line) {
    return isOfLog ? line : line.text("time_of", "node");
  }
}
