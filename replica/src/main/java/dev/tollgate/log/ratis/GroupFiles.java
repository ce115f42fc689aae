package dev.tollgate.log.ratis;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.raftlog.RaftLog;
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

  private final RaftStorage storage;
  private final Path group;
  private final Path log;
  private final OwnServer server;
  private final NodeEnd end;
  private final TracedLog traced;
  private final EntrySyncs syncs;
  private final SnapshotArrival arrival;

  private GroupFiles(RaftStorage storage, OwnServer server, NodeEnd end, TracedLog traced)
      throws IOException {
    this.storage = storage;
    this.server = requireNonNull(server, "server");
    this.end = requireNonNull(end, "end");
    this.traced = requireNonNull(traced, "traced");
    RaftStorageDirectory directory = storage.getStorageDir();
    this.group = directory.getRoot().toPath();
    this.log = directory.getCurrentDir().toPath();
    this.syncs = new EntrySyncs(log, SyncedIndex.open(group));
    this.arrival =
        new SnapshotArrival(
            directory.getStateMachineDir().toPath(), directory.getTmpDir().toPath());
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
    return done(
        () -> {
          RaftLog written = server.division().getRaftLog();
          syncs.beforeSync(written);
          traced.beforeSync(written, logIndex);
        });
  }

  /** Comes before Ratis cuts entries off. */
  CompletableFuture<Void> beforeCut(long first) {
    return done(
        () -> {
          syncs.beforeCut(first);
          traced.cut(server.division(), first);
        });
  }

  private static CompletableFuture<Void> done(DiskWatch.Work work) {
    try {
      work.run();
      return CompletableFuture.completedFuture(null);
    } catch (IOException e) {
      return CompletableFuture.failedFuture(e);
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

  /** Records what was synced last, once Ratis has closed its log, or has not opened it. */
  void close() {
    try {
      syncs.close();
    } catch (IOException e) {
      LOG.warn("{}: what was synced last is not recorded", group, e);
    }
  }
}
