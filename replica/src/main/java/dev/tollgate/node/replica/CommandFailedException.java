package dev.tollgate.node.replica;

import dev.tollgate.log.entry.LoggedError;

/** A command of the log could not be carried out: the state can no longer be trusted. */
public final class CommandFailedException extends RuntimeException {
  private static final long serialVersionUID = 1;

  CommandFailedException(long logIndex, int ordinal, Throwable cause) {
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
  }
}
