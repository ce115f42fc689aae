package dev.tollgate.log;

import dev.tollgate.snapshot.SnapshotReader;
import dev.tollgate.snapshot.StateCopy;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.ratis.io.MD5Hash;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.storage.FileInfo;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.SnapshotRetentionPolicy;
import org.apache.ratis.statemachine.impl.SimpleStateMachineStorage;
import org.apache.ratis.statemachine.impl.SingleFileSnapshotInfo;
import org.apache.ratis.util.MD5FileUtil;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * When snapshots of this node are taken, and which one a restart begins with.
 *
 * <p>One is due when the log has grown by so many bytes. The copy of the state is begun between two
 * entries and written by a thread of its own. The log is kept from the snapshot before the newest,
 * so that the newest may be damaged.
 */
final class Snapshots {
  private static final Logger LOG = LoggerFactory.getLogger(Snapshots.class);

  /** What an entry costs at a restart besides its bytes. */
  private static final int ENTRY_BYTES = 256;

  /** The name of a segment of the log, which says with which entry it begins. */
  private static final Pattern SEGMENT = Pattern.compile("log_(?:inprogress_)?(\\d+)");

  /** A copy that definitions have cancelled so often makes them wait. */
  private static final int PATIENCE = 3;

  /** The log may grow by this part more before transactions have to make way. */
  private static final int OVERDUE = 4;

  private final String nodeId;
  private final long logBytes;
  private final LogConsumer consumer;
  private final Runnable finished;
  private final ExecutorService writer =
      Executors.newSingleThreadExecutor(
          task -> {
            Thread thread = new Thread(task, "tollgate-snapshot");
            thread.setDaemon(true);
            return thread;
          });
  private final SimpleStateMachineStorage storage =
      new SimpleStateMachineStorage() {
        @Override
        public void cleanupOldSnapshots(SnapshotRetentionPolicy policy) {
          // dropped when a new one is complete
        }
      };

  private @Nullable SnapshotFiles files;
  private long bytesSince;
  private boolean needsGap;
  private int cancelled;
  private volatile boolean writing;
  private volatile long purgeable = -1;

  /**
   * @param logBytes by how much the log grows between two snapshots
   * @param finished is called by the writing thread when a snapshot is complete
   */
  Snapshots(String nodeId, long logBytes, LogConsumer consumer, Runnable finished) {
    this.nodeId = nodeId;
    this.logBytes = logBytes;
    this.consumer = consumer;
    this.finished = finished;
  }

  SimpleStateMachineStorage storage() {
    return storage;
  }

  /**
   * Begins with the newest snapshot that is whole.
   *
   * @return the last entry that the state covers, or null if there is no snapshot
   */
  @Nullable TermIndex open(RaftStorage raft) throws IOException {
    SnapshotFiles found =
        new SnapshotFiles(nodeId, raft.getStorageDir().getStateMachineDir().toPath());
    files = found;
    found.setAsideDamaged();
    storage.init(raft);
    requireLogAfter(found.all(), raft.getStorageDir().getCurrentDir().toPath());
    return restoreNewest(found);
  }

  /** Ratis would wait for ever for entries that are on no disk of this node. */
  private void requireLogAfter(List<SnapshotFiles.Snapshot> snapshots, Path log)
      throws IOException {
    long needed = snapshots.isEmpty() ? 0 : snapshots.get(0).last().getIndex() + 1;
    OptionalLong first;
    try (Stream<Path> segments = Files.list(log)) {
      first =
          segments
              .map(file -> SEGMENT.matcher(file.getFileName().toString()))
              .filter(Matcher::lookingAt)
              .mapToLong(name -> Long.parseLong(name.group(1)))
              .min();
    }
    if (first.isPresent() && first.getAsLong() > needed) {
      throw new CorruptLogException(
          "node "
              + nodeId
              + " cannot recover by itself: its log in "
              + log
              + " begins with entry "
              + first.getAsLong()
              + ", and it has no whole snapshot up to there, only up to entry "
              + (needed - 1)
              + ". Restore its directory from a copy, or replace the node by one with another name");
    }
  }

  /** Begins again with a snapshot that has just come from the leader. */
  @Nullable TermIndex reopen() throws IOException {
    SnapshotFiles found = opened();
    storage.loadLatestSnapshot();
    return restoreNewest(found);
  }

  private @Nullable TermIndex restoreNewest(SnapshotFiles found) throws IOException {
    List<SnapshotFiles.Snapshot> all = found.all();
    if (all.isEmpty()) {
      return null;
    }
    SnapshotFiles.Snapshot newest = all.get(0);
    long start = System.nanoTime();
    try (InputStream in = found.open(newest)) {
      consumer.restore(new SnapshotReader(in));
    }
    LOG.info(
        "{}: restored the snapshot at log index {} in {} ms",
        nodeId,
        newest.last().getIndex(),
        TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
    bytesSince = 0;
    return newest.last();
  }

  /** An entry of this size has been applied; by the thread that applies. */
  void applied(TermIndex entry, int sizeBytes) {
    bytesSince += sizeBytes + ENTRY_BYTES;
    if (bytesSince >= logBytes && !writing) {
      long start = System.nanoTime();
      StateCopy copy = consumer.beginCopy(/* insistent= */ cancelled >= PATIENCE);
      needGap(copy == null && bytesSince - logBytes >= logBytes / OVERDUE);
      if (copy != null) {
        bytesSince = 0;
        writing = true;
        long heldNanos = System.nanoTime() - start;
        writer.execute(() -> write(entry, copy, heldNanos));
      }
    }
  }

  private void needGap(boolean needed) {
    if (needed != needsGap) {
      needsGap = needed;
      if (needed) {
        LOG.info("{}: the snapshot waits for a moment without transactions", nodeId);
      }
      consumer.snapshotNeedsGap(needed);
    }
  }

  private void write(TermIndex entry, StateCopy copy, long heldNanos) {
    long start = System.nanoTime();
    try (copy) {
      SnapshotFiles.Snapshot snapshot = opened().write(entry, copy);
      MD5Hash digest = MD5FileUtil.readStoredMd5ForFile(snapshot.file().toFile());
      storage.updateLatestSnapshot(
          new SingleFileSnapshotInfo(
              new FileInfo(snapshot.file(), digest), entry.getTerm(), entry.getIndex()));
      purgeable = opened().dropOld();
      cancelled = 0;
      LOG.info(
          "{}: snapshot at log index {}, {} KiB, in {} ms, which held up the log for {} ms",
          nodeId,
          entry.getIndex(),
          snapshot.file().toFile().length() >> 10,
          TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start),
          TimeUnit.NANOSECONDS.toMillis(heldNanos));
      finished.run();
    } catch (InterruptedIOException e) {
      cancelled++;
      LOG.info("{}: the snapshot made way for a definition and will be tried again", nodeId);
    } catch (IOException | RuntimeException e) {
      LOG.error(
          "{}: no snapshot could be written; the log grows until one can. Is the disk full?",
          nodeId,
          e);
    } catch (Error e) {
      consumer.failed(e);
      throw e;
    } finally {
      writing = false;
    }
  }

  /** Up to which entry the log is not needed here any more, or -1. */
  long purgeable() {
    return purgeable;
  }

  /** Waits until nothing is written any more. */
  void close() {
    writer.shutdown();
    try {
      if (!writer.awaitTermination(1, TimeUnit.MINUTES)) {
        LOG.warn("{}: a snapshot is still being written", nodeId);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private SnapshotFiles opened() {
    SnapshotFiles found = files;
    if (found == null) {
      throw new IllegalStateException("the snapshots are not open");
    }
    return found;
  }
}
