package dev.tollgate.core;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.ClusterIdentity;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.Computing;
import dev.tollgate.core.command.FenceId;
import dev.tollgate.core.command.FencingToken;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.LeaseKind;
import dev.tollgate.core.command.LockDefinition;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.LogPosition;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.PresentedToken;
import dev.tollgate.core.command.RandomSeed;
import dev.tollgate.core.command.RequestId;
import dev.tollgate.core.command.Right;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.StateChecksum;
import dev.tollgate.core.command.TableName;
import dev.tollgate.core.command.TimeZoneName;
import dev.tollgate.core.command.TransactionLimits;
import dev.tollgate.core.command.UniqueId;
import dev.tollgate.core.command.UserAccount;
import dev.tollgate.core.command.UserName;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A piece of the replicated state as it stands in a snapshot. All pieces together, in the order of
 * {@link CoreCopy}, are the whole state between two commands.
 */
public sealed interface StateRecord {
  /** Calls the method for this kind of record. */
  <R> R handledBy(Handler<R> handler);

  /** One method per kind of record. */
  interface Handler<R> {
    R counters(Counters record);

    R node(NodeAddress record);

    R lease(LeaseState record);

    R session(SessionState record);

    R sessionFence(SessionFence record);

    R definedLock(DefinedLock record);

    R waitingStatement(WaitingStatement record);

    R lock(LockState record);

    R fence(FenceState record);

    R check(CheckState record);

    R randomness(Randomness record);

    R computing(ComputingState record);

    R limits(LimitsState record);

    R identity(Identity record);

    R skipped(SkippedCommand record);

    R digest(Digest record);

    R silence(LeaseSilence record);

    R user(UserState record);

    R right(RightState record);

    R loginSecret(LoginSecret record);

    R featureLevel(FeatureLevelState record);
  }

  /** The position of the log, and the highest number given out so far of each kind. */
  record Counters(
      LogPosition position,
      long lastSession,
      long lastLease,
      long lastToken,
      long lastFence,
      long lastTransaction)
      implements StateRecord {
    public Counters {
      requireNonNull(position, "position");
    }

    /** The epoch of the tokens. */
    public int epoch() {
      return FencingToken.epochOf(lastToken);
    }

    /**
     * The same counters, with a token counter that has given out no token of this higher epoch yet.
     */
    public Counters inEpoch(int epoch) {
      if (epoch <= epoch()) {
        throw new IllegalArgumentException("epoch " + epoch + " after " + epoch());
      }
      return new Counters(
          position,
          lastSession,
          lastLease,
          FencingToken.startOf(epoch),
          lastFence,
          lastTransaction);
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.counters(this);
    }
  }

  /** Where clients reach a node. */
  record NodeAddress(String nodeId, String clientAddress) implements StateRecord {
    public NodeAddress {
      requireNonNull(nodeId, "nodeId");
      requireNonNull(clientAddress, "clientAddress");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.node(this);
    }
  }

  /**
   * A lease.
   *
   * @param held in grant order
   * @param awaited in the order in which its requests came
   */
  record LeaseState(
      LeaseId id,
      String owner,
      long ttlMillis,
      long createdMicros,
      @Nullable SessionId creator,
      LeaseKind kind,
      UserName user,
      List<LockName> held,
      List<LockName> awaited)
      implements StateRecord {
    public LeaseState {
      requireNonNull(id, "id");
      requireNonNull(owner, "owner");
      requireNonNull(kind, "kind");
      requireNonNull(user, "user");
      held = List.copyOf(held);
      awaited = List.copyOf(awaited);
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.lease(this);
    }
  }

  /**
   * A session, without its fence and its open transaction.
   *
   * @param opening the command that opened it
   * @param ownLease the id of one of the leases, or null
   * @param lost locks that were taken from its own lease by force. Without an own lease, locks lost
   *     with the last one of which the client has not been told yet
   * @param lastContent see {@link Command.Perform#content}
   * @param awaited the lock in whose queue its last operation stands, the first of several, or null
   * @param lostTransaction why its last transaction was rolled back, if the client has not been
   *     told yet
   */
  record SessionState(
      SessionId id,
      Command.OpenSession opening,
      long openedMicros,
      String schema,
      TimeZoneName timeZone,
      SortedMap<LockName, Long> presented,
      @Nullable LeaseId ownLease,
      List<LockName> lost,
      long lastSequence,
      long lastContent,
      @Nullable Outcome lastOutcome,
      @Nullable LockName awaited,
      long lockTimeoutMillis,
      @Nullable String lostTransaction)
      implements StateRecord {
    public SessionState {
      requireNonNull(id, "id");
      requireNonNull(opening, "opening");
      requireNonNull(schema, "schema");
      requireNonNull(timeZone, "timeZone");
      presented = Collections.unmodifiableSortedMap(new TreeMap<>(presented));
      lost = List.copyOf(lost);
    }

    /** The same session for a cluster in which no client can use it. */
    public SessionState withoutSecret() {
      return new SessionState(
          id,
          new Command.OpenSession(
              opening.client(),
              Command.OpenSession.NO_SECRET,
              opening.ttlMillis(),
              opening.leaseTtlMillis(),
              UserName.ANONYMOUS,
              Command.OpenSession.ANY_NUMBER,
              opening.timeZone()),
          openedMicros,
          schema,
          timeZone,
          presented,
          ownLease,
          lost,
          lastSequence,
          lastContent,
          lastOutcome,
          awaited,
          lockTimeoutMillis,
          lostTransaction);
    }

    /** The same session with another last outcome. */
    public SessionState withLastOutcome(Outcome outcome) {
      return new SessionState(
          id,
          opening,
          openedMicros,
          schema,
          timeZone,
          presented,
          ownLease,
          lost,
          lastSequence,
          lastContent,
          outcome,
          awaited,
          lockTimeoutMillis,
          lostTransaction);
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.session(this);
    }
  }

