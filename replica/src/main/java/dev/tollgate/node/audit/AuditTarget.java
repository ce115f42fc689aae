package dev.tollgate.node.audit;

import static java.util.Objects.requireNonNull;

import java.io.Closeable;
import java.io.IOException;

/** Where audit lines go. One thread uses it, and may wait in it for as long as it likes. */
interface AuditTarget extends Closeable {
  /**
   * Up to where the lines go that are there.
   *
   * @param directory the incarnation of the data directory that the log positions belong to
   */
  record Progress(String directory, AuditPosition position) {
    static final Progress NONE = new Progress("", AuditPosition.NONE);

    public Progress {
      requireNonNull(directory, "directory");
      requireNonNull(position, "position");
    }
  }

  /** Opens the target, and finds out what it has. */
  Progress open() throws IOException;

  /**
   * Appends lines as a whole, or nothing.
   *
   * @param header the first line of each new file
   * @return the hash of the last line
   */
  String append(String header, String lines) throws IOException;

  /** Has the disk keep what was appended. */
  void force() throws IOException;
}
