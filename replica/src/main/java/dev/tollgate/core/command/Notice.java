package dev.tollgate.core.command;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/**
 * What a command brought about besides its own outcome. The leader passes it on to whom it
 * concerns; a follower drops it.
 */
public sealed interface Notice {
  /** A command that was {@link Outcome.Waiting} has its final outcome. */
  record Completed(SessionId session, long sequence, Outcome outcome) implements Notice {
    public Completed {
      requireNonNull(session, "session");
      requireNonNull(outcome, "outcome");
    }
  }

  /** A command began to wait; the leader ends the wait after this time. */
  record WaitStarted(SessionId session, long sequence, long waitMillis) implements Notice {
    public WaitStarted {
      requireNonNull(session, "session");
    }
  }

  /**
   * A lease exists and has to be renewed within its ttl.
   *
   * @param renewedWith the session whose own lease it is, so that it is renewed with the session;
   *     null for a lease of create_lease
   */
  record LeaseStarted(LeaseId lease, long ttlMillis, @Nullable SessionId renewedWith)
      implements Notice {
    public LeaseStarted {
      requireNonNull(lease, "lease");
    }
  }

  /** A lease is gone, and with it its locks. */
  record LeaseEnded(LeaseId lease) implements Notice {
    public LeaseEnded {
      requireNonNull(lease, "lease");
    }
  }

  /** A session exists and has to be heard of within its ttl. */
  record SessionStarted(SessionId session, long ttlMillis) implements Notice {
    public SessionStarted {
      requireNonNull(session, "session");
    }
  }

  /** A transaction is open, or was just used; it may not stay idle. */
  record TransactionUsed(SessionId session, long transaction) implements Notice {
    public TransactionUsed {
      requireNonNull(session, "session");
    }
  }

  /** A transaction has ended. */
  record TransactionEnded(SessionId session, long transaction) implements Notice {
    public TransactionEnded {
      requireNonNull(session, "session");
    }
  }

  /** A session is gone, and with it its own lease. */
  record SessionEnded(SessionId session) implements Notice {
    public SessionEnded {
      requireNonNull(session, "session");
    }
  }

  /**
   * A lock was taken from all who held it, by force.
   *
   * @param lease of the first holder
   * @param token under which that lease held it
   * @param holders how many there were
   */
  record LockTaken(LockName lock, LeaseId lease, FencingToken token, int holders)
      implements Notice {
    public LockTaken {
      requireNonNull(lock, "lock");
      requireNonNull(lease, "lease");
      requireNonNull(token, "token");
    }
  }

  /** Transactions may be open for so long from now on, also those that are open. */
  record TransactionsLimited(TransactionLimits limits) implements Notice {
    public TransactionsLimited {
      requireNonNull(limits, "limits");
    }
  }

  /** Clients reach other nodes than before. */
  record ClusterChanged() implements Notice {}

  /** A node has answered a comparison of the replicas. */
  record ReplicaReported(String nodeId, long checkIndex) implements Notice {
    public ReplicaReported {
      requireNonNull(nodeId, "nodeId");
    }
  }
}
