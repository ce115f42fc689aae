package dev.tollgate.core.command;

/**
 * Where a command stands in the log, and when the log says it happened.
 *
 * @param logIndex index of the Raft log entry, from 1
 * @param ordinal place of the command among those of its entry, from 0
 * @param timeMicros microseconds since 1970-01-01T00:00:00Z as the leader stamped them; never goes
 *     back from one position to the next
 */
public record LogPosition(long logIndex, int ordinal, long timeMicros) {
  public LogPosition {
    if (logIndex < 0 || ordinal < 0) {
      throw new IllegalArgumentException("log index " + logIndex + ", ordinal " + ordinal);
    }
  }
}
