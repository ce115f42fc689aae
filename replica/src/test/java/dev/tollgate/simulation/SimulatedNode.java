package dev.tollgate.simulation;

import dev.tollgate.core.Capacity;
import dev.tollgate.core.Session;
import dev.tollgate.core.Transaction;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.UserAccount;
import dev.tollgate.core.command.UserName;
import dev.tollgate.log.CommandPipeline;
import dev.tollgate.log.LogClock;
import dev.tollgate.log.LogConsumer;
import dev.tollgate.log.SkipList;
import dev.tollgate.log.Supervision;
import dev.tollgate.log.entry.EntryBytes;
import dev.tollgate.log.entry.Proposal;
import dev.tollgate.node.client.Administration;
import dev.tollgate.node.client.AuthenticationListener;
import dev.tollgate.node.client.ClientAccess;
import dev.tollgate.node.client.ClientConnection;
import dev.tollgate.node.client.ClientLimits;
import dev.tollgate.node.client.ClientService;
import dev.tollgate.node.client.ReplicatedUsers;
import dev.tollgate.node.client.Upgrades;
import dev.tollgate.node.client.Workers;
import dev.tollgate.node.replica.Replica;
import dev.tollgate.node.replica.SteppedTimeKeeper;
import dev.tollgate.node.replica.Verification;
import dev.tollgate.sql.SqlFrontend;
import dev.tollgate.sql.SqlRefused;
import dev.tollgate.store.Damage;
import dev.tollgate.store.LocalEnvironment;
import dev.tollgate.store.SqlDatabase;
import dev.tollgate.wire.Frame;
import dev.tollgate.wire.PasswordVerifier;
import dev.tollgate.wire.Request;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One node: its disk stays, its process comes and goes. Everything above the log is the product's
 * own; the threads of its time keeper and of its queries are steps of the simulation.
 */
final class SimulatedNode {
  /** Plans depend on nothing but their text; all are made before, so that runs are alike. */
  private static final SqlFrontend FRONTEND = planned();

  private static final UserAccount FIRST_USER =
      new UserAccount(
          new UserName(Op.ROOT),
          /* administrator= */ true,
          List.of(
              PasswordVerifier.of("root", new byte[16], PasswordVerifier.MIN_ITERATIONS).text()));

  static final long WALL_START_MICROS = 1_767_225_600_000_000L;

  private final Simulation simulation;

  /** Readings of the clock of a node count for ten seconds. */
  private static final long CLOCK_REMEMBERED_NANOS = World.millis(12_000);

  private final World world;
  private final String id;
  private final Disk disk = new Disk();
  private final int snapshotEvery;
  private final int entryBytes;
  private final double clockRate;
  private long wallJumpMicros;

  /** By how much the clock was ahead before it was set, by when that was. */
  private final TreeMap<Long, Long> clocksBefore = new TreeMap<>();

  private long pausedUntil;
  private int incarnation;

  /** Of the version that is installed. */
  private int knownLevel = Levels.EARLIER;

  /** Of the version that runs, or ran last. */
  private int runningLevel = Levels.EARLIER;

  private @Nullable Running process;
  private boolean serving;
  private boolean servingHeartbeat;
  private @Nullable List<String> others;
  private int leaderships;

  /** What is gone with the process. */
  private final class Running {
    final SqlDatabase database = new SqlDatabase();
    final Replica replica =
        new Replica(
            id,
            database,
            LocalEnvironment::get,
            Levels.of(knownLevel),
            SkipList.NONE,
            Capacity.STANDARD);
    final SimulatedLog log;
    final CommandPipeline pipeline;
    final SteppedTimeKeeper time;
    final Administration administration;
    final ClientService service;

