package dev.tollgate.store.h2;

/** The database of this replica is not to be trusted any more: the replica has to stop. */
public final class ReplicaFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public ReplicaFailure(String message) {
    super(message);
  }

  public ReplicaFailure(String message, Throwable cause) {
    super(message, cause);
  }
}
