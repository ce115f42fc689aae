package dev.tollgate.log;

import dev.tollgate.log.entry.LoggedError;

/**
 * A command of the log could not be carried out: the state can no longer be trusted. A node that
 * has others stands at that command, and a node without others stops (ADR 0097).
 */
public final class CommandFailedException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final long logIndex;
  private final int ordinal;

  /**
   * @param ordinal the place of the command in its entry, from 0
   */
  public CommandFailedException(long logIndex, int ordinal, Throwable cause) {
    super(
        "its state can no longer be trusted, because command "
            + ordinal
            + " of log entry "
            + logIndex
            + " failed with "
            + LoggedError.text(cause)
            + ". Start it again, and it begins with its last snapshot. If it stops again at the"
            + " same command, report this; if the other nodes go on, have this one begin anew with"
            + " the data of the leader: tollgate reseed; if all nodes stop there, have all of them"
            + " skip it: tollgate skip --data DIR --index "
            + logIndex
            + " --ordinal "
            + ordinal,
        cause);
    this.logIndex = logIndex;
    this.ordinal = ordinal;
  }

  /** The entry with that command. */
  public long logIndex() {
    return logIndex;
  }

  /** The place of that command in its entry, from 0. */
  public int ordinal() {
    return ordinal;
  }
}
