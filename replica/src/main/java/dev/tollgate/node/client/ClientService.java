package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.ClusterState;
import dev.tollgate.core.command.Notice;
import dev.tollgate.log.CommandPipeline;
import dev.tollgate.log.ReplicatedLog;
import dev.tollgate.log.SnapshotStore;
import dev.tollgate.node.replica.ClusterViews;
import dev.tollgate.node.replica.Facts;
import dev.tollgate.node.replica.Replica;
import dev.tollgate.node.replica.TimeKeeper;
import dev.tollgate.sql.SqlFrontend;
import dev.tollgate.store.SqlDatabase;
import dev.tollgate.store.statement.LockAccess;
import dev.tollgate.tls.CertificateDemand;
import dev.tollgate.tls.TlsCredentials;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The part of a node that serves clients. Puts together what all connections share and what each
 * has of its own, and passes on what the replica reports. Thread-safe.
 */
public final class ClientService implements Replica.Listener {
  private final String nodeId;
  private final Replica replica;
  private final CommandPipeline pipeline;
  private final TimeKeeper timeKeeper;
  private final SqlFrontend frontend;
  private final Workers workers;
  private final SnapshotStore snapshots;
  private final ClientAccess access;
  private final LoginDelays loginDelays;
  private final LoginCounts logins;
  private final PasswordLogin passwordLogin;
  private final LiveLogins liveLogins;

  private final Traffic traffic;
  private final Complaints complaints;
  private final ClusterInfo cluster;
  private final Leadership leadership;
  private final TransactionGate gate;
  private final WaitingRequests waiting;
  private final Keepers keepers;
  private final ClientProcesses processes;
  private final HolderWatches watches;
  private final LeaderWatches leaders;
  private final TakeoverWaits takeovers;
  private final Cancellations cancellations = new Cancellations();
  private final StatementQueries statementQueries;
  private final RequestWork work;
  private final Admission admission;
  private final StatementExecution execution;
  private final StatementSeries series;
  private final Descriptions descriptions;
  private final SlowStatements slow;
  private volatile boolean stopping;

  /** Serves every client. */
  public ClientService(
      String nodeId,
      Replica replica,
      ReplicatedLog log,
      CommandPipeline pipeline,
      TimeKeeper timeKeeper,
      SqlFrontend frontend,
      SqlDatabase database,
      Administration administration,
      Workers workers,
      ClientLimits limits) {
    this(
        nodeId,
        replica,
        log,
        pipeline,
        timeKeeper,
        frontend,
        database,
        administration,
        workers,
        limits,
        ClientAccess.OPEN);
  }

  /** Serves the clients that may connect. */
  public ClientService(
      String nodeId,
      Replica replica,
      ReplicatedLog log,
      CommandPipeline pipeline,
      TimeKeeper timeKeeper,
      SqlFrontend frontend,
      SqlDatabase database,
      Administration administration,
      Workers workers,
      ClientLimits limits,
      ClientAccess access) {
    this.nodeId = requireNonNull(nodeId, "nodeId");
    this.replica = requireNonNull(replica, "replica");
    this.pipeline = requireNonNull(pipeline, "pipeline");
    this.timeKeeper = requireNonNull(timeKeeper, "timeKeeper");
    this.frontend = requireNonNull(frontend, "frontend");
    this.workers = requireNonNull(workers, "workers");
    logins = new LoginCounts(access.listener());
    this.access =
        new ClientAccess(access.users(), access.owners(), logins, access.nanos(), access.rules());
    loginDelays = new LoginDelays(limits, access.nanos());
    passwordLogin = new PasswordLogin(this.access, loginDelays);
    liveLogins = new LiveLogins(access.users());
    snapshots = log.snapshots();
    traffic = new Traffic(nodeId, limits);
    complaints = new Complaints(nodeId, System::nanoTime);
    cluster = new ClusterInfo(nodeId, replica, log);
    leadership = new Leadership(replica, log, pipeline, cluster);
    gate = new TransactionGate(limits.heldTransactions(), workers::chore, this::keepsRequests);
    waiting = new WaitingRequests(this::keepsRequests);
    keepers = new Keepers(cluster);
    processes = new ClientProcesses(timeKeeper, replica.facts(), workers);
    watches =
        new HolderWatches(
            replica.state(), leadership, limits.holderWatches(), limits.holderWatchesPerUser());
    leaders = new LeaderWatches(cluster, workers);
    takeovers = new TakeoverWaits(leadership::isComing, workers);
    work = new RequestWork(nodeId, workers, replica);

    Facts facts = replica.facts();
    StatementProposals proposals =
        new StatementProposals(pipeline, gate, waiting, facts, leadership, workers, work);
    ReadAccess reads = new ReadAccess(leadership, facts, timeKeeper, proposals);
    LockAccess locks = new ClusterViews(replica, log, timeKeeper);
    statementQueries = new StatementQueries(database.reader(), locks, facts);
    admission =
        new Admission(
            database.memory(),
            database.reader(),
            locks,
            leadership,
            facts,
            proposals,
            work,
            limits,
            access.nanos(),
            (delay, check) ->
                CompletableFuture.delayedExecutor(delay, TimeUnit.NANOSECONDS, workers::chore)
                    .execute(check));
    LeaseRenewals renewals = new LeaseRenewals(timeKeeper, leadership, workers, facts);
    AccountStatements accounts = new AccountStatements(facts, access.rules().passwords());
    execution =
        new StatementExecution(
            proposals,
            reads,
            statementQueries,
            new LockStatements(proposals, renewals, reads, statementQueries, replica.state(), work),
            new ProcedureStatements(
                administration, statementQueries, leadership, work, replica.audit()),
            admission,
            accounts,
            work);
    series = new StatementSeries(frontend, proposals, admission, accounts, work);
    descriptions = new Descriptions(database.reader(), facts, reads, work);
    slow = new SlowStatements(replica.slow(), System::nanoTime);
  }

