package dev.tollgate.log.ratis;

import static dev.tollgate.log.ratis.RatisInternals.field;
import static java.util.Objects.requireNonNull;

import dev.tollgate.log.SyncedFiles;
import dev.tollgate.log.trace.PromiseTrace;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.OptionalLong;
import org.apache.ratis.server.raftlog.RaftLog;
import org.jspecify.annotations.Nullable;

/**
 * What has to be on the disk before an entry is, and what is known of entries that are. Ratis 3.3.0
 * (SegmentedRaftLogWorker) creates, renames and deletes segments, and syncs none of these names. It
 * also remembers nowhere what it has synced, and tells nobody of the end of a sync. So this class
 * puts a channel of its own between Ratis and the open segment, and records each sync before Ratis
 * learns of its end: what is acknowledged is recorded. Thread-safe.
 */
final class EntrySyncs {
  private final Path directory;
  private final SyncedIndex synced;
  private final PromiseTrace trace;

  /** The first entries of the cuts that Ratis has decided on and not made, in order. */
  private final Deque<Long> cuts = new ArrayDeque<>();

  private @Nullable LogWriter writer;

  /** The open segment whose name is on the disk, and whose syncs are recorded. */
  private @Nullable Object named;

  /** The last entry that the next sync covers. */
  private long written = RaftLog.INVALID_LOG_INDEX;

  /**
   * @param directory where the segments are
   * @param synced belongs to this object from now on
   */
  EntrySyncs(Path directory, SyncedIndex synced, PromiseTrace trace) {
    this.directory = requireNonNull(directory, "directory");
    this.synced = requireNonNull(synced, "synced");
    this.trace = requireNonNull(trace, "trace");
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
   * @param last the last entry that the sync covers
   * @throws IOException if the disk may not have the names; the entries do not count then
   */
  synchronized void beforeSync(RaftLog log, long last) throws IOException {
    written = last;
    try {
      Object segment =
          requireNonNull(writer(log).segment(), "a segment is open while it is synced");
      if (segment != named) {
        SyncedFiles.sync(directory);
        watch(segment);
        named = segment;
      }
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(
          "this Ratis writes its log otherwise than the one that Tollgate was written for", e);
    }
  }

  private LogWriter writer(RaftLog log) throws ReflectiveOperationException {
    LogWriter found = writer;
    if (found == null) {
      found = LogWriter.of(log);
      writer = found;
    }
    return found;
  }

  private void watch(Object segment) throws ReflectiveOperationException {
    Object buffered = requireNonNull(field(segment.getClass(), "out").get(segment));
    Field channel = field(buffered.getClass(), "fileChannel");
    FileChannel file = (FileChannel) requireNonNull(channel.get(buffered));
    channel.set(buffered, new SyncedChannel(file, this::began, this::succeeded));
  }

  private synchronized long began() {
    return written;
  }

  /**
   * Called by the thread that writes the log, once a sync has succeeded.
   *
   * @param last the last entry that the sync covered; may be of those that are about to be cut off
   */
  synchronized void succeeded(long last) throws IOException {
    long kept = last;
    for (long first : cuts) {
      kept = Math.min(kept, first - 1);
    }
    synced.set(kept);
    trace.synced(kept);
  }

  /**
   * Called before Ratis queues the work of cutting the log. The thread that writes the log may sync
   * entries that are cut off until it gets there.
   *
   * @param first the first entry that is cut off
   */
  synchronized void beforeCut(long first) throws IOException {
    cuts.add(first);
    if (synced.get().orElse(first) >= first) {
      synced.set(first - 1);
    }
  }

  /** Called by the thread that writes the log, once it has made the earliest cut. */
  synchronized void cut() {
    cuts.remove();
  }

  /** Syncs the record, for as long as the disk takes. */
  void keep() throws IOException {
    synced.sync();
  }

  /** Keeps the record of a log that is closed. */
  synchronized void close() throws IOException {
    try (synced) {
      synced.sync();
    }
  }
}