    Running() {
      LogConsumer consumer =
          BrokenConsumer.around(
              replica, breakage(), SimulatedNode.this::wallMicros, simulation.receipts());
      log = new SimulatedLog(SimulatedNode.this, disk, consumer, snapshotEvery);
      Supervision supervision = new Supervision(id, replica::failed);
      LogClock clock =
          new LogClock(id, wallClock(), SimulatedNode.this::monotonicNanos, log::clocks);
      replica.tellTime(clock);
      pipeline =
          new CommandPipeline(
              log,
              clock,
              entryBytes,
              supervision,
              breakage() == Breakage.COMMAND_BEFORE_ITS_LEVEL ? any -> null : replica::refusal,
              replica::digest);
      time = new SteppedTimeKeeper(id, pipeline, supervision, SimulatedNode.this::monotonicNanos);
      administration =
          new Administration(
              log,
              pipeline,
              new Verification(id, replica, log, pipeline, supervision, Duration.ZERO),
              replica);
      service =
          new ClientService(
              id,
              replica,
              log,
              pipeline,
              time.keeper(),
              FRONTEND,
              database,
              administration,
              Workers.on(task -> later(world.between(20_000, 200_000), task)),
              ClientLimits.STANDARD,
              access(replica));
      replica.addListener(time.keeper());
      replica.addListener(service);
      replica.addListener(administration);
      replica.addListener(simulation.listener(SimulatedNode.this));
      if (breakage() == Breakage.NEW_LEADER_GIVES_NO_TIME) {
        replica.addListener(new ImpatientLeader(pipeline, SimulatedNode.this::wallMicros));
      }
    }

    void close() {
      log.close();
      database.close();
    }
  }

  SimulatedNode(Simulation simulation, String id) {
    this.simulation = simulation;
    this.world = simulation.world();
    this.id = id;
    this.snapshotEvery = 30 + world.random.nextInt(200);
    this.entryBytes = world.chance(0.3) ? 100 + world.random.nextInt(400) : 2 << 20;
    this.clockRate = 1 + (world.random.nextDouble() - 0.5) * 2 * Simulation.DRIFT;
    this.wallJumpMicros = world.random.nextInt(2_000_000);
  }

  private static SqlFrontend planned() {
    SqlFrontend frontend = new SqlFrontend(1_000);
    try {
      for (String sql : Op.everySql()) {
        frontend.plan(sql);
      }
    } catch (SqlRefused e) {
      throw new IllegalStateException("a statement of the simulation is refused", e);
    }
    return frontend;
  }

  String id() {
    return id;
  }

  World world() {
    return world;
  }

  Breakage breakage() {
    return simulation.breakage();
  }

  List<String> others() {
    List<String> known = others;
    if (known == null) {
      known = List.copyOf(simulation.nodesBut(id));
      others = known;
    }
    return known;
  }

  long electionNanos() {
    return simulation.electionNanos();
  }

  long monotonicNanos() {
    return (long) (world.now() * clockRate) + 1;
  }

  long wallMicros() {
    return WALL_START_MICROS + world.now() / 1_000 + wallJumpMicros;
  }

  void jumpWallClock(long micros) {
    clocksBefore.put(world.now(), wallJumpMicros);
    wallJumpMicros += micros;
  }

  private Instant wallInstant() {
    return Instant.EPOCH.plus(wallMicros(), ChronoUnit.MICROS);
  }

  Clock wallClock() {
    return ((InstantSource) this::wallInstant).withZone(ZoneOffset.UTC);
  }

  /** True if the clock of this node says about this time, or did when others may have read it. */
  boolean saysAbout(long micros, long boundMicros) {
    long real = WALL_START_MICROS + world.now() / 1_000;
    return Math.abs(real + wallJumpMicros - micros) <= boundMicros
        || clocksBefore.tailMap(world.now() - CLOCK_REMEMBERED_NANOS).values().stream()
            .anyMatch(before -> Math.abs(real + before - micros) <= boundMicros);
  }

  boolean isUp() {
    return process != null;
  }

  /**
   * What an operator asks this node for, who is told when it is done; a node that does not lead
   * refuses.
   */
  void submit(Command command, Runnable done) {
    Running running = process;
    if (running == null || (simulation.upgradesNodes() && !Levels.knows(runningLevel, command))) {
      return;
    }
    running.pipeline.submit(
        command,
        new Proposal.Listener() {
          @Override
          public void applied(Outcome outcome) {
            done.run();
          }

          @Override
          public void unknown() {}
        });
  }

