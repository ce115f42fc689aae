package dev.tollgate.log.ratis;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.DamagedFileException;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.log.snapshot.Snapshots;
import dev.tollgate.seal.KeyMissingException;
import dev.tollgate.seal.NotEncryptedException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.raftlog.segmented.LogSegment;
import org.apache.ratis.server.raftlog.segmented.LogSegmentPath;
import org.apache.ratis.util.SizeInBytes;
import org.jspecify.annotations.Nullable;

/** Why a node does not start: Ratis says that something is wrong, and seldom what and where. */
final class StartFailure {
  private static final int PROBE_BYTES = 4096;

  private StartFailure() {}

  /** Looks for the cause of a failure in the files of the node. */
  static IOException explain(RaftSettings settings, Exception failure) throws IOException {
    return new IOException(
        "node " + settings.nodeId() + " does not start" + reason(settings.directory(), failure),
        failure);
  }

  private static String reason(Path directory, Exception failure) throws IOException {
    if (isLocked(failure)) {
      return ", because another process uses "
          + directory
          + ". Stop that process, or give this node a directory of its own";
    }
    IOException unwritable = unwritable(directory);
    if (unwritable != null) {
      return ", because nothing can be written in "
          + directory
          + " ("
          + unwritable.getMessage()
          + "). Make room there or mend what it says, and start the node again";
    }
    Path log = RatisLog.groupDirectory(directory).resolve("current");
    String unreadable = unreadable(directory);
    if (unreadable != null) {
      return ", because it cannot read "
          + unreadable
          + ". Nothing says that the data is damaged: let this process read its files";
    }
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof StartSync.FailedException unsynced) {
        return ", because its disk does not take what the node has read there ("
            + describe(requireNonNull(unsynced.getCause()))
            + "). The node goes on from nothing that is not on the disk. Make room there or mend"
            + " the disk, and start the node again. If the disk stays broken, "
            + VoteFile.WITHOUT_A_VOTE;
      }
      if (cause instanceof KeyMissingException || cause instanceof NotEncryptedException) {
        return ", because " + cause.getMessage() + ". Nothing was changed";
      }
      if (cause instanceof VoteFile.LostException lost) {
        return ", because " + lost.getMessage() + ". Check the disk; " + VoteFile.WITHOUT_A_VOTE;
      }
    }
    for (Path segment : Files.isDirectory(log) ? Snapshots.segments(log) : List.<Path>of()) {
      Exception damage = damage(segment);
      if (damage != null) {
        return ", because "
            + LogTail.damaged(segment, String.valueOf(damage.getMessage())).getMessage();
      }
    }
    return ": " + describe(root(failure));
  }

  /** Returns the cause of all others, which knows what is wrong, or says what to do about it. */
  private static Throwable root(Throwable failure) {
    Throwable cause = failure.getCause();
    // what to do about a damaged file is known to those that need it
    return cause == null || cause instanceof DamagedFileException ? failure : root(cause);
  }

  /** Puts a cause in words: some exceptions have a file as message, others have none. */
  private static String describe(Throwable cause) {
    String message = cause.getMessage();
    return message == null || cause instanceof FileSystemException ? cause.toString() : message;
  }

  private static boolean isLocked(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof OverlappingFileLockException) {
        return true;
      }
    }
    return false;
  }

  /** Returns the first file of the node that cannot be read, and why; null if there is none. */
  private static @Nullable String unreadable(Path directory) throws IOException {
    try (Stream<Path> all = Files.walk(directory)) {
      for (Path file : (Iterable<Path>) all.filter(Files::isRegularFile)::iterator) {
        String why = whyUnreadable(file);
        if (why != null) {
          return file + " (" + why + ")";
        }
      }
      return null;
    } catch (UncheckedIOException e) {
      return describe(requireNonNull(e.getCause()));
    }
  }

  private static @Nullable String whyUnreadable(Path file) {
    try (InputStream in = Files.newInputStream(file)) {
      in.read();
      return null;
    } catch (IOException e) {
      return e instanceof AccessDeniedException ? "permission denied" : describe(e);
    }
  }

  private static @Nullable IOException unwritable(Path directory) {
    try {
      Path probe = Files.createTempFile(directory, "probe", null);
      try {
        Files.write(probe, new byte[PROBE_BYTES]);
      } finally {
        Files.delete(probe);
      }
      return null;
    } catch (IOException e) {
      return e;
    }
  }

  private static @Nullable Exception damage(Path segment) {
    try {
      LogSegment.readSegmentFile(
          segment.toFile(),
          requireNonNull(LogSegmentPath.matchLogSegment(segment)).getStartEnd(),
          SizeInBytes.valueOf(RatisProperties.MAX_ENTRY_BYTES),
          RaftServerConfigKeys.Log.CorruptionPolicy.EXCEPTION,
          null,
          null);
      return null;
    } catch (IOException | RuntimeException e) {
      return e;
    }
  }
}
