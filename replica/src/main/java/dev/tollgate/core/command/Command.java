package dev.tollgate.core.command;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.Lease;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One change of the replicated state, as it stands in the log.
 *
 * <p>Every constructor rejects what no leader may propose. What a client may get wrong is checked
 * before it becomes a command, or answered with {@link Outcome.Refused}.
 */
public sealed interface Command {
  /** Calls the method of {@code handler} that fits this command. */
  <R> R handledBy(Handler<R> handler);

  /**
   * What a node says of itself. A node that does not lead hands such a command to the leader, and
   * no other: the leader takes no other command from a node.
   */
  sealed interface OfNode extends Command permits AnnounceNode, ReportChecksum, ReportFailure {
    /** The node that says it. */
    String nodeId();
  }

  /** One method per command, so that a new command does not compile until it is handled. */
  interface Handler<R> {
    R open(OpenSession command);

    R close(CloseSession command);

    R perform(Perform command);

    R endWait(EndWait command);

    R expire(Expire command);

    R announce(AnnounceNode command);

    R forget(ForgetNode command);

    R releaseOwnLease(ReleaseOwnLease command);

    R abort(AbortTransaction command);

    R verify(VerifyReplicas command);

    R report(ReportChecksum command);

    R seed(SeedRandom command);

    R adopt(AdoptEnvironment command);

    R pause(PauseStatements command);

    R limit(LimitTransactions command);

    R name(NameCluster command);

    R recordSilence(RecordSilence command);

    R recordRenewal(RecordRenewal command);

    R createFirstUser(CreateFirstUser command);

    R raise(RaiseFeatureLevel command);

    R reportFailure(ReportFailure command);

    R skip(SkipCommand command);

    R resetLogTime(ResetLogTime command);
  }

  /**
   * Starts a session. Not executed at most once: if its reply is lost, the session stays unused and
   * expires.
   *
   * @param secret number that the node chooses and that a client must know to use the session
   *     again; {@link #NO_SECRET} for a session of a restored backup, which no client can use
   * @param ttlMillis how long the session outlives its last heartbeat
   * @param leaseTtlMillis ttl of the session's own lease, which begins with the first lock it takes
   * @param user for whom the client has authenticated itself
   * @param timeZone in which the session's statements run until it is given another
   */
  record OpenSession(
      ClientInfo client,
      long secret,
      long ttlMillis,
      long leaseTtlMillis,
      UserName user,
      long userNumber,
      TimeZoneName timeZone)
      implements Command {
    /** The secret that nobody knows. */
    public static final long NO_SECRET = 0;

    /** The number of whichever user has the name when the command is applied. */
    public static final long ANY_NUMBER = 0;

    /** A session of whichever user has this name, in UTC. */
    public OpenSession(
        ClientInfo client, long secret, long ttlMillis, long leaseTtlMillis, UserName user) {
      this(client, secret, ttlMillis, leaseTtlMillis, user, ANY_NUMBER, TimeZoneName.UTC);
    }

    /** A session of a cluster without users, in UTC. */
    public OpenSession(ClientInfo client, long secret, long ttlMillis, long leaseTtlMillis) {
      this(client, secret, ttlMillis, leaseTtlMillis, UserName.ANONYMOUS);
    }

    public OpenSession {
      requireNonNull(client, "client");
      requireNonNull(user, "user");
      requireNonNull(timeZone, "timeZone");
      requireWithin(
          "session ttl", ttlMillis, Limits.SESSION_TTL_MIN_MILLIS, Limits.SESSION_TTL_MAX_MILLIS);
      requireWithin(
          "lease ttl", leaseTtlMillis, Limits.LEASE_TTL_MIN_MILLIS, Limits.LEASE_TTL_MAX_MILLIS);
    }

    /** True if the login of the session still counts for this user, which has its name. */
    public boolean isOf(UserAccount account) {
      return userNumber == ANY_NUMBER || userNumber == account.number();
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.open(this);
    }
  }

  /**
   * Ends a session and its own lease. Leases that the session created with create_lease stay alive.
   */
  record CloseSession(SessionId session) implements Command {
    public CloseSession {
      requireNonNull(session, "session");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.close(this);
    }
  }

  /**
   * An operation of a session, executed at most once. The session remembers the outcome of its last
   * sequence number, and a command that is resent with that number gets that outcome again.
   *
   * @param sequence number of the operation within the session, from 1, rising; gaps are allowed
   * @param content a checksum of what the client sent. It tells a resent request from another
   *     request under the same number. It is not a checksum of the operation, because the next
   *     leader may make another operation of the same request. {@link #UNKNOWN_CONTENT} in old
   *     entries
   */
  record Perform(SessionId session, long sequence, Operation operation, long content)
      implements Command {
    /** Matches every content. */
    public static final long UNKNOWN_CONTENT = 0;

    /** An operation whose request is not compared with others. */
    public Perform(SessionId session, long sequence, Operation operation) {
      this(session, sequence, operation, UNKNOWN_CONTENT);
    }

    public Perform {
      requireNonNull(session, "session");
      requireNonNull(operation, "operation");
      if (sequence <= 0) {
        throw new IllegalArgumentException("sequence: " + sequence);
      }
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.perform(this);
    }
  }

