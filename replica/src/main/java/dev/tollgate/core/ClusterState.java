package dev.tollgate.core;

import dev.tollgate.core.command.ClusterIdentity;
import dev.tollgate.core.command.Computing;
import dev.tollgate.core.command.FeatureLevels;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.LockDefinition;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.Right;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TransactionLimits;
import dev.tollgate.core.command.UniqueId;
import dev.tollgate.core.command.UserAccount;
import dev.tollgate.core.command.UserName;
import java.util.Collection;
import java.util.List;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/**
 * A view of the replicated state for code that reports on it or keeps time for it. It shows the
 * live objects: read it only while nothing is applied.
 */
public final class ClusterState {
  private final ReplicatedState state;

  private final Rights rights;

  ClusterState(ReplicatedState state, Rights rights) {
    this.state = state;
    this.rights = rights;
  }

  /** Open sessions in order of opening. */
  public Collection<Session> sessions() {
    return state.sessions().all();
  }

  public @Nullable Session session(SessionId id) {
    return state.sessions().find(id);
  }

  /** Live leases in order of creation. */
  public Collection<Lease> leases() {
    return state.leases().all();
  }

  public @Nullable Lease lease(LeaseId id) {
    return state.leases().find(id);
  }

  /** Returns true if a lease with this id exists or has existed. */
  public boolean leaseExisted(LeaseId id) {
    return state.leases().existed(id);
  }

  /** The highest id of a lease so far, 0 if there was none. */
  public long lastLease() {
    return state.leases().lastId();
  }

  /** Locks that are held or waited for, in order of the grant since which each has been. */
  public Collection<Lock> locks() {
    return state.locks().all();
  }

  /**
   * The held locks as they are now, for a reader that examines them later. Call it only while no
   * other code reads the state. Costs a reference for each lock.
   */
  public List<Lock> copyLocks() {
    return state.locks().copy();
  }

  /** The locks that have a definition, in order of creation. */
  public List<LockDefinition> lockDefinitions() {
    return state.locks().definitions().all();
  }

  public @Nullable Lock lock(LockName name) {
    return state.locks().find(name);
  }

  /** Answers a user whether a lease holds the lock under this token, exclusively or shared. */
  public Outcome holdsLock(UserName user, LockName name, long token) {
    return new LockInquiries(state.locks(), rights).holdsLock(user, name, token);
  }

  /** Answers a user with the token of the oldest exclusive hold of the lock, if there is one. */
  public Outcome lockToken(UserName user, LockName name) {
    return new LockInquiries(state.locks(), rights).lockToken(user, name);
  }

  /** How many holds there are of all locks, those of locks that are only kept among them. */
  public int holds() {
    return state.locks().holds();
  }

  /** How many places in queues of locks are taken; a request for several takes one for each. */
  public int waits() {
    return state.locks().waits();
  }

  /** Table bindings in order of creation. */
  public Collection<Fence> fences() {
    return state.fences().all();
  }

  /** Open transactions in the order in which they began. */
  public Collection<Transaction> transactions() {
    return state.transactions().all();
  }

  /** How many statements wait for the end of this very transaction. */
  public long statementsWaitingFor(Transaction transaction) {
    return state.waiting().waitersFor(transaction);
  }

  /** How many statements wait for transactions to end, or for a lock. */
  public int waitingStatements() {
    return state.waiting().size();
  }

  /** How long transactions may be open. */
  public TransactionLimits transactionLimits() {
    return state.transactions().limits();
  }

  /** Where clients reach each node: host:port by node id, for the nodes that have announced it. */
  public SortedMap<String, String> nodes() {
    return state.nodes().addresses();
  }

  /** The identity of the cluster and its nodes; may be read at any time. */
  public ClusterIdentity identity() {
    return state.nodes().identity();
  }

  /** The users in order of their names. */
  public Collection<UserAccount> users() {
    return state.users().all();
  }

  /**
   * A secret of the cluster, from which nodes compute what they tell clients of users that do not
   * exist; null without users. No view shows it.
   */
  public @Nullable UniqueId loginSecret() {
    return state.users().secret();
  }

  /** Returns true if the user may do everything. */
  public boolean isAdministrator(UserName user) {
    return state.users().isAdministrator(user);
  }

  /** Returns why the user may not learn who holds the lock, or null if the user may. */
  public Outcome.@Nullable Refused inspect(UserName user, LockName lock) {
    return rights.inspect(user, lock);
  }

  /** The rights on locks and sequences that a user has, directly or through roles. */
  public List<Right> rightsOf(UserName user) {
    return rights.of(user);
  }

  /** The granted rights that the database knows nothing of, by grantee. */
  public List<Right> rights() {
    return state.rights().all();
  }

  /** The last comparison of the replicas, or null if there was none. */
  public @Nullable ReplicaCheck lastCheck() {
    return state.agreement().check();
  }

  /** True if this command of the log was left out. */
  public boolean hasSkipped(long logIndex, int ordinal) {
    return state.agreement().hasSkipped(logIndex, ordinal);
  }

  /** The level of the commands that may be in the log; see {@link FeatureLevels}. */
  public int featureLevel() {
    return state.agreement().featureLevel();
  }

  /** The environment in which statements are computed. */
  public Computing computing() {
    return state.agreement().computing();
  }

  /** The highest token ever granted, 0 if none was. */
  public long lastToken() {
    return state.locks().lastToken();
  }
}
