package dev.tollgate.log.snapshot;

import dev.tollgate.log.LogConsumer;
import dev.tollgate.log.SnapshotFile;
import dev.tollgate.log.SnapshotStore;
import dev.tollgate.log.SnapshotUnavailableException;
import dev.tollgate.log.Supervision;
import dev.tollgate.log.entry.CorruptLogException;
import dev.tollgate.log.entry.LoggedError;
import dev.tollgate.seal.DirectoryKeys;
import dev.tollgate.seal.KeyMissingException;
import dev.tollgate.seal.NotEncryptedException;
import dev.tollgate.seal.StoredFile;
import dev.tollgate.snapshot.SnapshotReader;
import dev.tollgate.snapshot.StateCopy;
import dev.tollgate.snapshot.UnknownVersionException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.ratis.io.MD5Hash;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.storage.FileInfo;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.impl.SingleFileSnapshotInfo;
import org.apache.ratis.util.MD5FileUtil;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides when snapshots of this node are taken, and which snapshot a restart begins with.
 *
 * <p>A snapshot is due when the log has grown by a set number of bytes, or on request. The copy of
 * the state begins between two entries; a separate thread writes it, and reads the file back as a
 * restart would. Only then is an older snapshot removed, and the log cut. The log is kept from the
 * second-newest snapshot on, so a restart survives a damaged newest one.
 *
 * <p>The monitor of this object is held while an entry is applied and while a copy begins. A thread
 * that waits for a copy to end must not hold it: a definition that is being applied may wait for
 * that copy too.
 */
public final class Snapshots {
  private static final Logger LOG = LoggerFactory.getLogger(Snapshots.class);

  /** What an entry costs at a restart besides its bytes. */
  private static final int ENTRY_BYTES = 256;

  /** The name of a log segment, which says with which entry the segment begins. */
  private static final Pattern SEGMENT = Pattern.compile("log_(?:inprogress_)?(\\d+)");

  /**
   * After this many copies that definitions have cancelled, the next copy makes definitions wait.
   */
  private static final int PATIENCE = 3;

  /**
   * The log may grow by one part in this many beyond its limit before transactions must make way.
   */
  private static final int OVERDUE = 4;

  /** How long a request for a snapshot waits for a moment without open transactions. */
  private static final long GAP_SECONDS = 60;

  private final String nodeId;
  private final long logBytes;
  private final LogConsumer consumer;
  private final Supplier<TermIndex> lastApplied;
  private final Runnable finished;
  private final DirectoryKeys keys;
  private final ExecutorService writer;
  private final RatisSnapshotStorage storage = new RatisSnapshotStorage();

  private volatile @Nullable SnapshotFiles files;
  private volatile long bytesSince;
  private boolean needsGap;
  private int cancelled;
  private boolean writing;
  private boolean closed;

  /** Requests for a snapshot that could not begin yet. */
  private final List<CompletableFuture<SnapshotFile>> asked = new ArrayList<>();

  private volatile long purgeable = -1;

  private volatile SnapshotWork work = new SnapshotWork(0, 0, 0, 0, 0, 0, 0);

  /**
   * @param logBytes by how much the log grows between two snapshots
   * @param lastApplied the last entry that the state covers; steady while the monitor is held
   * @param finished called by the writing thread when a snapshot is complete
   * @param keys with which snapshots are encrypted
   */
  public Snapshots(
      String nodeId,
      long logBytes,
      LogConsumer consumer,
      Supplier<TermIndex> lastApplied,
      Runnable finished,
      DirectoryKeys keys) {
    this.nodeId = nodeId;
    this.logBytes = logBytes;
    this.consumer = consumer;
    this.lastApplied = lastApplied;
    this.finished = finished;
    this.keys = keys;
    Supervision supervision = new Supervision(nodeId, consumer::failed);
    this.writer =
        Executors.newSingleThreadExecutor(
            supervision.deepThreads("tollgate-" + nodeId + "-snapshot"));
  }

  public RatisSnapshotStorage storage() {
    return storage;
  }

  /**
   * Restores the newest intact snapshot.
   *
   * @return the last entry that the state covers, or null if there is no snapshot
   */
  public @Nullable TermIndex open(RaftStorage raft) throws IOException {
    SnapshotFiles found =
        new SnapshotFiles(nodeId, raft.getStorageDir().getStateMachineDir().toPath(), keys);
    files = found;
    found.setAsideDamaged();
    Path log = raft.getStorageDir().getCurrentDir().toPath();
    requireLogAfter(found.all(), log);
    TermIndex last = restoreReadable(found);
    storage.init(raft);
    requireLogAfter(found.all(), log);
    return last;
  }

