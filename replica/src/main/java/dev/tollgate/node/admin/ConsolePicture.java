package dev.tollgate.node.admin;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.LogStatus;
import dev.tollgate.node.replica.LockPicture;
import dev.tollgate.node.replica.ReplicaFigures;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What one look of the console has seen.
 *
 * @param wallMillis when, by the clock of this node; milliseconds since 1970
 * @param nanos when, by {@link System#nanoTime}
 * @param adminUrls of other members, as they have told; which of them a page has depends on where
 *     its client is
 * @param figures null if they could not be had in time
 */
record ConsolePicture(
    long wallMillis,
    long nanos,
    LockPicture locks,
    LogStatus status,
    Map<String, String> adminUrls,
    boolean leading,
    @Nullable ReplicaFigures figures) {
  ConsolePicture {
    requireNonNull(locks, "locks");
    requireNonNull(status, "status");
    adminUrls = Map.copyOf(adminUrls);
  }
}
