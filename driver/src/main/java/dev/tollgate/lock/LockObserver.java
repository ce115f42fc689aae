package dev.tollgate.lock;

import java.time.Duration;

/**
 * Is told how the requests and leases of a {@link LockClient} end, for metrics. An exception of an
 * observer is logged and changes nothing else.
 */
public interface LockObserver {
  /** How a request for locks ended. */
  enum Outcome {
    /** The caller has the locks. */
    GRANTED,
    /** Other leases had the locks for all of the wait. */
    REFUSED,
    /** The thread was interrupted while it waited. */
    INTERRUPTED,
    /**
     * The cluster refused the request or did not answer, the lease was lost, or a limit is reached.
     */
    FAILED
  }

  /**
   * A request of a caller has ended. Runs on the thread that has waited, before the request
   * returns. Requests of candidates for leadership are not observed.
   *
   * @param took from the call on, with the wait in line
   */
  void requestEnded(Outcome outcome, Duration took);

  /** A lease was lost before it was closed. Runs on a thread of the client's listeners. */
  void leaseLost(Lease lease);
}