  /** CALL upgrade_cluster() at this node, which has an effect only at the leader. */
  void upgradeCluster() {
    Running running = process;
    if (running != null && running.log.leads()) {
      Upgrades.call(running.administration)
          .whenComplete(
              (raised, failure) ->
                  world.count(failure == null ? "upgrades called" : "upgrades refused"));
    }
  }

  /** Installs the later version, with which the node is started again. */
  void install() {
    knownLevel = Levels.LATER;
  }

  boolean isPaused() {
    return world.now() < pausedUntil;
  }

  int incarnation() {
    return incarnation;
  }

  long pausedUntil() {
    return pausedUntil;
  }

  void pause(long nanos) {
    pausedUntil = Math.max(pausedUntil, world.now() + nanos);
  }

  void start() {
    if (process != null) {
      return;
    }
    world.tell(() -> id + " starts");
    incarnation++;
    pausedUntil = 0;
    runningLevel = knownLevel;
    Running fresh = new Running();
    process = fresh;
    fresh.log.start();
    fresh.log.forward(new Command.AnnounceNode(id, addressOf(id)));
  }

  static String addressOf(String node) {
    return node + ":7400";
  }

  /** The time keeper of a node that does not lead has nothing to do. */
  private void tick(int leadership) {
    if (leads() && leadership == leaderships) {
      running().time.tick();
      later(world.between(World.millis(50), World.millis(60)), () -> tick(leadership));
    }
  }

  /** The process is gone at once; of what was not synced a part may be on the disk. */
  void crash() {
    Running gone = process;
    if (gone != null) {
      world.tell(() -> id + " crashes");
      process = null;
      incarnation++;
      simulation.checker().departures().disconnectedAll(id);
      gone.close();
      long keep =
          disk.synced + (long) (world.random.nextDouble() * (disk.lastIndex() - disk.synced));
      if (keep < disk.lastIndex()) {
        disk.truncateFrom(Math.max(keep + 1, disk.firstIndex()));
      }
      disk.synced = disk.lastIndex();
    }
  }

  /** Does something in this process after a while, or when a pause ends; never after a crash. */
  void later(long nanos, Runnable action) {
    int now = incarnation;
    world.after(nanos, () -> runIn(now, action));
  }

  private void runIn(int wanted, Runnable action) {
    if (incarnation == wanted && process != null) {
      if (isPaused()) {
        world.after(pausedUntil - world.now(), () -> runIn(wanted, action));
      } else {
        action.run();
      }
    }
  }

  /** Sends a message to the log of another node. */
  void send(String to, Consumer<SimulatedLog> message) {
    SimulatedNode target = simulation.node(to);
    int level = runningLevel;
    simulation
        .network()
        .send(
            id,
            to,
            () ->
                target.runIn(
                    target.incarnation,
                    () -> {
                      target.log().hearVersion(id, level);
                      message.accept(target.log());
                    }));
  }

  /** Answers another node, and says what the clock of this node says. */
  void answer(String to, Consumer<SimulatedLog> message) {
    long wall = wallMicros();
    long began = simulation.node(to).monotonicNanos();
    send(
        to,
        log -> {
          log.hearClock(id, wall, began);
          message.accept(log);
        });
  }

  SimulatedLog log() {
    return running().log;
  }

  Replica replica() {
    return running().replica;
  }

  SqlDatabase database() {
    return running().database;
  }

  private Running running() {
    Running now = process;
    if (now == null) {
      throw new IllegalStateException(id + " is down");
    }
    return now;
  }

  boolean leads() {
    return process != null && process.log.leads();
  }

  ClientConnection accept(ClientConnection.Link link) {
    return running().service.connect(link);
  }

  /** {@link Breakage#ONE_CONNECTION_IS_ALL} and {@link Breakage#RETURN_OF_PROCESS_IGNORED}. */
  void endTransaction(long session, long delayNanos) {
    later(
        delayNanos,
        () -> {
          Transaction open =
              running()
                  .replica
                  .state()
                  .look(
                      state -> {
                        Session found = state.session(new SessionId(session));
                        return found == null ? null : found.transaction();
                      });
          if (open != null) {
            submit(
                new Command.AbortTransaction(
                    open.session(), open.id(), Command.AbortReason.CLIENT_GONE),
                () -> {});
          }
        });
  }

