package dev.tollgate.log;

import dev.tollgate.log.entry.LoggedError;

/** A part that a node must not lead without has met a bug. */
public final class SupervisedFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  SupervisedFailure(String nodeId, String what, Throwable bug) {
    super(
        what
            + " of node "
            + nodeId
            + " failed: "
            + LoggedError.text(bug)
            + ". The node stops, so that another one can lead. Start it again, and report this",
        bug);
  }
}
