package dev.tollgate.log.ratis;

import dev.tollgate.log.SkipList;
import dev.tollgate.log.SyncedFiles;
import dev.tollgate.log.peer.NodeIdentity;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;

/**
 * The rule that what a node reads when it starts is synced before it counts (ADR 0106). A process
 * that was killed, or whose disk failed, leaves bytes and names that no sync covers. The next
 * process reads them all the same, and Ratis 3.3.0 (SegmentedRaftLogWorker) takes each entry that
 * it has read for synced: it acknowledges the entry, and never syncs it.
 *
 * <p>The file that was being appended to is written again, because a sync alone proves nothing: a
 * page whose sync has failed once counts as clean, and the next sync reports success. All other
 * files had their content synced before they got their names, except segments that were cut: their
 * end is in their names ({@link LogCheck}).
 */
final class StartSync {
  /** Reports that the disk may not have what was read, so the node may not go on from there. */
  static final class FailedException extends IOException {
    private static final long serialVersionUID = 1L;

    FailedException(IOException cause) {
      super(String.valueOf(cause.getMessage()), cause);
    }
  }

  private StartSync() {}

  /**
   * Writes the end of the log again, and syncs all files and names that a start reads.
   *
   * @param data the directory of the node
   * @param group the directory of the group within it
   * @param log where the group has its log
   * @param synced the last entry that is known to have been synced; empty if that is not known
   * @throws FailedException if that is not known to be on the disk; what was there is still there
   */
  static void run(Path data, Path group, Path log, OptionalLong synced) throws FailedException {
    try {
      LogTail.writeAgain(log, synced);
      // this process would lose its lock if it closed the file once more
      SyncedFiles.syncAll(group, file -> !file.endsWith(NodeDirectory.LOCK_FILE));
      for (String file : List.of(NodeIdentity.FILE, SkipList.FILE)) {
        if (Files.exists(data.resolve(file))) {
          SyncedFiles.sync(data.resolve(file));
        }
      }
      SyncedFiles.sync(data);
      Path parent = data.toAbsolutePath().getParent();
      if (parent != null && Files.isReadable(parent)) {
        SyncedFiles.sync(parent);
      }
    } catch (IOException e) {
      throw new FailedException(e);
    }
  }
}
