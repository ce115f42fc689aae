package dev.tollgate.node.audit;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.SyncedFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The lines of the audit files that a receiver has not confirmed. The files are the queue: the
 * place up to which lines are confirmed is in a file beside them, so a restart goes on there. Lines
 * that were read and not confirmed are read again. Lines are lost for the receiver only if their
 * file is deleted before. Thread-safe; one thread reads.
 */
final class AuditBacklog implements AuditFile.Listener {
  private static final Logger LOG = LoggerFactory.getLogger(AuditBacklog.class);

  /** What the name of the file with the place has besides that of the audit file. */
  private static final String PLACE = ".syslog";

  private static final String NEW_PLACE = ".syslog.new";

  /** A file with a place is shorter, encrypted or not. */
  private static final int MOST_PLACE_BYTES = 1_000;

  private final String nodeId;
  private final AuditFile file;
  private final Path stored;
  private final Path storing;
  private final Runnable wake;

  /** Guarded by the file, as all that follows. */
  private @Nullable AuditPlace confirmed;

  private @Nullable AuditPlace read;
  private long dropped;
  private long droppedTold;
  private long droppedRead;
  private boolean gap;

  private AuditBacklog(String nodeId, AuditSettings settings, AuditFile file, Runnable wake) {
    this.nodeId = requireNonNull(nodeId, "nodeId");
    this.file = requireNonNull(file, "file");
    this.wake = requireNonNull(wake, "wake");
    Path audit = settings.file();
    stored = audit.resolveSibling(audit.getFileName() + PLACE);
    storing = audit.resolveSibling(audit.getFileName() + NEW_PLACE);
  }

  /**
   * Goes on where the lines were confirmed.
   *
   * @param file is open
   * @param wake is told of further lines; must not wait
   */
  static AuditBacklog open(String nodeId, AuditSettings settings, AuditFile file, Runnable wake)
      throws IOException {
    AuditBacklog backlog = new AuditBacklog(nodeId, settings, file, wake);
    AuditPlace place = backlog.storedPlace();
    synchronized (file) {
      backlog.confirmed = place;
      backlog.read = place;
      file.tell(backlog);
    }
    return backlog;
  }

  private @Nullable AuditPlace storedPlace() throws IOException {
    if (!Files.exists(stored)) {
      return null;
    }
    AuditPlace place =
        Files.size(stored) > MOST_PLACE_BYTES ? null : file.placeIn(Files.readAllBytes(stored));
    if (place == null) {
      LOG.error(
          "{}: {} is not what this node has written: the syslog server gets all audit lines that are"
              + " here, some of them again. Find out who can write to the file",
          nodeId,
          stored);
      return null;
    }
    if (!file.hasFileOf(place) || file.isThere(place)) {
      return place;
    }
    LOG.error(
        "{}: {} names byte {} of an audit file that has no end of that line there: the syslog server"
            + " gets the lines of that file again. After a power cut that is no fault; else find out"
            + " who can write to the two files",
        nodeId,
        stored,
        place.bytes());
    return file.beginningOf(place);
  }

  /**
   * Lines to send.
   *
   * @param lost how many lines before them are no longer there, as far as that is known
   * @param gap whether lines before them are no longer there
   */
  record Next(List<String> lines, boolean gap, long lost) {}

  /** Returns the next lines, which stay until they are confirmed. */
  Next next() throws IOException {
    synchronized (file) {
      AuditFile.Piece piece = file.read(read);
      read = piece.next();
      gap |= piece.gap() || dropped > droppedRead;
      if (piece.lines().isEmpty()) {
        return new Next(List.of(), /* gap= */ false, 0);
      }
      Next next = new Next(piece.lines(), gap, dropped - droppedRead);
      gap = false;
      droppedRead = dropped;
      return next;
    }
  }

  /** True if there are lines to send. */
  boolean hasNext() throws IOException {
    synchronized (file) {
      return file.hasAfter(read);
    }
  }

  /** The receiver has all lines that were read. */
  void confirm() throws IOException {
    AuditPlace place;
    synchronized (file) {
      place = read;
      confirmed = place;
      droppedTold = droppedRead;
    }
    if (place != null) {
      SyncedFiles.write(
          storing, out -> SyncedFiles.write(out, ByteBuffer.wrap(file.stored(place))));
      SyncedFiles.move(storing, stored);
    }
  }

  /** The receiver may lack what was read since the last confirmation. */
  void rewind() {
    synchronized (file) {
      gap = false;
      read = confirmed;
      droppedRead = droppedTold;
    }
  }

  @Override
  public void written() {
    wake.run();
  }

  @Override
  public void deletes() throws IOException {
    if (confirmed == null || !file.isBehindOldest(confirmed)) {
      dropped += file.linesLeftInOldest(confirmed);
    }
  }

  /** How many lines were deleted before the receiver had confirmed them. */
  long droppedLines() {
    synchronized (file) {
      return dropped;
    }
  }
}
