package dev.tollgate.snapshot;

/** Thrown for a snapshot whose version is not known here. The snapshot may be sound. */
public final class UnknownVersionException extends CorruptSnapshotException {
  private static final long serialVersionUID = 1L;

  private UnknownVersionException(String what) {
    super(what + ": run the version of Tollgate that wrote it, or a later one");
  }

  static UnknownVersionException ofSnapshot(int version) {
    return new UnknownVersionException(
        "the snapshot is of version "
            + version
            + "; this program reads version "
            + SnapshotWriter.VERSION);
  }

  static UnknownVersionException ofSealed(int version, int known) {
    return new UnknownVersionException(
        "the encrypted backup is of version " + version + "; this program reads version " + known);
  }

  static UnknownVersionException ofOperation(UnknownOperationException cause) {
    return new UnknownVersionException(
        "the snapshot has " + cause.what() + ", which this program does not know");
  }

  /** Returns the exception for a record of a kind that is not known here. */
  public static UnknownVersionException ofRecord(int kind) {
    return new UnknownVersionException(
        "the snapshot has a record of kind " + kind + ", which this program does not know");
  }
}
