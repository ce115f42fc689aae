package dev.tollgate.log.ratis;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.Supervision;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.server.storage.RaftStorageDirectory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files of the group while the node runs: what has to be on the disk before Ratis goes on. A
 * failure ends the node before Ratis hears of the failure. Thread-safe.
 */
final class GroupFiles {
  private static final Logger LOG = LoggerFactory.getLogger(GroupFiles.class);

  /** The record of syncs is itself synced as often, or as often as the disk is able to. */
  private static final long KEEP_SECONDS = 1;

  private final RaftStorage storage;
  private final Path group;
  private final Path log;
  private final OwnServer server;
  private final NodeEnd end;
  private final TracedLog traced;
  private final EntrySyncs syncs;
  private final SnapshotArrival arrival;
  private final ScheduledExecutorService keeper;

  private GroupFiles(RaftStorage storage, OwnServer server, NodeEnd end, TracedLog traced)
      throws IOException {
    this.storage = storage;
    this.server = requireNonNull(server, "server");
    this.end = requireNonNull(end, "end");
    this.traced = requireNonNull(traced, "traced");
    RaftStorageDirectory directory = storage.getStorageDir();
    this.group = directory.getRoot().toPath();
    this.log = directory.getCurrentDir().toPath();
    this.syncs = new EntrySyncs(log, SyncedIndex.open(group), traced.trace());
    this.arrival =
        new SnapshotArrival(
            directory.getStateMachineDir().toPath(), directory.getTmpDir().toPath());
    Supervision supervision = end.supervision();
    this.keeper =
        Executors.newSingleThreadScheduledExecutor(
            supervision.threads("tollgate-" + end.nodeId() + "-synced"));
    var unused =
        keeper.scheduleWithFixedDelay(
            supervision.essential("the record of what is synced", this::keepSyncs),
            KEEP_SECONDS,
            KEEP_SECONDS,
            TimeUnit.SECONDS);
  }

  /**
   * @param storage the directory of the group, which this process has locked
   * @throws VoteFile.LostException if the file with the vote is damaged
   */
  static GroupFiles open(
      RaftStorage storage,
      DiskWatch disk,
      ElectionTimeouts timeouts,
      OwnServer server,
      NodeEnd end,
      TracedLog traced)
      throws IOException {
    VoteFile.install(
        storage,
        disk::run,
        timeouts::voted,
        failure -> end.cannotWrite("its term and vote", failure),
        traced.trace());
    return new GroupFiles(storage, server, end, traced);
  }

  RaftStorage storage() {
    return storage;
  }

  /** The part of the server that uses these files. */
  RaftServer.Division division() throws IOException {
    return server.division();
  }

  /** The directory of the group. */
  Path group() {
    return group;
  }

  /** Where the segments of the log are. */
  Path log() {
    return log;
  }

  /** For a start, before Ratis has opened the log. */
  EntrySyncs syncs() {
    return syncs;
  }

  /** For a start, before Ratis has opened the log. */
  SnapshotArrival arrival() {
    return arrival;
  }

  TracedLog traced() {
    return traced;
  }

  /** Comes before Ratis syncs entries, which acknowledges none of them if this fails. */
  CompletableFuture<Void> beforeSync(long logIndex) {
    try {
      syncs.beforeSync(server.division().getRaftLog(), logIndex);
      return CompletableFuture.completedFuture(null);
    } catch (IOException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Comes before Ratis cuts entries off; Ratis asks for the result once it has cut them off. */
  CompletableFuture<Void> beforeCut(long first) {
    try {
      syncs.beforeCut(first);
      traced.cut(server.division(), first);
      return new Cut();
    } catch (IOException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /**
   * Learns that a cut was made. Ratis 3.3.0 (SegmentedRaftLogWorker.TruncateLog) asks for the
   * result on the thread that writes the log, after the cut and before the next write.
   */
  private final class Cut extends CompletableFuture<Void> {
    private final AtomicBoolean made = new AtomicBoolean();

    @Override
    public Void get() throws InterruptedException, ExecutionException {
      if (made.compareAndSet(false, true)) {
        syncs.cut();
        complete(null);
      }
      return super.get();
    }
  }

  /** Syncs what has arrived of a snapshot: once it is whole, Ratis has its monitor meanwhile. */
  void syncArriving() {
    take(arrival::syncArriving);
  }

  /** Comes just before Ratis moves a snapshot of the leader in its place. */
  void arrived() {
    take(arrival::arrived);
  }

  /** Comes before anything follows from a snapshot that Ratis has moved in its place. */
  void settleArrival() {
    take(arrival::settle);
  }

  private void take(DiskWatch.Work part) {
    try {
      part.run();
    } catch (IOException e) {
      end.cannotWrite("the snapshot of the leader", e);
      throw new UncheckedIOException(e);
    }
  }

  /** Records who the members are. Ratis would write those of a snapshot after the snapshot. */
  void keepMembers(LogEntryProto entry) {
    try {
      MembersFile.write(group, entry);
    } catch (IOException e) {
      end.cannotWrite("the list of members", e);
    }
  }

  private void keepSyncs() {
    try {
      syncs.keep();
    } catch (IOException e) {
      end.cannotWrite("what it has synced", e);
    }
  }

  /** Keeps what was synced last, once Ratis has closed its log, or has not opened it. */
  void close() {
    // no interrupt: it would close the file
    keeper.shutdown();
    try {
      syncs.close();
    } catch (IOException e) {
      LOG.warn("{}: what was synced last is not recorded", group, e);
    }
  }
}
