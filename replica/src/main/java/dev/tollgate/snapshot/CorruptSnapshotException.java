package dev.tollgate.snapshot;

import java.io.IOException;

/** A snapshot that cannot be read: cut off, damaged, or of another version. */
public final class CorruptSnapshotException extends IOException {
  private static final long serialVersionUID = 1L;

  public CorruptSnapshotException(String message) {
    super(message);
  }

  public CorruptSnapshotException(String message, Throwable cause) {
    super(message, cause);
  }
}
