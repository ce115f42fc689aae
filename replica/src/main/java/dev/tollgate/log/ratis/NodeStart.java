package dev.tollgate.log.ratis;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.ApplyThread;
import dev.tollgate.log.StrangerException;
import dev.tollgate.log.entry.CorruptLogException;
import dev.tollgate.log.peer.NodeIdentity;
import dev.tollgate.log.peer.SealedEntries;
import dev.tollgate.log.snapshot.Snapshots;
import java.io.IOException;
import java.nio.file.Path;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.jspecify.annotations.Nullable;

/**
 * What a start does with the files of a node before Ratis reads its log: what was left undone is
 * undone, all that will be read is synced, the state is restored, and the log is checked. A node
 * that lacks what it once had does not start. DESIGN.md lists the files.
 */
final class NodeStart {
  /** Stands for the last entry of an empty log. */
  private static final long NO_ENTRY = RaftLog.INVALID_LOG_INDEX;

  private final Path data;
  private final NodeIdentity identity;
  private final GroupFiles files;
  private final SealedEntries sealed;

  /**
   * @param data the directory of the node
   */
  NodeStart(Path data, NodeIdentity identity, GroupFiles files, SealedEntries sealed) {
    this.data = requireNonNull(data, "data");
    this.identity = requireNonNull(identity, "identity");
    this.files = requireNonNull(files, "files");
    this.sealed = requireNonNull(sealed, "sealed");
  }

  /**
   * Restores the state of the newest snapshot, and checks the log that goes on after it.
   *
   * @return the last entry that the state covers, or null if there is no snapshot
   */
  @Nullable TermIndex run(Snapshots snapshots) throws IOException {
    files.arrival().putBack();
    StartSync.run(data, files.group(), files.log(), files.syncs().known());
    files.arrival().removeLeft();
    TermIndex covered = restored(snapshots);
    if (covered != null) {
      LogTail.removeCovered(files.log(), covered.getIndex());
    }
    TermIndex logged = checked(covered);
    for (TermIndex entry : new TermIndex[] {covered, logged}) {
      if (entry != null) {
        VoteFile.requireTerm(files.storage(), entry);
      }
    }
    long end = Math.max(indexOf(logged), indexOf(covered));
    requireAllThatItHad(end);
    files.syncs().begin(end);
    files.traced().restarted(files.storage().getMetadataFile().getMetadata(), end);
    new OpenedLog(files.log(), logged, covered).expectIn(files.division());
    return covered;
  }

  /**
   * Checks the log. A snapshot takes the place of a log that has another entry where the snapshot
   * ends (Raft, figure 13); a node may stop before it has removed that log.
   */
  private @Nullable TermIndex checked(@Nullable TermIndex covered) throws IOException {
    LogCheck.Result log = whole(covered);
    if (covered == null || !log.overruled()) {
      return log.last();
    }
    // what the node once had counts no more
    files.syncs().begin(covered.getIndex());
    LogTail.removeOverruled(files.log(), covered.getIndex());
    return null;
  }

  /** A log that was being cut is read once more; other starts read it once. */
  private LogCheck.Result whole(@Nullable TermIndex covered) throws IOException {
    try {
      return LogCheck.run(files.log(), covered, sealed);
    } catch (CorruptLogException damaged) {
      if (!InterruptedCut.finish(files.log(), files.syncs().known())) {
        throw damaged;
      }
      return LogCheck.run(files.log(), covered, sealed);
    }
  }

  /** Restores on an apply thread, because the calling thread has a stack of its own size. */
  private @Nullable TermIndex restored(Snapshots snapshots) throws IOException {
    try (ApplyThread thread = new ApplyThread(identity.nodeId())) {
      return thread.<@Nullable TermIndex>call(() -> snapshots.open(files.storage()));
    } catch (IOException | RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException("restoring does not declare it", e);
    }
  }

  /**
   * Rejects a log without entries that this node has had: with its vote, the node might elect a
   * leader that lacks them too.
   */
  private void requireAllThatItHad(long end) throws StrangerException {
    long known = identity.hadIndex();
    long had = Math.max(files.syncs().known().orElse(NO_ENTRY), known > 0 ? known : NO_ENTRY);
    if (end < had) {
      throw StrangerException.withoutEntries(identity.nodeId(), files.group(), end, had);
    }
  }

  private static long indexOf(@Nullable TermIndex entry) {
    return entry == null ? NO_ENTRY : entry.getIndex();
  }
}
