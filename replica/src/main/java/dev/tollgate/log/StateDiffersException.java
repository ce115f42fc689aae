package dev.tollgate.log;

/**
 * The state of this replica is not that of the leader, which has answered clients. The entry that
 * showed it was not applied. The replica may go on from a snapshot of the leader.
 */
public final class StateDiffersException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public StateDiffersException(String message) {
    super(message);
  }
}
