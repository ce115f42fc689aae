package dev.tollgate.log.ratis;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.entry.CorruptLogException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Objects;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.jspecify.annotations.Nullable;

/**
 * The rule that Ratis goes on with the log that was checked. {@link LogCheck} reads the log before
 * Ratis does, and Ratis 3.3.0 (SegmentedRaftLogReader, LogSegment) may take a file for a shorter
 * one, or for an empty one that it deletes. So the ends are compared as soon as Ratis has opened
 * its log: the node has not begun to listen then, nor to wait for an election.
 *
 * <p>Ratis offers no moment between the two, so this class reaches into it.
 */
final class OpenedLog {
  private final Path directory;
  private final @Nullable TermIndex logged;
  private final @Nullable TermIndex covered;

  /**
   * @param directory where the segments are
   * @param logged the last entry of the log, or null if there is none
   * @param covered the last entry that the newest snapshot covers, or null if there is none
   */
  OpenedLog(Path directory, @Nullable TermIndex logged, @Nullable TermIndex covered) {
    this.directory = requireNonNull(directory, "directory");
    this.logged = logged;
    this.covered = covered;
  }

  /**
   * Has a server that has not opened its log yet fail to start if the log is another one.
   *
   * @throws IllegalStateException if this Ratis is not the version that this class was written for
   */
  void expectIn(RaftServer.Division division) {
    try {
      Object state = RatisInternals.field(division.getClass(), "state").get(division);
      RatisInternals.whenMade(state, "log", log -> checked((RaftLog) log));
    } catch (ReflectiveOperationException | ClassCastException e) {
      throw foreign(e);
    }
  }

  private RaftLog checked(RaftLog log) {
    try {
      require(log.getLastEntryTermIndex(), log.getSnapshotIndex());
      return log;
    } catch (CorruptLogException e) {
      close(log);
      throw e;
    }
  }

  /**
   * @param last the last entry that Ratis has read, or null if it has read none
   * @param snapshot the last entry of the snapshot that Ratis goes on from
   * @throws CorruptLogException if they are not those that were checked
   */
  void require(@Nullable TermIndex last, long snapshot) {
    long expected = covered == null ? RaftLog.INVALID_LOG_INDEX : covered.getIndex();
    // Ratis does without a log that the snapshot covers with an entry to spare
    TermIndex end = logged != null && logged.getIndex() >= expected ? logged : null;
    if (!Objects.equals(last, end) || snapshot != expected) {
      throw LogTail.damaged(
          directory,
          "it ends with "
              + named(end)
              + " after a snapshot of entry "
              + expected
              + ", and was opened with "
              + named(last)
              + " after a snapshot of entry "
              + snapshot);
    }
  }

  private static String named(@Nullable TermIndex entry) {
    return entry == null ? "no entry" : "entry " + entry.getIndex() + " of term " + entry.getTerm();
  }

  /** Ratis does not know of the log yet, and would not close it. */
  private static void close(RaftLog log) {
    try {
      CacheEviction.of(log).end();
      log.close();
    } catch (ReflectiveOperationException e) {
      throw foreign(e);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static IllegalStateException foreign(Exception cause) {
    return new IllegalStateException(
        "this Ratis opens its log otherwise than the one that Tollgate was written for", cause);
  }
}
