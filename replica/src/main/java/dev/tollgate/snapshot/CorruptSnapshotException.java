package dev.tollgate.snapshot;

import java.io.IOException;

/** Thrown when a snapshot cannot be read because it is cut off or damaged. */
public class CorruptSnapshotException extends IOException {
  private static final long serialVersionUID = 1L;

  public CorruptSnapshotException(String message) {
    super(message);
  }

  public CorruptSnapshotException(String message, Throwable cause) {
    super(message, cause);
  }
}
