package dev.tollgate.log.ratis;

import dev.tollgate.log.KeyUse;
import dev.tollgate.log.LogFigures;
import dev.tollgate.log.SnapshotFile;
import dev.tollgate.log.snapshot.SnapshotWork;
import dev.tollgate.log.snapshot.Snapshots;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;

/** Adds up what a node has on its disk. */
final class DiskFigures {
  private DiskFigures() {}

  /**
   * @param group the directory of the group within that of the node
   * @param keys the data keys of the node
   */
  static LogFigures of(Path group, Snapshots snapshots, List<KeyUse> keys) throws IOException {
    List<Path> segments = Snapshots.segments(group.resolve("current"));
    long logBytes = 0;
    for (Path segment : segments) {
      logBytes += size(segment);
    }
    List<SnapshotFile> kept = snapshots.list();
    SnapshotFile newest = kept.isEmpty() ? null : kept.get(0);
    FileStore disk = Files.getFileStore(group);
    SnapshotWork work = snapshots.work();
    return new LogFigures(
        segments.size(),
        logBytes,
        work.bytesSince(),
        kept.stream().mapToLong(SnapshotFile::sizeBytes).sum(),
        kept.size(),
        newest == null ? 0 : newest.index(),
        newest == null ? 0 : newest.writtenAt().toEpochMilli(),
        work.written(),
        work.interrupted(),
        work.failed(),
        work.unreadable(),
        work.lastWriteMillis(),
        work.lastHeldMicros(),
        disk.getUsableSpace(),
        disk.getTotalSpace(),
        keys);
  }

  /** A segment may be renamed or dropped at any moment. */
  private static long size(Path segment) throws IOException {
    try {
      return Files.size(segment);
    } catch (NoSuchFileException e) {
      return 0;
    }
  }
}
