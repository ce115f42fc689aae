package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.ClusterState;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.Notice;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RequestId;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.UniqueId;
import dev.tollgate.log.CommandPipeline;
import dev.tollgate.log.LogStatus;
import dev.tollgate.log.ReplicatedLog;
import dev.tollgate.log.SnapshotStore;
import dev.tollgate.node.replica.Replica;
import dev.tollgate.node.replica.TimeKeeper;
import dev.tollgate.sql.SqlFrontend;
import dev.tollgate.store.MemoryWatch;
import dev.tollgate.store.SqlReader;
import dev.tollgate.store.statement.LockAccess;
import dev.tollgate.wire.Reply;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What all client connections of a node share: the parts of the node that they talk to, and what
 * each of them waits for. Thread-safe.
 */
public final class ClientService implements Replica.Listener {
  /** Is told when a wait ends. */
  interface Waiter {
    void completed(Outcome outcome);

    /** This node no longer leads; the wait goes on at the next leader. */
    void abandoned();
  }

  private final String nodeId;
  private final Replica replica;
  private final ReplicatedLog log;
  private final CommandPipeline pipeline;
  private final TimeKeeper timeKeeper;
  private final SqlFrontend frontend;
  private final SqlReader reader;
  private final MemoryWatch memory;
  private final LockAccess views;
  private final Administration administration;
  private final Workers workers;
  private final Traffic traffic;
  private final TransactionGate gate;

  private final Map<RequestId, Waiter> waiters = new ConcurrentHashMap<>();
  private final Map<SessionId, SqlReader.Canceller> queries = new ConcurrentHashMap<>();
  private final Map<SessionId, ClientConnection> keptSessions = new ConcurrentHashMap<>();
  private final Map<LeaseId, ClientConnection> keptLeases = new ConcurrentHashMap<>();

  public ClientService(
      String nodeId,
      Replica replica,
      ReplicatedLog log,
      CommandPipeline pipeline,
      TimeKeeper timeKeeper,
      SqlFrontend frontend,
      SqlReader reader,
      MemoryWatch memory,
      LockAccess views,
      Administration administration,
      Workers workers,
      ClientLimits limits) {
    this.nodeId = requireNonNull(nodeId, "nodeId");
    this.replica = requireNonNull(replica, "replica");
    this.log = requireNonNull(log, "log");
    this.pipeline = requireNonNull(pipeline, "pipeline");
    this.timeKeeper = requireNonNull(timeKeeper, "timeKeeper");
    this.frontend = requireNonNull(frontend, "frontend");
    this.reader = requireNonNull(reader, "reader");
    this.memory = requireNonNull(memory, "memory");
    this.views = requireNonNull(views, "views");
    this.administration = requireNonNull(administration, "administration");
    this.workers = requireNonNull(workers, "workers");
    this.traffic = new Traffic(nodeId, limits);
    this.gate = new TransactionGate(limits.heldTransactions(), workers::chore);
  }

  String nodeId() {
    return nodeId;
  }

  Replica replica() {
    return replica;
  }

  CommandPipeline pipeline() {
    return pipeline;
  }

  TimeKeeper timeKeeper() {
    return timeKeeper;
  }

  SqlFrontend frontend() {
    return frontend;
  }

  SqlReader reader() {
    return reader;
  }

  MemoryWatch memory() {
    return memory;
  }

  /** The lock state for queries. */
  LockAccess views() {
    return views;
  }

  /**
   * Begins a transaction: at once, unless a snapshot needs a moment without transactions.
   *
   * @param refused is told if too many transactions wait for that moment to pass
   */
  void beginTransaction(Runnable beginning, Consumer<String> refused) {
    if (!gate.enter(beginning)) {
      refused.accept(
          traffic.limits().heldTransactions()
              + " transactions wait to begin until a snapshot has, as many as may: nothing was"
              + " done; try again later");
    }
    // if leadership was lost meanwhile, nothing else would let the transaction in
    if (!replica.isLeading()) {
      gate.stoppedLeading();
    }
  }

  Administration administration() {
    return administration;
  }

  /** Runs work that waits or computes for long: queries, planning of statements seen first. */
  Workers workers() {
    return workers;
  }

  /** What all clients have under way. */
  Traffic traffic() {
    return traffic;
  }

  SnapshotStore snapshots() {
    return log.snapshots();
  }

  /** Returns the id that no other cluster has, or null if that is not known yet. */
  @Nullable String clusterId() {
    UniqueId id = replica.identity().clusterId();
    return id == null ? null : id.toString();
  }

  /** Returns what this node knows, which may be little: no other node is asked. */
  Reply.NodeStatus nodeStatus() {
    LogStatus status = log.status();
    SortedMap<String, String> addresses = replica.facts().nodes();
    Throwable failure = replica.failure();
    return new Reply.NodeStatus(
        nodeId,
        status.role().name(),
        status.leaderId(),
        status.term(),
        status.lastAppliedIndex(),
        status.commitIndex(),
        failure == null ? null : failure.toString(),
        status.members().stream()
            .map(
                member ->
                    new Reply.NodeStatus.Member(
                        member.nodeId(),
                        member.raftAddress(),
                        addresses.get(member.nodeId()),
                        member.silentMillis()))
            .toList());
  }

