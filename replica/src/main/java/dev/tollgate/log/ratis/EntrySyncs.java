package dev.tollgate.log.ratis;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.SyncedFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.util.OptionalLong;
import org.apache.ratis.server.raftlog.RaftLog;
import org.jspecify.annotations.Nullable;

/**
 * What has to be on the disk before an entry is, and what is known of entries that are. Ratis 3.3.0
 * (SegmentedRaftLogWorker) creates, renames and deletes segments, and syncs none of these names. It
 * also remembers nowhere what it has synced. Thread-safe.
 */
final class EntrySyncs {
  private final Path directory;
  private final SyncedIndex synced;
  private @Nullable RaftLog log;
  private @Nullable LogWriter writer;

  /** The open segment whose name is on the disk. */
  private @Nullable Object named;

  /**
   * @param directory where the segments are
   * @param synced belongs to this object from now on
   */
  EntrySyncs(Path directory, SyncedIndex synced) {
    this.directory = requireNonNull(directory, "directory");
    this.synced = requireNonNull(synced, "synced");
  }

  /** Returns the last entry that is known to have been synced; empty if that is not known. */
  synchronized OptionalLong known() {
    return synced.get();
  }

  /** Records up to which entry a start has synced the log. */
  synchronized void begin(long last) throws IOException {
    synced.set(last);
  }

  /**
   * Syncs the names of segments if they have changed: each change ends with another open segment.
   * Called by the thread that writes the log, before each sync of entries.
   *
   * @throws IOException if the disk may not have them; the entries do not count then
   */
  synchronized void beforeSync(RaftLog written) throws IOException {
    log = written;
    Object segment = writer(written).segment();
    if (segment != named) {
      SyncedFiles.sync(directory);
      named = segment;
    }
    synced.set(written.getFlushIndex());
  }

  /**
   * Called before the log is cut.
   *
   * @param first the first entry that is cut off
   */
  synchronized void beforeCut(long first) throws IOException {
    if (synced.get().orElse(first) >= first) {
      synced.set(first - 1);
    }
  }

  /** Records the last sync of a log that is closed. */
  synchronized void close() throws IOException {
    try (synced) {
      if (log != null) {
        synced.set(log.getFlushIndex());
      }
    }
  }

  private LogWriter writer(RaftLog written) {
    LogWriter found = writer;
    if (found == null) {
      try {
        found = LogWriter.of(written);
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException(
            "this Ratis writes its log otherwise than the one that Tollgate was written for", e);
      }
      writer = found;
    }
    return found;
  }
}
