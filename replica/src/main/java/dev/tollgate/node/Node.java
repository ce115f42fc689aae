package dev.tollgate.node;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.Capacity;
import dev.tollgate.core.ClusterState;
import dev.tollgate.core.command.Command;
import dev.tollgate.log.CommandPipeline;
import dev.tollgate.log.KeyUse;
import dev.tollgate.log.LogClock;
import dev.tollgate.log.LogStatus;
import dev.tollgate.log.MemoryLog;
import dev.tollgate.log.PrivateFiles;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.log.ReplicatedLog;
import dev.tollgate.log.SkipList;
import dev.tollgate.log.SnapshotStore;
import dev.tollgate.log.Supervision;
import dev.tollgate.log.ratis.RatisLog;
import dev.tollgate.node.admin.AdminAddress;
import dev.tollgate.node.admin.AdminLimits;
import dev.tollgate.node.admin.LeaderChanges;
import dev.tollgate.node.admin.NodeParts;
import dev.tollgate.node.audit.AuditSettings;
import dev.tollgate.node.audit.AuditTrail;
import dev.tollgate.node.client.Administration;
import dev.tollgate.node.client.ArrivalFigures;
import dev.tollgate.node.client.CertificateLogin;
import dev.tollgate.node.client.ClientAccess;
import dev.tollgate.node.client.ClientLimits;
import dev.tollgate.node.client.ClientServer;
import dev.tollgate.node.client.ClientService;
import dev.tollgate.node.client.LoginAudit;
import dev.tollgate.node.client.ReplicatedUsers;
import dev.tollgate.node.client.Workers;
import dev.tollgate.node.login.LoginMethods;
import dev.tollgate.node.replica.EnvironmentDiffersException;
import dev.tollgate.node.replica.Replica;
import dev.tollgate.node.replica.TimeKeeper;
import dev.tollgate.node.replica.Verification;
import dev.tollgate.node.scripts.ScriptLimits;
import dev.tollgate.node.scripts.ScriptPages;
import dev.tollgate.node.slow.ApplyAlarm;
import dev.tollgate.node.slow.SlowLog;
import dev.tollgate.node.slow.StuckWatch;
import dev.tollgate.seal.DataKeys;
import dev.tollgate.sql.SqlFrontend;
import dev.tollgate.store.SqlDatabase;
import dev.tollgate.tls.CertificateDemand;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A node, put together from its parts. Thread-safe. */
public final class Node implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Node.class);

  private static final int ANNOUNCE_AGAIN_SECONDS = 10;

  private static final int CACHED_PLANS = 5_000;
  private static final int ENTRY_BYTES = 2 << 20;

  private final NodeSettings settings;
  private final SqlDatabase database;
  private final Replica replica;
  private final ReplicatedLog log;
  private final LogClock logClock;
  private final CommandPipeline pipeline;
  private final TimeKeeper timeKeeper;
  private final Verification verification;
  private final StuckWatch stuck;
  private final ApplyAlarm applyAlarm;
  private final Workers workers;
  private final CredentialsReload reload;
  private final @Nullable DataKeysReload dataKeys;
  private final LoginMethods methods;
  private final ClientService service;
  private final Supervision supervision;
  private final LeaderChanges leaders;
  private final LastWork lastWork;
  private final SqlFrontend frontend = new SqlFrontend(CACHED_PLANS);
  private final CountDownLatch leading = new CountDownLatch(1);
  private final CompletableFuture<@Nullable Void> ended = new CompletableFuture<>();
  private volatile @Nullable ClientServer server;
  private volatile @Nullable AdminAddress admin;
  private volatile boolean stopping;

  /**
   * @throws IOException if the log's directory cannot be used
   */
  public Node(NodeSettings settings) throws IOException {
    this(settings, new SqlDatabase());
  }

  /**
   * Creates a node with other users and limits for connections than the standard ones.
   *
   * @throws IOException if the log's directory cannot be used
   */
  public Node(NodeSettings settings, ConnectionSettings connections, UserSettings users)
      throws IOException {
    this(
        settings,
        new SqlDatabase(),
        connections.limits(),
        Capacity.STANDARD,
        users,
        replica -> access(replica, users));
  }

  private static ClientAccess access(Replica replica, UserSettings users) {
    ReplicatedUsers known = new ReplicatedUsers(replica.facts(), users.loginRequired());
    return new ClientAccess(
        known, known, new LoginAudit(replica.audit()), System::nanoTime, users.rules());
  }

  /**
   * @param database still empty; closed with the node
   */
  Node(NodeSettings settings, SqlDatabase database) throws IOException {
    this(settings, database, ClientLimits.STANDARD, Capacity.STANDARD);
  }

  /** Creates a node with limits that a test can reach. */
  Node(NodeSettings settings, SqlDatabase database, ClientLimits limits, Capacity capacity)
      throws IOException {
    this(
        settings,
        database,
        limits,
        capacity,
        UserSettings.OPTIONAL,
        replica -> access(replica, UserSettings.OPTIONAL));
  }

  /** Creates a node whose clients log in as the caller says. */
  Node(
      NodeSettings settings,
      SqlDatabase database,
      ClientLimits limits,
      Capacity capacity,
      UserSettings users,
      ClientAccess access)
      throws IOException {
    this(settings, database, limits, capacity, users, replica -> access);
  }

  private Node(
      NodeSettings settings,
      SqlDatabase database,
      ClientLimits limits,
      Capacity capacity,
      UserSettings users,
      Function<Replica, ClientAccess> access)
      throws IOException {
    this.settings = requireNonNull(settings, "settings");
    requireNonNull(users, "users");
    this.database = requireNonNull(database, "database");
    String id = settings.nodeId();
    RaftSettings raft = settings.raft();
    SkipList skips = raft == null ? SkipList.NONE : SkipList.read(raft.directory());
    if (!skips.skips().isEmpty()) {
      LOG.warn("{}: commands of the log that it leaves out: {}", id, skips.skips());
    }
    replica = new Replica(id, database, settings.environment(), settings.levels(), skips, capacity);
    log = raft == null ? new MemoryLog(id, replica) : new RatisLog(raft, replica);
    supervision = new Supervision(id, replica::failed);
    warnIfShared(id, raft);
    replica.recordTo(openAudit(settings, log, supervision));
    SlowLog slow = new SlowLog(id, settings.slow(), Clock.systemUTC(), System::nanoTime);
    replica.reportSlow(slow);
    stuck =
        new StuckWatch(
            id,
            slow,
            replica::isLeading,
            () -> replica.state().lookAlone(ClusterState::copyLocks, () -> false),
            supervision,
            System::nanoTime);
    applyAlarm = new ApplyAlarm(id, replica.applying(), supervision);
    logClock = LogClock.of(id, raft == null ? Clock.systemUTC() : raft.clock(), log);
    replica.tellTime(logClock);
    pipeline =
        new CommandPipeline(
            log, logClock, ENTRY_BYTES, supervision, replica::refusal, replica::digest);
    timeKeeper = new TimeKeeper(id, pipeline, supervision, log::isAlone);
    verification =
        new Verification(id, replica, log, pipeline, supervision, settings.verifyInterval());
    NodeTls tls = settings.tls();
    methods = users.rules().methods();
    reload = new CredentialsReload(id, () -> refresh(tls, methods), supervision);
    dataKeys =
        raft == null
            ? null
            : DataKeysReload.begin(id, raft.keys(), log, replica.audit(), supervision);
    workers = new Workers(id, limits);
    Administration administration = new Administration(log, pipeline, verification, replica);
    service =
        new ClientService(
            id,
            replica,
            log,
            pipeline,
            timeKeeper,
            frontend,
            database,
            administration,
            workers,
            limits,
            access.apply(replica));
    replica.reportTo(this::forward);
    replica.addListener(timeKeeper);
    replica.addListener(service);
    replica.addListener(administration);
    replica.addListener(verification);
    leaders = new LeaderChanges(log);
    replica.addListener(leaders);
    replica.addListener(
        new LeaderDuties(
            id,
            replica,
            log,
            pipeline,
            workers,
            database.memory(),
            settings.environment(),
            users.firstAdministrator(),
            new Life()));
    lastWork = new LastWork(id, replica, log, pipeline, timeKeeper);
  }

  /**
   * A directory that was made by others may have rights that containers need: a warning is enough.
   */
  private static void warnIfShared(String id, @Nullable RaftSettings raft) throws IOException {
    if (raft == null) {
      return;
    }
    String rights = PrivateFiles.rightsOfOthers(raft.directory());
    if (rights != null) {
      LOG.warn(
          "{}: others may enter the data directory {} ({}), which has all data and all secrets:"
              + " chmod 700",
          id,
          raft.directory(),
          rights);
    }
  }

  private static void refresh(@Nullable NodeTls tls, LoginMethods methods) {
    if (tls != null) {
      tls.refresh();
    }
    methods.refresh();
  }

  private static AuditTrail openAudit(
      NodeSettings settings, ReplicatedLog log, Supervision supervision) throws IOException {
    AuditSettings audit = settings.audit();
    if (audit == null) {
      return AuditTrail.off();
    }
    RaftSettings raft = settings.raft();
    try {
      return AuditTrail.open(
          settings.nodeId(),
          audit,
          log.incarnation(),
          log.lastIndexOnDisk(),
          raft == null ? DataKeys.off() : raft.keys(),
          Clock.systemUTC(),
          () -> log.status().term(),
          supervision);
    } catch (IOException e) {
      log.close();
      throw new IOException(
          "the audit file " + audit.file() + " cannot be written: " + e.getMessage(), e);
    }
  }

  /**
   * Begins to take part in the log, and listens for clients.
   *
   * @throws IOException if a port is taken or the log cannot be read
   */
  public void start() throws IOException {
    frontend.warmUp();
    applyAlarm.start();
    timeKeeper.start();
    InetSocketAddress administer = settings.adminAddress();
    if (administer != null) {
      AdminAddress opened = openAdmin(administer);
      admin = opened;
      String url = opened.url(settings.clientAddress());
      if (url != null) {
        log.serveAdmin(url);
      }
    }
    InetSocketAddress listen = settings.listenAddress();
    if (listen != null) {
      server = listen(listen);
    }
    try {
      log.start();
    } catch (IOException | RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IOException("the log did not start", e);
    }
    if (!log.isAlone() && isMember()) {
      announce();
    }
    verification.start();
    stuck.start();
  }

  private ClientServer listen(InetSocketAddress address) throws IOException {
    NodeTls tls = settings.tls();
    CertificateDemand demand = tls == null ? null : tls.clients();
    return demand == null || tls == null
        ? service.listen(
            address, settings.maxConnections(), null, CertificateDemand.NONE, CertificateLogin.OFF)
        : service.listen(
            address, settings.maxConnections(), tls.credentials(), demand, tls.logins());
  }

  private AdminAddress openAdmin(InetSocketAddress address) throws IOException {
    NodeTls tls = settings.tls();
    String program = replica.version().program();
    return AdminAddress.open(
        new NodeParts(
            settings.nodeId(),
            program.isEmpty() ? "unknown" : program,
            replica,
            log,
            pipeline,
            timeKeeper,
            stuck,
            service,
            () -> {
              ClientServer running = server;
              return running == null ? ArrivalFigures.NONE : running.figures();
            },
            settings.maxConnections(),
            tls == null ? null : tls.credentials(),
            () -> stopping,
            supervision),
        leaders,
        address,
        tls == null ? null : tls.clients(),
        tls == null ? CertificateLogin.OFF : tls.logins(),
        AdminLimits.STANDARD,
        new ScriptPages(settings.nodeId(), replica, log, service, ScriptLimits.STANDARD).routes());
  }

  /** True if this node is a member. A node that was started to join the cluster is not one yet. */
  public boolean isMember() {
    return log.status().members().stream()
        .anyMatch(member -> member.nodeId().equals(settings.nodeId()));
  }

  /** Tells the cluster where clients reach this node, and how to recognize this node. */
  public void announce() {
    String address = clientAddress();
    if (address != null) {
      log.forward(new Command.AnnounceNode(settings.nodeId(), address, log.incarnation()))
          .exceptionally(
              failure -> {
                // a leader of an older version does not know the command: the next leader may
                CompletableFuture.delayedExecutor(ANNOUNCE_AGAIN_SECONDS, TimeUnit.SECONDS)
                    .execute(() -> announceAgain(failure));
                return null;
              });
    }
  }

  private void announceAgain(Throwable failure) {
    if (!ended.isDone()) {
      LOG.warn(
          "{}: tells the leader again where this node is, which it did not take note of: {}",
          settings.nodeId(),
          failure.toString());
      announce();
    }
  }

  /** Has the leader append a command of this node. */
  private void forward(Command command) {
    log.forward(command)
        .exceptionally(
            failure -> {
              LOG.info(
                  "{}: stopped before its {} was applied: {}",
                  settings.nodeId(),
                  command.getClass().getSimpleName(),
                  failure.toString());
              return null;
            });
  }

  /** Returns where clients reach this node: the configured address, or else where it listens. */
  private @Nullable String clientAddress() {
    InetSocketAddress listen = listenAddress();
    String stated = settings.clientAddress();
    return stated != null || listen == null
        ? stated
        : listen.getAddress().getHostAddress() + ":" + listen.getPort();
  }

  /** Where this node listens for clients, or null if it does not. */
  public @Nullable InetSocketAddress listenAddress() {
    ClientServer running = server;
    return running == null ? null : running.address();
  }

  /** Where this node serves metrics and health, or null if it does not. */
  public @Nullable InetSocketAddress adminAddress() {
    AdminAddress running = admin;
    return running == null ? null : running.address();
  }

  /** What the clocks of the cluster say, as this node knows them. */
  LogClock.Look clock() {
    return logClock.look();
  }

  /** What this node knows of the cluster. */
  public LogStatus status() {
    return log.status();
  }

  /**
   * True once this node can serve clients or redirect them, and is counted on. A leader first has
   * to apply all of its log, and a follower nearly all that the leader has committed: if another
   * node were stopped before that, no statement would be done until this one had caught up. The
   * cluster first has to know the data directory of a node that it can lose.
   */
  public boolean isReady() {
    String leader = log.leaderId();
    return replica.failure() == null
        && replica.applying().late() == null
        && log.diskHungMillis() == 0
        && !replica.isApart()
        && leader != null
        && (replica.isLeading() || !leader.equals(settings.nodeId()))
        && (log.isAlone() || clientAddress() == null || log.isKnown())
        && hasCaughtUp(leader);
  }

  private boolean hasCaughtUp(String leader) {
    if (leader.equals(settings.nodeId()) || log.isAlone()) {
      return true;
    }
    LogStatus status = log.status();
    long committed = status.leaderCommitIndex();
    return committed >= 0 && status.lastAppliedIndex() + LogStatus.CAUGHT_UP_ENTRIES >= committed;
  }

  /**
   * Waits until this node leads; returns false if the time is over first, or the node has failed.
   */
  boolean awaitLeadership(Duration within) throws InterruptedException {
    return leading.await(within.toMillis(), TimeUnit.MILLISECONDS) && failure() == null;
  }

  /** How many times this node has replaced its state by the leader's, because it differed. */
  int takenStates() {
    return replica.takenStates();
  }

  /** Why the node stopped serving, or null. */
  public @Nullable Throwable failure() {
    return replica.failure();
  }

  /** True if the node stopped because its Java runtime computes otherwise than its cluster. */
  public boolean isOnAnotherRuntime() {
    return failure() instanceof EnvironmentDiffersException;
  }

  /** Completes once the node is closed, or its replica has failed. */
  public CompletableFuture<@Nullable Void> ended() {
    return ended;
  }

  /** What client connections in this JVM talk to. */
  ClientService service() {
    return service;
  }

  /** For tests that have the state of this node for themselves. */
  Replica replica() {
    return replica;
  }

  /** For tests that take snapshots. */
  SnapshotStore snapshots() {
    return log.snapshots();
  }

  /** The data keys of this node, and what is encrypted with each. */
  List<KeyUse> keyUse() throws IOException {
    return log.keyUse();
  }

  /** For tests that propose commands of no client. */
  CommandPipeline pipeline() {
    return pipeline;
  }

  /** For tests that keep the threads for queries busy. */
  Workers workers() {
    return workers;
  }

  @Override
  public void close() {
    LOG.info("{}: stops", settings.nodeId());
    stopping = true;
    lastWork.resign();
    ClientServer running = server;
    if (running != null) {
      lastWork.drain(service, running);
    }
    closeAtOnce();
  }

  /** Closes without handing leadership over: for nodes whose whole cluster ends. */
  public void closeAtOnce() {
    stopping = true;
    ClientServer running = server;
    if (running != null) {
      running.close();
    }
    verification.close();
    stuck.close();
    applyAlarm.close();
    lastWork.recordLeases();
    if (settings.raft() != null) {
      lastWork.keepStatements();
    }
    AdminAddress administered = admin;
    if (administered != null) {
      administered.close();
    }
    log.close();
    replica.close();
    replica.audit().close();
    timeKeeper.close();
    workers.close();
    reload.close();
    if (dataKeys != null) {
      dataKeys.close();
    }
    methods.close();
    database.close();
    ended.complete(null);
  }

  private final class Life implements LeaderDuties.Observer {
    @Override
    public void leads() {
      leading.countDown();
      if (log.isAlone()) {
        announce();
      }
    }

    @Override
    public void failed() {
      leading.countDown();
      ended.complete(null);
    }
  }
}
