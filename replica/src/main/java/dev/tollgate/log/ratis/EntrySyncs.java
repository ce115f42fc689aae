package dev.tollgate.log.ratis;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.WholeFile;
import java.io.IOException;
import java.nio.file.Path;
import org.apache.ratis.server.raftlog.RaftLog;
import org.jspecify.annotations.Nullable;

/**
 * What has to be on the disk before an entry is. Ratis 3.3.0 (SegmentedRaftLogWorker) creates,
 * renames and deletes segments, and syncs none of these names. Belongs to the thread that writes
 * the log, which calls this before each sync of entries.
 */
final class EntrySyncs {
  private final Path directory;
  private @Nullable LogWriter writer;

  /** The open segment whose name is on the disk. */
  private @Nullable Object named;

  /**
   * @param directory where the segments are
   */
  EntrySyncs(Path directory) {
    this.directory = requireNonNull(directory, "directory");
  }

  /**
   * Syncs the names of segments if they have changed: each change ends with another open segment.
   *
   * @throws IOException if the disk may not have them; the entries do not count then
   */
  void beforeSync(RaftLog log) throws IOException {
    Object segment = writer(log).segment();
    if (segment != named) {
      WholeFile.sync(directory);
      named = segment;
    }
  }

  private LogWriter writer(RaftLog log) {
    LogWriter found = writer;
    if (found == null) {
      try {
        found = LogWriter.of(log);
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException(
            "this Ratis writes its log otherwise than the one that Tollgate was written for", e);
      }
      writer = found;
    }
    return found;
  }
}