  /**
   * Begins to listen for clients.
   *
   * @param maxConnections further connections are told so and closed
   * @param credentials null for a port without TLS
   * @param demand whether clients have to show certificates
   * @param certificates whether certificates are logins
   * @throws IOException if this node cannot listen on the address
   */
  public ClientServer listen(
      InetSocketAddress address,
      int maxConnections,
      @Nullable TlsCredentials credentials,
      CertificateDemand demand,
      CertificateLogin certificates)
      throws IOException {
    ClientTls tls =
        credentials == null
            ? null
            : new ClientTls(
                credentials,
                demand,
                certificates,
                maxConnections,
                new DefaultThreadFactory("tollgate-" + nodeId + "-tls", /* daemon= */ true),
                complaints);
    return new ClientServer(
        nodeId, address, maxConnections, this::connect, traffic, complaints, tls, replica);
  }

  /** Checks users that send their password, with the delays of all other logins. */
  public PasswordLogin passwordLogin() {
    return passwordLogin;
  }

  /** What goes on by logins at this node. */
  public LiveLogins liveLogins() {
    return liveLogins;
  }

  /** Counts the logins of this node. */
  public LoginCounts logins() {
    return logins;
  }

  /** What the clients of this node have under way. */
  public ClientFigures figures() {
    Map<Workers.Kind, Integer> queued = new EnumMap<>(Workers.Kind.class);
    for (Workers.Kind kind : Workers.Kind.values()) {
      queued.put(kind, workers.queued(kind) + admission.waiting(kind));
    }
    return new ClientFigures(
        traffic.requests(),
        traffic.refusedRequests(),
        traffic.requestBytes(),
        traffic.unreadBytes(),
        waiting.size(),
        statementQueries.running(),
        gate.held(),
        queued);
  }

  /** Whether requests that wait for others may wait at this node. */
  private boolean keepsRequests() {
    return replica.isLeading() && !stopping;
  }

  /**
   * Sends away what would keep connections busy for long: requests that wait in the replicated
   * state, where the next leader finds them, or this node after its next start.
   */
  public void stops() {
    stopping = true;
    stoppedLeading();
  }

  /** Makes the node's side of a connection. */
  public ClientConnection connect(ClientConnection.Link link) {
    return connect(link, /* admitted= */ null);
  }

  /**
   * Makes the node's side of a connection within this process, for a user whose login another part
   * of the node has checked.
   *
   * @param admitted the login; null on a cluster without users
   */
  public ClientConnection connect(ClientConnection.Link link, @Nullable LoginProof admitted) {
    ReplyChannel replies = new ReplyChannel(link, traffic, complaints);
    SessionRequests sessions =
        new SessionRequests(
            leadership,
            takeovers,
            pipeline,
            timeKeeper,
            replica.facts(),
            cancellations,
            replies,
            access.owners());
    return new ClientConnection(
        replica.state(),
        cluster,
        workers,
        replies,
        processes.visit(sessions::sessionOrNull),
        new Greeting(
            cluster,
            access.users(),
            liveLogins,
            replies,
            new Login(
                access,
                nodeId,
                loginDelays,
                passwordLogin.tokens(),
                passwordLogin.directory(),
                link),
            link::trust,
            sessions::hasOpenSession,
            admitted),
        sessions,
        new Heartbeats(
            timeKeeper, keepers, leadership, replica.facts(), replica.state(), workers, replies),
        watches,
        leaders,
        takeovers,
        new StatementRequests(
            frontend,
            execution,
            series,
            descriptions,
            work,
            cancellations,
            slow,
            new OpenResults(traffic.limits().connections().queriesAtOnce())),
        new SnapshotSender(nodeId, snapshots, leadership, workers, replica.audit(), replies),
        replica.audit());
  }

  @Override
  public void startedLeading(ClusterState state) {}

  @Override
  public void stoppedLeading() {
    gate.stoppedLeading();
    waiting.stoppedLeading();
    watches.stoppedLeading();
    keepers.stoppedLeading(leadership.notLeader());
  }

  @Override
  public void noticed(Notice notice) {
    if (notice instanceof Notice.Completed completed) {
      waiting.completed(completed);
    } else {
      if (notice instanceof Notice.SessionEnded ended) {
        cancellations.sessionEnded(ended.session());
      }
      keepers.noticed(notice);
    }
  }

  @Override
  public void usersMayHaveChanged() {
    liveLogins.usersMayHaveChanged();
  }

  @Override
  public void applied() {
    watches.applied();
  }

  @Override
  public void leaderMayHaveChanged() {
    leaders.leaderMayHaveChanged();
    takeovers.leaderMayHaveChanged();
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