  /** {@link Breakage#NEW_LEADER_HEARS_NOBODY}. */
  private void endTransactions(int leadership) {
    if (leads() && leadership == leaderships) {
      List<Long> sessions =
          replica()
              .state()
              .look(
                  state ->
                      state.transactions().stream().map(open -> open.session().value()).toList());
      sessions.forEach(session -> endTransaction(session, 0));
    }
  }

  /** Hands a frame over. */
  void serve(ClientConnection connection, Frame frame) {
    serving = true;
    servingHeartbeat = frame.type() == 0x0A;
    noteRenewals(Request.read(frame));
    if (leads() && simulation.isDeposed(this)) {
      world.count("requests to deposed leaders");
    }
    Frame taken =
        breakage() == Breakage.FENCE_CHECKED_ON_RECEIPT
            ? FenceOnReceipt.checked(frame, running().replica)
            : frame;
    connection.receive(taken);
    serving = false;
  }

  private void noteRenewals(Request request) {
    Departures departures = simulation.checker().departures();
    if (request instanceof Request.AttachSession attach && leads()) {
      departures.sign(attach.sessionId(), id);
    } else if (request instanceof Request.Heartbeat heartbeat) {
      if (leads()) {
        heartbeat.sessions().forEach(session -> departures.sign(session, id));
      }
      simulation.checker().touched(heartbeat.sessions(), heartbeat.leases());
    } else if (request instanceof Request.Execute execute
        && execute.sql().contains("renew_lease")) {
      simulation.checker().touched(List.of(), List.of(Op.firstNumber(execute)));
    }
  }

  /** True if this node is broken so that it takes its leadership for granted. */
  boolean skipsProof() {
    return switch (breakage()) {
      case RENEWAL_WITHOUT_BARRIER -> serving && servingHeartbeat;
      case READ_WITHOUT_BARRIER -> !serving || !servingHeartbeat;
      default -> false;
    };
  }

  private ClientAccess access(Replica replica) {
    ReplicatedUsers users = new ReplicatedUsers(replica.facts(), simulation.hasUsers());
    return new ClientAccess(
        users, users, AuthenticationListener.NOBODY, SimulatedNode.this::monotonicNanos);
  }

  /** As a leader whose operator has named an administrator. */
  private void createFirstUser(int leadership) {
    if (leads() && leadership == leaderships && !replica().facts().hasUsers()) {
      submit(new Command.CreateFirstUser(FIRST_USER), () -> {});
    }
  }

  void startsLeading() {
    simulation.disturbed();
    long term = log().term();
    world.tell(() -> id + " leads in term " + term);
    simulation.checker().departures().beginsToLead(id);
    int leadership = ++leaderships;
    if (breakage() == Breakage.NEW_LEADER_HEARS_NOBODY) {
      later(World.millis(Limits.SHOW_PATIENCE_MILLIS * 21 / 20), () -> endTransactions(leadership));
    }
    later(world.between(0, World.millis(60)), () -> tick(leadership));
    if (simulation.hasUsers()) {
      later(world.between(20_000, 200_000), () -> createFirstUser(leadership));
    }
  }

  void proposes(byte[] entry) {
    simulation.checker().times().stamped(this, EntryBytes.read(entry).stampMicros());
  }

  void applies(long index, Disk.LogEntry entry) {
    if (simulation.upgradesNodes()) {
      Levels.requireKnown(id, runningLevel, entry.bytes());
    }
    simulation.checker().applies(id, index, entry);
  }

  void applied(long index) {
    simulation.checker().applied(this, index);
    if (breakage() == Breakage.ROW_CHANGES_BEHIND_ITS_BACK && !leads() && index % 64 == 0) {
      changeRow();
    }
  }

  private void changeRow() {
    try {
      Damage.run(database(), "UPDATE R SET N = N + 1000");
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  void restored(long index) {
    simulation.checker().times().restored(id);
    simulation.checker().restored(this, index);
  }

  void close() {
    if (process != null) {
      process.close();
    }
  }
}
