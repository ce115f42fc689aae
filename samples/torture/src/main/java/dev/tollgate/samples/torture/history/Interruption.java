package dev.tollgate.samples.torture.history;

/**
 * A time in which a client could not renew its lease, through no fault of the cluster.
 *
 * @param cause for a reader of the report
 */
public record Interruption(String client, Cause cause, long fromNanos, long untilNanos) {

  /** Why it could not. */
  public enum Cause {
    /** SIGSTOP, by the workload. */
    STOPPED,
    /** The machine did not let it run for longer than a moment: it found that out by itself. */
    STALLED,
    /** A partition left it with no way to a majority of the nodes. */
    CUT_OFF
  }
}
