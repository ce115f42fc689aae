package dev.tollgate.samples.benchmark.system;

import java.util.List;

/** The servers of one system, as processes of this machine. */
public interface Ensemble {
  /** The systems of these servers: more than one if several systems use them. */
  List<Kind> kinds();

  /** The addresses that {@link Kind#open} takes. */
  String endpoints();

  /** Whether clients in other processes reach these servers. */
  default boolean isReachable() {
    return true;
  }

  /** A number that rises when another leader is elected, where the system reports one. */
  default long term() throws Exception {
    return 0;
  }

  /** Whether there is a leader that can be killed, and enough other servers to go on without it. */
  default boolean survivesItsLeader() {
    return false;
  }

  /** Kills the leader with SIGKILL and returns when its process is gone. */
  default void killLeader() throws Exception {
    throw new UnsupportedOperationException(Ability.FAIL_OVER.lacking());
  }

  /** Stops the leader with SIGSTOP: its connections stay open, and nothing is answered on them. */
  default void silenceLeader() throws Exception {
    throw new UnsupportedOperationException(Ability.FAIL_OVER.lacking());
  }

  /**
   * Restarts the killed server on its old data, or lets the stopped one go on, and returns when it
   * takes part again.
   */
  default void revive() throws Exception {
    throw new UnsupportedOperationException(Ability.FAIL_OVER.lacking());
  }

  /** Starts as many servers again, with data of their own, beside these; one at a time. */
  default Ensemble another() throws Exception {
    throw new UnsupportedOperationException("servers of another kind");
  }

  /** As {@link #another}, with TLS between the servers and with clients. */
  default Ensemble encrypted() throws Exception {
    throw new UnsupportedOperationException("servers of another kind");
  }

  void stop() throws Exception;
}
