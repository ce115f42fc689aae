package dev.tollgate.core.command;

/**
 * The place of a command in the log, and its log time.
 *
 * @param logIndex index of the Raft log entry, from 1
 * @param ordinal place of the command among those of its entry, from 0
 * @param timeMicros the leader's time stamp, microseconds since 1970-01-01T00:00:00Z; goes back
 *     from one position to the next only with {@link Command.ResetLogTime}
 */
public record LogPosition(long logIndex, int ordinal, long timeMicros) {
  public LogPosition {
    if (logIndex < 0 || ordinal < 0) {
      throw new IllegalArgumentException("log index " + logIndex + ", ordinal " + ordinal);
    }
  }
}
