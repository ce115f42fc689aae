package dev.tollgate.store.h2;

/** The database of this replica can no longer be trusted: the replica has to stop. */
public final class ReplicaFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public ReplicaFailure(String message) {
    super(message);
  }

  public ReplicaFailure(String message, Throwable cause) {
    super(message, cause);
  }
}
