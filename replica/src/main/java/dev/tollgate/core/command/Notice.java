package dev.tollgate.core.command;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/**
 * An effect of a command besides its own outcome. The leader passes the notice on to all that it
 * concerns; a follower drops the notice.
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
   * @param kind {@link LeaseKind#KEEP} for a lease that nobody renews
   * @param renewedWith the session whose own lease this is, and whose renewal renews the lease too;
   *     null for a lease of create_lease
   */
  record LeaseStarted(
      LeaseId lease, long ttlMillis, LeaseKind kind, @Nullable SessionId renewedWith)
      implements Notice {
    public LeaseStarted {
      requireNonNull(kind, "kind");
      requireNonNull(lease, "lease");
    }
  }

  /** A lease has ended, and its locks are released. */
  record LeaseEnded(LeaseId lease) implements Notice {
    public LeaseEnded {
      requireNonNull(lease, "lease");
    }
  }

  /** A session exists and has to be heard from within its ttl. */
  record SessionStarted(SessionId session, long ttlMillis) implements Notice {
    public SessionStarted {
      requireNonNull(session, "session");
    }
  }

  /** A transaction is open, or was just used; its idle time starts over. */
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

  /** A session has ended, and its own lease with it. */
  record SessionEnded(SessionId session) implements Notice {
    public SessionEnded {
      requireNonNull(session, "session");
    }
  }

  /**
   * A lock was taken by force from all its holders.
   *
   * @param lease of the first holder
   * @param token under which that lease held the lock
   * @param holders the number of holders
   */
  record LockTaken(LockName lock, LeaseId lease, FencingToken token, int holders)
      implements Notice {
    public LockTaken {
      requireNonNull(lock, "lock");
      requireNonNull(lease, "lease");
      requireNonNull(token, "token");
    }
  }

  /**
   * A lease of create_lease lives on and does not hold a lock any more: the lock was released,
   * handed over, or taken by force, by any session.
   *
   * @param token under which the lease held the lock
   */
  record HoldEnded(LeaseId lease, FencingToken token) implements Notice {
    public HoldEnded {
      requireNonNull(lease, "lease");
      requireNonNull(token, "token");
    }
  }

  /** The time that transactions may be open has changed, for open transactions too. */
  record TransactionsLimited(TransactionLimits limits) implements Notice {
    public TransactionsLimited {
      requireNonNull(limits, "limits");
    }
  }

  /** The addresses at which clients reach the nodes have changed. */
  record ClusterChanged() implements Notice {}

  /** Users, or those who have a right on everything of a kind, may have changed. */
  record UsersChanged() implements Notice {}

  /** The cluster has another feature level. */
  record FeatureLevelRaised(int level) implements Notice {}

  /** A node has answered a comparison of the replicas. */
  record ReplicaReported(String nodeId, long checkIndex) implements Notice {
    public ReplicaReported {
      requireNonNull(nodeId, "nodeId");
    }
  }
}
