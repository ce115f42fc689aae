package dev.tollgate.log;

import java.io.IOException;
import java.nio.file.Path;

/** The log, or what Raft keeps beside it, cannot be written: the disk is full or has failed. */
public final class LogFailedException extends IOException {
  private static final long serialVersionUID = 1L;

  /**
   * @param what names what cannot be written
   */
  public LogFailedException(String what, Path directory, Throwable cause) {
    super(
        what
            + " in "
            + directory
            + " cannot be written: "
            + root(cause)
            + ". Make room there, or copy the directory to another disk, and start the node again: it"
            + " writes the end of its log to the disk anew, and catches up by itself",
        cause);
  }

  /** Returns what the operating system said; later failures name the first one as their cause. */
  private static String root(Throwable failure) {
    Throwable root = failure;
    while (root.getCause() != null && root.getCause() != root) {
      root = root.getCause();
    }
    return String.valueOf(root.getMessage());
  }
}
