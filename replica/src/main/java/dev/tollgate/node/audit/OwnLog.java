package dev.tollgate.node.audit;

import static java.util.Objects.requireNonNull;

/**
 * What the log of this node had when the node started. No audit line can be about a later entry of
 * that log: a line that says so is not believed.
 *
 * @param directory the incarnation of the data directory; empty for a log in memory
 * @param lastIndex the last entry on the disk, in the log or in a snapshot
 */
record OwnLog(String directory, long lastIndex) {
  /** Of a node without a data directory: no place in a file is one of its log. */
  static final OwnLog NONE = new OwnLog("", 0);

  OwnLog {
    requireNonNull(directory, "directory");
  }

  /** False for a place of this log that is beyond the log. Another log is not known here. */
  boolean mayHave(AuditTarget.Progress place) {
    return directory.isEmpty()
        || !directory.equals(place.directory())
        || place.position().logIndex() <= lastIndex;
  }
}
