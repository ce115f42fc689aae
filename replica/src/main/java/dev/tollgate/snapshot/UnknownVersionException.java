package dev.tollgate.snapshot;

/** A snapshot of a version that is not known here; there may be nothing wrong with it. */
public final class UnknownVersionException extends CorruptSnapshotException {
  private static final long serialVersionUID = 1L;

  UnknownVersionException(int version) {
    super(
        "the snapshot is of version "
            + version
            + "; this program reads version "
            + SnapshotWriter.VERSION
            + ": run the version of Tollgate that wrote it, or a later one");
  }
}