  /** The fence of a session, whose record comes before. Absent if the session has none. */
  record SessionFence(SessionId session, PresentedToken fence) implements StateRecord {
    public SessionFence {
      requireNonNull(session, "session");
      requireNonNull(fence, "fence");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.sessionFence(this);
    }
  }

  /**
   * A LOCKED BY statement in the queue of its lock. The records of its session, its lease and its
   * lock come before.
   *
   * @param done the outcomes of its first parameter sets, which have run
   */
  record WaitingStatement(
      SessionId session,
      LeaseId lease,
      LockName lock,
      Operation.ExecuteSql statement,
      List<Outcome> done)
      implements StateRecord {
    public WaitingStatement {
      requireNonNull(session, "session");
      requireNonNull(lease, "lease");
      requireNonNull(lock, "lock");
      requireNonNull(statement, "statement");
      done = List.copyOf(done);
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.waitingStatement(this);
    }
  }

  /** The definition of a lock; it comes before the lock's own record. */
  record DefinedLock(LockDefinition definition) implements StateRecord {
    public DefinedLock {
      requireNonNull(definition, "definition");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.definedLock(this);
    }
  }

  /**
   * A lock that is held or waited for: its holds in grant order, and its waiters, the next one
   * first.
   */
  record LockState(LockName name, LockMode mode, List<HoldState> holds, List<WaiterState> waiters)
      implements StateRecord {
    public LockState {
      requireNonNull(name, "name");
      requireNonNull(mode, "mode");
      holds = List.copyOf(holds);
      waiters = List.copyOf(waiters);
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.lock(this);
    }
  }

  /** One lease's hold of a lock. */
  record HoldState(LeaseId lease, FencingToken token, long sinceMicros, SessionId session) {
    public HoldState {
      requireNonNull(lease, "lease");
      requireNonNull(token, "token");
      requireNonNull(session, "session");
    }
  }

  /** One request in a lock's queue. See {@link Waiter}. */
  record WaiterState(
      RequestId request,
      LeaseId lease,
      LockMode mode,
      long sinceMicros,
      long waitMillis,
      List<LockName> together) {
    public WaiterState {
      requireNonNull(request, "request");
      requireNonNull(lease, "lease");
      requireNonNull(mode, "mode");
      together = List.copyOf(together);
    }
  }

  /** The binding of a table. */
  record FenceState(FenceId id, TableName table, Operation.FenceTerms terms, long highestToken)
      implements StateRecord {
    public FenceState {
      requireNonNull(id, "id");
      requireNonNull(table, "table");
      requireNonNull(terms, "terms");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.fence(this);
    }
  }

  /** The last comparison of the replicas, and the answers of the nodes. */
  record CheckState(long logIndex, List<String> nodes, SortedMap<String, StateChecksum> reports)
      implements StateRecord {
    public CheckState {
      nodes = List.copyOf(nodes);
      reports = Collections.unmodifiableSortedMap(new TreeMap<>(reports));
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.check(this);
    }
  }

  /** The identity of the cluster and its nodes. */
  record Identity(ClusterIdentity identity) implements StateRecord {
    public Identity {
      requireNonNull(identity, "identity");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.identity(this);
    }
  }

  /** What random numbers follow from besides the log. */
  record Randomness(RandomSeed seed) implements StateRecord {
    public Randomness {
      requireNonNull(seed, "seed");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.randomness(this);
    }
  }

  /** The digest of what all commands have done that the snapshot covers. */
  record Digest(long value) implements StateRecord {
    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.digest(this);
    }
  }

  /**
   * A command that was not carried out, because an operator had it skipped.
   *
   * @param ordinal its place in its entry, from 0
   */
  record SkippedCommand(long logIndex, int ordinal) implements StateRecord {
    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.skipped(this);
    }
  }

  /**
   * The recorded silence or renewals of a lease, whose record comes before. Absent if the log
   * records none.
   */
  record LeaseSilence(LeaseId lease, long recordedRenewals, long remainingMillis)
      implements StateRecord {
    public LeaseSilence {
      requireNonNull(lease, "lease");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.silence(this);
    }
  }

  /** A user. Its database object is in the snapshot of the database. */
  record UserState(UserAccount account) implements StateRecord {
    public UserState {
      requireNonNull(account, "account");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.user(this);
    }
  }

  /**
   * See {@link ClusterState#loginSecret}. Absent in a cluster without users.
   *
   * @param lastUser the number of the user that was created last
   */
  record LoginSecret(UniqueId secret, long lastUser) implements StateRecord {
    public LoginSecret {
      requireNonNull(secret, "secret");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.loginSecret(this);
    }

    @Override
    public String toString() {
      return "LoginSecret";
    }
  }

  /** A granted right that the database knows nothing of. */
  record RightState(Right right) implements StateRecord {
    public RightState {
      requireNonNull(right, "right");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.right(this);
    }
  }

  /** The feature level of the cluster. Absent at the first level. */
  record FeatureLevelState(int level) implements StateRecord {
    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.featureLevel(this);
    }
  }

  /** The environment in which statements are computed. */
  record ComputingState(Computing computing) implements StateRecord {
    public ComputingState {
      requireNonNull(computing, "computing");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.computing(this);
    }
  }

  /** How long transactions may be open, if the cluster has set it. */
  record LimitsState(TransactionLimits limits) implements StateRecord {
    public LimitsState {
      requireNonNull(limits, "limits");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.limits(this);
    }
  }
}
