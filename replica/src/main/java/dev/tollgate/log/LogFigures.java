package dev.tollgate.log;

import java.util.List;

/**
 * The log and the snapshots of a node, as far as its disk goes.
 *
 * @param segments files of the log
 * @param logBytes bytes of these files
 * @param bytesSinceSnapshot by how much the log has grown since the last snapshot
 * @param snapshotBytes bytes of the snapshots that are kept
 * @param snapshots snapshots that are kept
 * @param newestSnapshotIndex the last entry that the newest snapshot covers; 0 without one
 * @param newestSnapshotMillis when it was written, milliseconds since 1970; 0 without one
 * @param written snapshots that this process has written
 * @param interrupted snapshots that made way for a definition
 * @param failed snapshots that could not be written or read back
 * @param unreadable of these, snapshots that were written and could not be read back
 * @param lastWriteMillis how long it took to write the last one
 * @param lastHeldMicros for how long the last one held up the log
 * @param usableBytes room that is left on the disk of the data directory
 * @param diskBytes size of that disk
 * @param keys the data keys of the node, and what is encrypted with each
 */
public record LogFigures(
    int segments,
    long logBytes,
    long bytesSinceSnapshot,
    long snapshotBytes,
    int snapshots,
    long newestSnapshotIndex,
    long newestSnapshotMillis,
    long written,
    long interrupted,
    long failed,
    long unreadable,
    long lastWriteMillis,
    long lastHeldMicros,
    long usableBytes,
    long diskBytes,
    List<KeyUse> keys) {
  /** Of a node that keeps nothing, or whose directory cannot be read. */
  public static final LogFigures NONE =
      new LogFigures(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, List.of());

  public LogFigures {
    keys = List.copyOf(keys);
  }
}
