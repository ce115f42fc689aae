package dev.tollgate.log.snapshot;

/**
 * What a process has done for its snapshots.
 *
 * @param bytesSince by how much the log has grown since the last one
 * @param written snapshots that were written
 * @param interrupted snapshots that made way for a definition
 * @param failed snapshots that could not be written or read back
 * @param unreadable of these, snapshots that were written and could not be read back
 * @param lastWriteMillis how long it took to write the last one
 * @param lastHeldMicros for how long the last one held up the log
 */
public record SnapshotWork(
    long bytesSince,
    long written,
    long interrupted,
    long failed,
    long unreadable,
    long lastWriteMillis,
    long lastHeldMicros) {}