  /** Lists the nodes, for a client that has to find the leader. */
  Reply.ClusterView clusterView() {
    String leader = log.leaderId();
    SortedMap<String, String> nodes = replica.facts().nodes();
    return new Reply.ClusterView(
        leader == null ? null : nodes.get(leader), List.copyOf(nodes.values()));
  }

  /**
   * Continues once this node has proven that it leads and has applied all that was acknowledged
   * before, or has said that it does not lead.
   *
   * @param then receives true if this node leads; called by any thread, must not wait
   */
  void awaitState(LeadershipProof then) {
    prove(pipeline::barrier, then);
  }

  /**
   * Like {@link #awaitState}, but does not wait until all that was acknowledged before is applied:
   * for renewals, which ask nothing but the time keeper.
   */
  void proveLeadership(LeadershipProof then) {
    prove(pipeline::leadership, then);
  }

  /** Continues once an entry proposed from now on is applied here, even if this node is alone. */
  void awaitEntry(LeadershipProof then) {
    pipeline.entry(barrier(then));
  }

  private void prove(Consumer<CommandPipeline.Barrier> proof, LeadershipProof then) {
    if (!replica.isLeading()) {
      then.proven(false);
    } else if (log.isAlone()) {
      then.proven(true);
    } else {
      proof.accept(barrier(then));
    }
  }

  /** The callback must not wait: one thread tells all callers that wait for the same proof. */
  private CommandPipeline.Barrier barrier(LeadershipProof then) {
    return new CommandPipeline.Barrier() {
      @Override
      public void passed() {
        replica.promptly(() -> then.proven(true));
      }

      @Override
      public void failed() {
        replica.promptly(() -> then.proven(false));
      }
    };
  }

  /** Is told whether this node leads. */
  interface LeadershipProof {
    void proven(boolean leads);
  }

  /** Registers who is told of the end of a wait, in place of any earlier waiter. */
  void await(RequestId request, Waiter waiter) {
    waiters.put(request, waiter);
    // if leadership was lost meanwhile, nothing else would tell the waiter
    if (!replica.isLeading() && waiters.remove(request, waiter)) {
      waiter.abandoned();
    }
  }

  /** Registers the query that a session runs. */
  void queryStarts(SessionId session, SqlReader.Canceller canceller) {
    queries.put(session, canceller);
  }

  void queryEnds(SessionId session, SqlReader.Canceller canceller) {
    queries.remove(session, canceller);
  }

  /** Cancels the query that a session runs, if it runs one here. */
  void cancelQuery(SessionId session) {
    SqlReader.Canceller canceller = queries.get(session);
    if (canceller != null) {
      canceller.cancel();
    }
  }

  /**
   * Remembers which connection to tell when a session or a lease ends: the last that renewed it.
   */
  void keptBy(List<SessionId> sessions, List<LeaseId> leases, ClientConnection connection) {
    sessions.forEach(session -> keptSessions.put(session, connection));
    leases.forEach(lease -> keptLeases.put(lease, connection));
  }

  /** Takes back {@link #keptBy} for a session that is not alive here. */
  void forget(SessionId session) {
    keptSessions.remove(session);
  }

  /** Takes back {@link #keptBy} for a lease that is not alive here. */
  void forget(LeaseId lease) {
    keptLeases.remove(lease);
  }

  /** Tells this connection nothing more. */
  void forget(ClientConnection connection) {
    keptSessions.values().removeIf(keeper -> keeper == connection);
    keptLeases.values().removeIf(keeper -> keeper == connection);
  }

  @Override
  public void startedLeading(ClusterState state) {}

  @Override
  public void stoppedLeading() {
    gate.stoppedLeading();
    for (RequestId request : List.copyOf(waiters.keySet())) {
      Waiter waiter = waiters.remove(request);
      if (waiter != null) {
        waiter.abandoned();
      }
    }
  }

  @Override
  public void noticed(Notice notice) {
    if (notice instanceof Notice.Completed completed) {
      Waiter waiter = waiters.remove(new RequestId(completed.session(), completed.sequence()));
      if (waiter != null) {
        waiter.completed(completed.outcome());
      }
    } else if (notice instanceof Notice.SessionEnded ended) {
      tell(keptSessions.remove(ended.session()), List.of(ended.session().value()), List.of());
    } else if (notice instanceof Notice.LeaseEnded ended) {
      tell(keptLeases.remove(ended.lease()), List.of(), List.of(ended.lease().value()));
    } else if (notice instanceof Notice.ClusterChanged) {
      Reply.ClusterChanged event = new Reply.ClusterChanged(clusterView());
      Set<ClientConnection> keepers = new HashSet<>(keptSessions.values());
      keepers.addAll(keptLeases.values());
      keepers.forEach(connection -> connection.push(event));
    }
  }

  private static void tell(
      @Nullable ClientConnection connection, List<Long> sessions, List<Long> leases) {
    if (connection != null) {
      connection.push(new Reply.Lost(sessions, leases));
    }
  }

  @Override
  public void snapshotNeedsGap(boolean needed) {
    gate.snapshotNeedsGap(needed);
  }

  @Override
  public void failed(Throwable cause) {
    stoppedLeading();
  }
}
