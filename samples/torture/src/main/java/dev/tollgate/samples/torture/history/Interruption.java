package dev.tollgate.samples.torture.history;

/**
 * A time in which a client could not renew its lease, through no fault of the cluster.
 *
 * @param cause for a reader of the report
 */
public record Interruption(String client, Cause cause, long fromNanos, long untilNanos) {

  /** Why the client could not renew its lease. */
  public enum Cause {
    /** SIGSTOP, by the workload. */
    STOPPED,
    /**
     * The machine did not run the client for longer than a moment; the client found that out
     * itself.
     */
    STALLED,
    /** A partition left the client no way to a majority of the nodes. */
    CUT_OFF
  }
}
