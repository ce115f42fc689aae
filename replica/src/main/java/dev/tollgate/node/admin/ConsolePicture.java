package dev.tollgate.node.admin;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.LogStatus;
import dev.tollgate.node.replica.LockPicture;
import dev.tollgate.node.replica.ReplicaFigures;
import org.jspecify.annotations.Nullable;

/**
 * What one look of the console has seen.
 *
 * @param wallMillis when, by the clock of this node; milliseconds since 1970
 * @param nanos when, by {@link System#nanoTime}
 * @param figures null if they could not be had in time
 */
record ConsolePicture(
    long wallMillis,
    long nanos,
    LockPicture locks,
    LogStatus status,
    boolean leading,
    @Nullable ReplicaFigures figures) {
  ConsolePicture {
    requireNonNull(locks, "locks");
    requireNonNull(status, "status");
  }
}