  /**
   * Ends the wait of an acquire for a lock, or of a statement for transactions. Does nothing if the
   * request no longer waits.
   */
  record EndWait(SessionId session, long sequence, WaitEnd reason) implements Command {
    public EndWait {
      requireNonNull(session, "session");
      requireNonNull(reason, "reason");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.endWait(this);
    }
  }

  /**
   * Ends sessions and leases that were not renewed in time. Only a leader proposes it, from the
   * deadlines of its time keeper.
   */
  record Expire(List<SessionId> sessions, List<LeaseId> leases) implements Command {
    public Expire {
      sessions = List.copyOf(sessions);
      leases = List.copyOf(leases);
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.expire(this);
    }
  }

  /** Ends a session's own lease at the client's request; the next lock begins another. */
  record ReleaseOwnLease(SessionId session) implements Command {
    public ReleaseOwnLease {
      requireNonNull(session, "session");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.releaseOwnLease(this);
    }
  }

  /**
   * Rolls a transaction back against its client's will. Does nothing if the transaction has ended,
   * or if the reason is {@link AbortReason#IDLE} and the transaction is at work.
   *
   * @param transaction its id, so that the session's next transaction is not meant
   */
  record AbortTransaction(SessionId session, long transaction, AbortReason reason)
      implements Command {
    public AbortTransaction {
      requireNonNull(session, "session");
      requireNonNull(reason, "reason");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.abort(this);
    }
  }

  /** Why a transaction is rolled back against its client's will. */
  enum AbortReason {
    /** The transaction has been open for {@link TransactionLimits#ageMillis}. */
    AGE,
    /** The transaction has been idle for {@link TransactionLimits#idleMillis}. */
    IDLE,
    /**
     * A snapshot needs a moment without open transactions, and the log must not grow without limit.
     */
    SNAPSHOT,
    /**
     * The connections of the client's process have ended without a goodbye, and nothing came from
     * it for {@link Limits#RETURN_PATIENCE_MILLIS}; or nothing came from it to a new leader for
     * {@link Limits#SHOW_PATIENCE_MILLIS}.
     */
    CLIENT_GONE
  }

  /**
   * Tells every node where clients reach this one. Answered with false if the name belongs to
   * another incarnation of the node, or if a removed node announces an incarnation; nothing changes
   * then.
   *
   * @param incarnation of the data directory of the node; null if the leader speaks for a node that
   *     it has just added, or if the node has no directory or runs a version without incarnations
   */
  record AnnounceNode(String nodeId, String clientAddress, @Nullable UniqueId incarnation)
      implements OfNode {
    public AnnounceNode {
      requireNonNull(nodeId, "nodeId");
      requireNonNull(clientAddress, "clientAddress");
    }

    public AnnounceNode(String nodeId, String clientAddress) {
      this(nodeId, clientAddress, null);
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.announce(this);
    }
  }

  /**
   * Gives the cluster an id and a key, unless it has them. Every leader of a cluster without an id
   * proposes one of its own making. Answered with true if the cluster has this id now.
   */
  record NameCluster(UniqueId clusterId, ClusterKey key) implements Command {
    public NameCluster {
      requireNonNull(clusterId, "clusterId");
      requireNonNull(key, "key");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.name(this);
    }
  }

  /** Sets the seed from which later random numbers follow, too. A leader's first command. */
  record SeedRandom(RandomSeed seed) implements Command {
    public SeedRandom {
      requireNonNull(seed, "seed");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.seed(this);
    }
  }

  /** Sets the environment in which every replica computes statements. */
  record AdoptEnvironment(Environment environment) implements Command {
    public AdoptEnvironment {
      requireNonNull(environment, "environment");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.adopt(this);
    }
  }