  /**
   * Restores the newest snapshot that can be restored, and sets newer ones aside: the log goes on
   * from each that is kept.
   */
  private @Nullable TermIndex restoreReadable(SnapshotFiles found) throws IOException {
    List<SnapshotFiles.Snapshot> all = found.all();
    List<Exception> failures = new ArrayList<>();
    for (SnapshotFiles.Snapshot snapshot : all) {
      try {
        restore(found, snapshot, "restored the snapshot");
      } catch (UnknownVersionException | KeyMissingException | NotEncryptedException e) {
        throw e;
      } catch (IOException | RuntimeException e) {
        LOG.error(
            "{}: the snapshot {} cannot be restored; the one before it and the log take its place",
            nodeId,
            snapshot.file(),
            LoggedError.of(e));
        failures.add(e);
        continue;
      }
      for (SnapshotFiles.Snapshot unreadable : all.subList(0, failures.size())) {
        found.setAside(unreadable);
      }
      return snapshot.last();
    }
    if (failures.isEmpty()) {
      return null;
    }
    throw new IOException(
        "node "
            + nodeId
            + " can restore none of its "
            + all.size()
            + " snapshots; the newest: "
            + failures.get(0).getMessage(),
        failures.get(0));
  }

  /**
   * Rejects a log with a gap: Ratis would wait forever for entries that this node has on no disk.
   */
  private void requireLogAfter(List<SnapshotFiles.Snapshot> snapshots, Path log)
      throws IOException {
    long needed = snapshots.isEmpty() ? 0 : snapshots.get(0).last().getIndex() + 1;
    OptionalLong first = segments(log).stream().mapToLong(Snapshots::firstIndex).min();
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
              + ". Seed it anew from the leader, with `tollgate reseed`");
    }
  }

  /** Returns the files of the log, in no order. */
  public static List<Path> segments(Path log) throws IOException {
    try (Stream<Path> files = Files.list(log)) {
      return files.filter(file -> SEGMENT.matcher(nameOf(file)).lookingAt()).toList();
    }
  }

  /** Returns the index of the first entry of a segment, by its name. */
  public static long firstIndex(Path segment) {
    Matcher name = SEGMENT.matcher(nameOf(segment));
    if (!name.lookingAt()) {
      throw new IllegalArgumentException(segment + " is no segment of a log");
    }
    return Long.parseLong(name.group(1));
  }

  private static String nameOf(Path file) {
    return file.getFileName().toString();
  }

  /** Restores a snapshot that has just come from the leader. */
  public @Nullable TermIndex reopen() throws IOException {
    SnapshotFiles found = opened();
    storage.loadLatestSnapshot();
    List<SnapshotFiles.Snapshot> all = found.all();
    if (all.isEmpty()) {
      return null;
    }
    restore(found, all.get(0), "took over the leader's snapshot");
    return all.get(0).last();
  }

  /**
   * Replaces the state with that of the newest snapshot, or with the one before the first entry.
   *
   * @return the last entry that the state covers, or null if there is no snapshot
   */
  public @Nullable TermIndex beginAnew() throws IOException {
    TermIndex last = restoreReadable(opened());
    if (last == null) {
      consumer.beginAnew();
    }
    return last;
  }

  /** Where a snapshot of the leader arrives; unfinished ones are replaced. */
  public Path arriving() {
    return opened().arriving();
  }

  /**
   * Keeps a snapshot of the leader that has arrived, as the newest of this node.
   *
   * @throws IOException if the file is damaged, or the disk may not have it: nothing has changed
   */
  public void keepArrived(TermIndex last) throws IOException {
    opened().adoptArrived(last);
  }

  private void restore(SnapshotFiles found, SnapshotFiles.Snapshot snapshot, String how)
      throws IOException {
    long start = System.nanoTime();
    try (InputStream in = found.open(snapshot)) {
      consumer.restore(new SnapshotReader(in));
    }
    LOG.info(
        "{}: {} at log index {} in {} ms",
        nodeId,
        how,
        snapshot.last().getIndex(),
        TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
    bytesSince = 0;
  }

  /** See {@link SnapshotStore#list}. */
  public List<SnapshotFile> list() throws IOException {
    SnapshotFiles found = files;
    if (found == null) {
      return List.of();
    }
    List<SnapshotFile> all = new ArrayList<>();
    for (SnapshotFiles.Snapshot snapshot : found.all()) {
      all.add(snapshot.describe());
    }
    return all;
  }

  /** See {@link SnapshotStore#open}. */
  public StoredFile open(SnapshotFile snapshot) throws IOException {
    return keys.openStored(
        snapshot.path(),
        SnapshotFiles.nameOf(TermIndex.valueOf(snapshot.term(), snapshot.index())));
  }

  /** See {@link SnapshotStore#take}. */
  public synchronized CompletableFuture<SnapshotFile> take() {
    CompletableFuture<SnapshotFile> result = new CompletableFuture<>();
    SnapshotFiles found = files;
    if (found == null) {
      result.completeExceptionally(
          new SnapshotUnavailableException(
              SnapshotUnavailableException.Reason.NOT_HERE,
              "node " + nodeId + " starts, and has not opened its snapshots yet: ask again"));
      return result;
    }
    try {
      List<SnapshotFiles.Snapshot> all = found.all();
      if (!all.isEmpty() && all.get(0).last().equals(lastApplied.get())) {
        result.complete(all.get(0).describe());
        return result;
      }
    } catch (IOException e) {
      result.completeExceptionally(new SnapshotUnavailableException(e));
      return result;
    }
    awaitGap(result);
    beginIfAsked();
    return result;
  }

  /** See {@link SnapshotStore#takeAfterEntry}. */
  public synchronized CompletableFuture<SnapshotFile> takeAfterEntry() {
    CompletableFuture<SnapshotFile> result = new CompletableFuture<>();
    awaitGap(result);
    return result;
  }

  private void awaitGap(CompletableFuture<SnapshotFile> result) {
    asked.add(result);
    CompletableFuture<@Nullable Void> timer =
        new CompletableFuture<@Nullable Void>()
            .completeOnTimeout(null, GAP_SECONDS, TimeUnit.SECONDS);
    var unused = timer.thenRun(() -> giveUp(result));
    // a timer that goes on would keep a node that was closed
    var unusedEnd = result.whenComplete((snapshot, failure) -> timer.cancel(false));
  }

  private synchronized void giveUp(CompletableFuture<SnapshotFile> result) {
    if (asked.removeIf(asker -> asker == result)) {
      result.completeExceptionally(
          new SnapshotUnavailableException(
              SnapshotUnavailableException.Reason.NO_GAP,
              "no snapshot could be begun within "
                  + GAP_SECONDS
                  + " s, because at any moment a transaction was open, or a snapshot was being"
                  + " written: view TOLLGATE.TRANSACTIONS names them. Try again"));
    }
  }

  /**
   * Records that an entry of this size was applied; called by the apply thread, which holds the
   * monitor.
   */
  public synchronized void applied(TermIndex entry, int sizeBytes) {
    bytesSince += sizeBytes + ENTRY_BYTES;
    if (bytesSince >= logBytes) {
      begin(entry);
    } else {
      beginIfAsked();
    }
  }

  private synchronized void beginIfAsked() {
    TermIndex last = lastApplied.get();
    if (!asked.isEmpty() && last.getIndex() >= 0) {
      begin(last);
    }
  }

  private synchronized void begin(TermIndex last) {
    if (writing || closed) {
      return;
    }
    long start = System.nanoTime();
    StateCopy copy = consumer.beginCopy(/* insistent= */ cancelled >= PATIENCE);
    needGap(copy == null && bytesSince - logBytes >= logBytes / OVERDUE);
    if (copy != null) {
      bytesSince = 0;
      writing = true;
      List<CompletableFuture<SnapshotFile>> askers = List.copyOf(asked);
      asked.clear();
      long heldNanos = System.nanoTime() - start;
      writer.execute(() -> write(last, copy, heldNanos, askers));
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

  private void write(
      TermIndex last,
      StateCopy copy,
      long heldNanos,
      List<CompletableFuture<SnapshotFile>> askers) {
    try {
      SnapshotFile file = writeFile(last, copy, heldNanos);
      ended(/* interrupted= */ false, List.of());
      askers.forEach(asker -> asker.complete(file));
      finished.run();
    } catch (InterruptedIOException e) {
      LOG.info("{}: the snapshot made way for a definition and will be tried again", nodeId);
      count(0, 1, 0, 0, work.lastWriteMillis(), work.lastHeldMicros());
      ended(/* interrupted= */ true, askers);
    } catch (SnapshotFiles.UnreadableException e) {
      LOG.error(
          "{}: {}. No entry of the log is removed, and the snapshots before stay, so nothing is"
              + " lost yet; but the log grows until a snapshot can be read. Remove the object that"
              + " the message names, or report it",
          nodeId,
          e.getMessage(),
          LoggedError.of(e));
      count(0, 0, 1, 1, work.lastWriteMillis(), work.lastHeldMicros());
      ended(/* interrupted= */ false, List.of());
      askers.forEach(asker -> asker.completeExceptionally(new SnapshotUnavailableException(e)));
    } catch (IOException | RuntimeException e) {
      LOG.error(
          "{}: no snapshot could be written; the log grows until one can. Is the disk full?",
          nodeId,
          LoggedError.of(e));
      count(0, 0, 1, 0, work.lastWriteMillis(), work.lastHeldMicros());
      ended(/* interrupted= */ false, List.of());
      askers.forEach(asker -> asker.completeExceptionally(new SnapshotUnavailableException(e)));
    } catch (Error e) {
      consumer.failed(e);
      throw e;
    }
  }

  private SnapshotFile writeFile(TermIndex last, StateCopy copy, long heldNanos)
      throws IOException {
    long start = System.nanoTime();
    try (copy) {
      opened().writeUnfinished(last, copy);
    }
    // definitions no longer wait for the copy
    SnapshotFiles.Snapshot snapshot = opened().adoptAfter(consumer::tryOut, last);
    MD5Hash digest = MD5FileUtil.readStoredMd5ForFile(snapshot.file().toFile());
    storage.updateLatestSnapshot(
        new SingleFileSnapshotInfo(
            new FileInfo(snapshot.file(), digest), last.getTerm(), last.getIndex()));
    purgeable = opened().dropOld();
    SnapshotFile file = snapshot.describe();
    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
    count(1, 0, 0, 0, millis, TimeUnit.NANOSECONDS.toMicros(heldNanos));
    LOG.info(
        "{}: snapshot at log index {}, {} KiB, written and read back in {} ms, which held up the"
            + " log for {} ms",
        nodeId,
        last.getIndex(),
        file.sizeBytes() >> 10,
        millis,
        TimeUnit.NANOSECONDS.toMillis(heldNanos));
    return file;
  }

  /** Records that a copy has ended and no longer holds anything up. */
  private synchronized void ended(
      boolean interrupted, List<CompletableFuture<SnapshotFile>> askAgain) {
    writing = false;
    cancelled = interrupted ? cancelled + 1 : 0;
    askAgain.forEach(this::awaitGap);
    beginIfAsked();
  }

  /** Called by the thread that writes snapshots alone. */
  private void count(
      int written,
      int interrupted,
      int failed,
      int unreadable,
      long lastWriteMillis,
      long lastHeldMicros) {
    SnapshotWork before = work;
    work =
        new SnapshotWork(
            0,
            before.written() + written,
            before.interrupted() + interrupted,
            before.failed() + failed,
            before.unreadable() + unreadable,
            lastWriteMillis,
            lastHeldMicros);
  }

  /** What this process has done for its snapshots. Does not wait for the entry being applied. */
  public SnapshotWork work() {
    SnapshotWork now = work;
    return new SnapshotWork(
        bytesSince,
        now.written(),
        now.interrupted(),
        now.failed(),
        now.unreadable(),
        now.lastWriteMillis(),
        now.lastHeldMicros());
  }

  /** Returns the log index up to which this node no longer needs the log, or -1. */
  public long purgeable() {
    return purgeable;
  }

  /**
   * Rejects waiting requests, and waits until no snapshot is being written: for a minute at most,
   * then it logs a warning.
   */
  public void close() {
    refuseAskers();
    writer.shutdown();
    try {
      if (!writer.awaitTermination(1, TimeUnit.MINUTES)) {
        LOG.warn("{}: a snapshot is still being written", nodeId);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized void refuseAskers() {
    closed = true;
    asked.forEach(
        asker ->
            asker.completeExceptionally(
                new SnapshotUnavailableException(
                    SnapshotUnavailableException.Reason.NOT_HERE, "the node stops")));
    asked.clear();
  }

  private SnapshotFiles opened() {
    SnapshotFiles found = files;
    if (found == null) {
      throw new IllegalStateException("the snapshots are not open");
    }
    return found;
  }
}
