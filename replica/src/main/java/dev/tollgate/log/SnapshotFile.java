package dev.tollgate.log;

import static java.util.Objects.requireNonNull;

import java.nio.file.Path;
import java.time.Instant;

/**
 * A complete snapshot on the disk of this node.
 *
 * @param path stays where it is until two newer snapshots are complete
 * @param index the last log entry that it covers
 * @param term the term of that entry
 * @param sizeBytes without the encryption of this node
 */
public record SnapshotFile(Path path, long term, long index, long sizeBytes, Instant writtenAt) {
  public SnapshotFile {
    requireNonNull(path, "path");
    requireNonNull(writtenAt, "writtenAt");
  }
}