  /** Rejects statements that write, until an environment is adopted. */
  record PauseStatements() implements Command {
    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.pause(this);
    }
  }

  /** Sets how long transactions of the whole cluster may be open. */
  record LimitTransactions(TransactionLimits limits) implements Command {
    public LimitTransactions {
      requireNonNull(limits, "limits");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.limit(this);
    }
  }

  /**
   * Records how much time is left to leases of which the leader has received no renewal. The next
   * leader gives these leases no more than that. Leases that were renewed meanwhile are left alone.
   */
  record RecordSilence(List<SilentLease> leases) implements Command {
    public RecordSilence {
      leases = List.copyOf(leases);
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.recordSilence(this);
    }
  }

  /**
   * A lease that was not renewed.
   *
   * @param recordedRenewals {@link Lease#recordedRenewals} as the leader knows it
   */
  record SilentLease(LeaseId lease, long recordedRenewals, long remainingMillis) {
    public SilentLease {
      requireNonNull(lease, "lease");
      requireWithin("remaining", remainingMillis, 1, Limits.LEASE_TTL_MAX_MILLIS);
    }
  }

  /**
   * Ends the recorded silence of a lease that was renewed after all: the lease has its full ttl
   * again. The leader acknowledges the renewal after this command; a renewal without a recorded
   * silence needs no entry.
   *
   * @param recordedRenewals {@link Lease#recordedRenewals} as the leader knows it
   */
  record RecordRenewal(LeaseId lease, long recordedRenewals) implements Command {
    public RecordRenewal {
      requireNonNull(lease, "lease");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.recordRenewal(this);
    }
  }

  /**
   * Creates an administrator, unless the cluster has users. The leader proposes it, from what its
   * operator has given it. Answered with true if the user was created.
   */
  record CreateFirstUser(UserAccount account) implements Command {
    public CreateFirstUser {
      requireNonNull(account, "account");
      if (!account.isLastingAdministrator() || account.verifiers().isEmpty()) {
        throw new IllegalArgumentException("no administrator with a password: " + account);
      }
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.createFirstUser(this);
    }
  }

  /**
   * Raises the feature level of the cluster, unless it has this level or a higher one. The leader
   * proposes it once every member knows the level. Answered with true if the level was raised.
   */
  record RaiseFeatureLevel(int level) implements Command {
    public RaiseFeatureLevel {
      FeatureLevels.requireLevel(level);
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.raise(this);
    }
  }

  /** Stops sending clients to a node that was removed. */
  record ForgetNode(String nodeId) implements Command {
    public ForgetNode {
      requireNonNull(nodeId, "nodeId");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.forget(this);
    }
  }

  /**
   * Has every replica compute a checksum of its state at this very command, and report it. Answered
   * with false if an earlier command of the same entry has asked for that, because a check is
   * identified by its log index.
   *
   * @param nodes whose reports count
   */
  record VerifyReplicas(List<String> nodes) implements Command {
    public VerifyReplicas {
      nodes = List.copyOf(nodes);
      if (nodes.isEmpty()) {
        throw new IllegalArgumentException("no nodes to verify");
      }
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.verify(this);
    }
  }

  /**
   * The answer of a node to {@link VerifyReplicas}; a late answer does nothing.
   *
   * @param checkIndex the log index of that command
   */
  record ReportChecksum(String nodeId, long checkIndex, StateChecksum checksum) implements OfNode {
    public ReportChecksum {
      requireNonNull(nodeId, "nodeId");
      requireNonNull(checksum, "checksum");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.report(this);
    }
  }

  /**
   * Says that a node could not carry out a command, and stands at it. Changes nothing; nodes that
   * stand count such reports.
   *
   * @param logIndex the entry with that command
   * @param ordinal the place of that command in its entry, from 0
   */
  record ReportFailure(String nodeId, long logIndex, int ordinal) implements OfNode {
    public ReportFailure {
      requireNonNull(nodeId, "nodeId");
      requirePlace(logIndex, ordinal);
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.reportFailure(this);
    }
  }

  /**
   * Says that all nodes leave out an earlier command, because a majority of them stands at it.
   * Answered with true if the replica has left that command out.
   *
   * @param logIndex the entry with that command
   * @param ordinal the place of that command in its entry, from 0
   */
  record SkipCommand(long logIndex, int ordinal) implements Command {
    public SkipCommand {
      requirePlace(logIndex, ordinal);
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.skip(this);
    }
  }

  /**
   * Sets the time of the log back to the time of this command's entry, if it is later than that.
   * Answered with true if it was. Nothing but times depends on it: leases and locks stay as they
   * are.
   */
  record ResetLogTime() implements Command {
    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.resetLogTime(this);
    }
  }

  private static void requirePlace(long logIndex, int ordinal) {
    if (logIndex < 0 || ordinal < 0) {
      throw new IllegalArgumentException("command " + ordinal + " of entry " + logIndex);
    }
  }

  /** Why the wait of an acquire or of a statement ends early. */
  enum WaitEnd {
    /**
     * The time to wait is over. The outcome of an acquire is {@link Outcome.NotGranted}; that of a
     * statement is {@link Outcome.SqlFailed} with HYT00.
     */
    TIMED_OUT,
    /** The client cancelled the statement. */
    CANCELLED
  }

  private static void requireWithin(String what, long value, long min, long max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException(what + ": " + value);
    }
  }
}
