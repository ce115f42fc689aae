package dev.tollgate.simulation;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import dev.tollgate.core.ClusterState;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.Notice;
import dev.tollgate.core.command.TransactionLimits;
import dev.tollgate.log.LogClock;
import dev.tollgate.node.replica.Replica;
import dev.tollgate.wire.Protocol;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** A run: a cluster is set up, works while things go wrong, is healed, and has to agree. */
final class Simulation {
  /** Monotonic clocks go wrong by two parts in ten thousand at most. */
  static final double DRIFT = 2e-4;

  static final long SET_UP = World.millis(10_000);

  /** What a run is to be like. */
  record Settings(
      long seed, Workload workload, long faultyMillis, Breakage breakage, long maxStatements) {
    static Settings of(long seed, Workload workload, long faultyMillis, Breakage breakage) {
      return new Settings(seed, workload, faultyMillis, breakage, Long.MAX_VALUE);
    }

    Settings withAtMost(long statements) {
      return new Settings(seed, workload, faultyMillis, breakage, statements);
    }
  }

  /** How a run went. */
  record Result(
      @Nullable Violation violation,
      long simulatedNanos,
      int faults,
      long checks,
      long digest,
      long refusedWrites,
      long refusedBySessionFence,
      Map<String, Long> counts,
      List<String> trace) {}

  private final Settings settings;
  private final World world;
  private final Network network;
  private final Checker checker;
  private final RightsOnReceipt receipts = new RightsOnReceipt();
  private final Map<Op.Kind, Integer> turns = new EnumMap<>(Op.Kind.class);
  private final Map<String, SimulatedNode> nodes = new TreeMap<>();
  private final Map<String, SimulatedProcess> processes = new TreeMap<>();
  private final List<Connection> connections = new ArrayList<>();
  private final long thinkNanos;
  private final long electionNanos;
  private long lastValue;
  private long begun;
  private int lastProcess;
  private boolean setUp;
  private boolean finishing;
  private long undisturbedSince;

  private Simulation(Settings settings) {
    this.settings = settings;
    world = new World(settings.seed());
    network = new Network(world);
    thinkNanos = World.millis(settings.workload().thinkMillis(world.random));
    electionNanos = World.millis(settings.workload().electionMillis(world.random));
    checker = new Checker(this);
    int size = world.chance(0.75) ? 3 : 5;
    for (int i = 1; i <= size; i++) {
      nodes.put("n" + i, new SimulatedNode(this, "n" + i));
    }
  }

  static Result run(Settings settings) {
    return run(settings, Faults.plan(settings));
  }

  static Result run(Settings settings, List<Faults.Fault> plan) {
    Simulation simulation = new Simulation(settings);
    Violation violation = null;
    try (Errors errors = new Errors()) {
      simulation.run(plan, errors);
    } catch (Violation e) {
      violation = e;
    } catch (RuntimeException e) {
      violation = new Violation("unexpected", e);
    } finally {
      simulation.nodes.values().forEach(SimulatedNode::close);
    }
    World world = simulation.world;
    return new Result(
        violation,
        world.now(),
        plan.size(),
        simulation.checker.checks(),
        world.digest(),
        simulation.checker.model().refusedWrites,
        simulation.checker.model().refusedBySessionFence,
        world.counts(),
        violation == null ? List.of() : world.trace());
  }

  private void run(List<Faults.Fault> plan, Errors errors) {
    nodes.values().forEach(SimulatedNode::start);
    world.after(
        World.millis(2_000),
        () -> new SimulatedSession(this, process(), setUpStatements()).start());
    advance(SET_UP, errors);
    if (!setUp) {
      throw new Violation("progress", "the tables were not made within " + SET_UP / 1e9 + " s");
    }
    int clients = 2 + world.random.nextInt(3);
    for (int i = 0; i < clients; i++) {
      process().start();
    }
    administer();
    resetTime();
    upgrade();
    openSpareSession();
    plan.forEach(fault -> world.after(fault.atNanos() - world.now(), () -> inject(fault)));
    long healed = SET_UP + World.millis(settings.faultyMillis());
    for (long at = SET_UP; at < healed; at += World.millis(500)) {
      advance(at, errors);
      watchExpiry();
    }
    advance(healed, errors);
    heal();
    long answers = world.counted("answers");
    long end = healed + World.millis(settings.workload().healingMillis());
    for (long at = healed; at < end; at += World.millis(500)) {
      advance(at, errors);
      watchExpiry();
    }
    if (world.counted("answers") == answers && begun < settings.maxStatements()) {
      throw new Violation("progress", "nothing was answered after all was healed");
    }
    finish(errors);
  }

  /**
   * Has an operator set the limits of transactions now and then. Not where another bug than of
   * these is looked for: an entry more moves all that follows, and with it the seeds that find one.
   */
  private void administer() {
    Breakage breakage = settings.breakage();
    if (breakage != Breakage.NONE
        && breakage != Breakage.TRANSACTION_LIMITS_FORGOTTEN
        && !upgradesNodes()) {
      return;
    }
    Random random = new Random(settings.seed() * 37 + 11);
    long end = World.millis(settings.faultyMillis());
    for (long at = 0; at < end; at += World.millis(2_000 + random.nextInt(6_000))) {
      TransactionLimits limits =
          new TransactionLimits(
              Limits.TRANSACTION_LIMIT_MIN_MILLIS + random.nextInt(1_000_000),
              Limits.TRANSACTION_LIMIT_MIN_MILLIS + random.nextInt(100_000));
      world.after(
          at,
          () -> {
            List<SimulatedNode> up = nodes.values().stream().filter(SimulatedNode::isUp).toList();
            up.forEach(node -> node.submit(new Command.LimitTransactions(limits), this::limitsSet));
          });
    }
  }

  /**
   * Has what sets the clocks of all nodes be wrong now and then, and an operator set the time of
   * the log back. Like {@link #administer}, not where another bug is looked for.
   */
  private void resetTime() {
    Breakage breakage = settings.breakage();
    if (breakage != Breakage.NONE && breakage != Breakage.RESET_OF_TIME_IGNORED) {
      return;
    }
    Random random = new Random(settings.seed() * 43 + 5);
    long end = World.millis(settings.faultyMillis());
    for (long at = 0; at < end; at += World.millis(500 + random.nextInt(4_000))) {
      world.after(
          at,
          () ->
              nodes.values().stream()
                  .filter(SimulatedNode::isUp)
                  .forEach(node -> node.submit(new Command.ResetLogTime(), () -> {})));
    }
    for (long at = 0; at < end; at += World.millis(10_000 + random.nextInt(20_000))) {
      long micros = (random.nextInt(7_200_000) - 3_600_000) * 1_000L;
      long lasts = World.millis(1_000 + random.nextInt(8_000));
      world.after(at, () -> nodes.values().forEach(node -> node.jumpWallClock(micros)));
      world.after(at + lasts, () -> nodes.values().forEach(node -> node.jumpWallClock(-micros)));
    }
  }

  /** True if about this is what the clocks of a majority say, or did just now. */
  boolean isTimeOfMajority(long micros, long boundMicros) {
    long near = nodes.values().stream().filter(node -> node.saysAbout(micros, boundMicros)).count();
    return 2 * near > nodes.size();
  }

  /**
   * Has an operator install the later version on one node after the other, and raise the feature
   * level again and again. Setting limits is what the later version brings.
   */
  private void upgrade() {
    if (!upgradesNodes()) {
      return;
    }
    Random random = new Random(settings.seed() * 41 + 7);
    int last = (int) settings.faultyMillis() / 2;
    for (SimulatedNode node : nodes.values()) {
      world.after(
          World.millis(random.nextInt(last)),
          () -> {
            node.install();
            crash(node, World.millis(200));
          });
    }
    for (long at = 0; at < 2L * last; at += 500 + random.nextInt(2_000)) {
      world.after(World.millis(at), () -> nodes.values().forEach(SimulatedNode::upgradeCluster));
    }
  }

  /** Whether nodes begin with an earlier version, and are upgraded one after the other. */
  boolean upgradesNodes() {
    return switch (settings.breakage()) {
      case NONE -> settings.seed() % 5 == 1;
      case LEVEL_OF_MEMBERS_UNCHECKED, COMMAND_BEFORE_ITS_LEVEL, FEATURE_LEVEL_FORGOTTEN -> true;
      default -> false;
    };
  }

  /**
   * Whether sessions are fenced and definitions come between other writes. Like {@link
   * #administer}, not where another bug is looked for.
   */
  boolean fencesSessions() {
    return switch (settings.breakage()) {
      case NONE, SESSION_FENCE_FORGOTTEN, DEFINITIONS_NOT_FENCED -> true;
      default -> false;
    };
  }

  /** The time zone of sessions. Like {@link #administer}, UTC where another bug is looked for. */
  String timeZone() {
    return switch (settings.breakage()) {
      case NONE, TIME_ZONE_FORGOTTEN -> "UTC+05:45";
      default -> Protocol.UTC;
    };
  }

  /** Whether locks have permits, are asked for together, kept and handed over. */
  boolean usesLockKinds() {
    return switch (settings.breakage()) {
      case NONE,
          PERMIT_COUNTED_TWICE,
          SET_GRANTED_IN_PART,
          KEEP_ENDS_EARLY,
          TRANSACTION_LOCK_OUTLIVES_ROLLBACK,
          ONE_CONNECTION_IS_ALL,
          RETURN_OF_PROCESS_IGNORED,
          NEW_LEADER_HEARS_NOBODY ->
          true;
      default -> false;
    };
  }

  /**
   * Whether nodes see processes end, and end their transactions. Like {@link #administer}, not
   * where another bug is looked for.
   */
  boolean seesProcessesEnd() {
    return switch (settings.breakage()) {
      case NONE, ONE_CONNECTION_IS_ALL, RETURN_OF_PROCESS_IGNORED, NEW_LEADER_HEARS_NOBODY -> true;
      default -> false;
    };
  }

  /** Whether there are more transactions than elsewhere, for bugs that concern nothing else. */
  boolean looksForTransactions() {
    return switch (settings.breakage()) {
      case ONE_CONNECTION_IS_ALL, RETURN_OF_PROCESS_IGNORED, NEW_LEADER_HEARS_NOBODY -> true;
      default -> false;
    };
  }

  /** Whether several statements are sent as one command. */
  boolean usesSeries() {
    return switch (settings.breakage()) {
      case NONE,
          SERIES_UNDER_NEW_NUMBER,
          SERIES_FENCED_BY_ITS_FIRST,
          SERIES_GOES_ON_AFTER_FAILURE,
          SERIES_NOT_COMMITTED,
          MARK_WITHOUT_DEFINITION,
          DEFINITION_WITHOUT_MARK ->
          true;
      default -> false;
    };
  }

  /** Whether clients log in. In part of the runs of the product as it is, there are no users. */
  boolean hasUsers() {
    return switch (settings.breakage()) {
      case NONE -> settings.seed() % 2 == 0;
      case RIGHTS_CHECKED_ON_RECEIPT,
          DROPPED_USER_KEEPS_LOCKS,
          REVOKE_SPARES_WAITS,
          RIGHTS_FORGOTTEN,
          WORK_LIMITS_FORGOTTEN,
          CLOSED_ACCOUNTS_FORGOTTEN,
          LOCKED_USER_KEEPS_SESSIONS,
          EXPIRY_OF_USER_IGNORED,
          GRANT_COUNTS_FOR_ALL ->
          true;
      default -> false;
    };
  }

  private List<String> setUpStatements() {
    List<String> all = new ArrayList<>(Op.setUp());
    if (hasUsers()) {
      all.addAll(Op.setUpUsers());
    }
    return all;
  }

  /** A session that no client uses, for bugs that act on behalf of an administrator. */
  private void openSpareSession() {
    Breakage breakage = settings.breakage();
    if (breakage == Breakage.RIGHTS_CHECKED_ON_RECEIPT
        || breakage == Breakage.DROPPED_USER_KEEPS_LOCKS) {
      nodes.values().forEach(node -> node.submit(BrokenRights.openSpareSession(), () -> {}));
    }
  }

  private void limitsSet() {
    world.count("limits set");
  }

  private void advance(long untilNanos, Errors errors) {
    world.runUntil(untilNanos);
    errors.requireNone();
  }

  private void finish(Errors errors) {
    finishing = true;
    advance(world.now() + World.millis(10_000), errors);
    processes.values().forEach(SimulatedProcess::die);
    // what they kept alive ends, and then nothing happens any more
    advance(world.now() + World.millis(settings.workload().endMillis()), errors);
    checker.model().users().counts().forEach(world::count);
    long last = checker.model().index();
    for (SimulatedNode node : nodes.values()) {
      if (node.log().applied() < last) {
        throw new Violation(
            "progress", node.id() + " has applied " + node.log().applied() + " of " + last);
      }
      checker.checkTables(node, Long.MAX_VALUE);
      node.replica().state().look(state -> state.sessions().size());
    }
  }

  /**
   * True every so many calls, for what is too seldom to draw. There are few lock managers, and not
   * for long: they lose no wait with a right.
   */
  boolean isTurnOf(Op.Kind kind, int every) {
    return turns.merge(kind, 1, Integer::sum) % every == 0;
  }

  RightsOnReceipt receipts() {
    return receipts;
  }

  private void watchExpiry() {
    boolean well =
        nodes.values().stream().anyMatch(node -> node.leads() && !node.isPaused())
            && !network.isDisturbed()
            && nodes.values().stream().allMatch(node -> node.isUp() && !node.isPaused());
    if (!well) {
      undisturbedSince = world.now();
    }
    checker.checkExpiry(undisturbedSince);
  }

  /** Something has happened that may cost an election. */
  void disturbed() {
    undisturbedSince = world.now();
  }

  private SimulatedProcess process() {
    String name = "c" + ++lastProcess;
    SimulatedProcess process = new SimulatedProcess(this, name);
    processes.put(name, process);
    return process;
  }

  private void heal() {
    world.tell(() -> "all is healed");
    disturbed();
    for (SimulatedNode node : nodes.values()) {
      node.start();
    }
  }

  private void inject(Faults.Fault fault) {
    world.count("fault " + fault.kind());
    world.tell(() -> "fault " + fault);
    disturbed();
    long lasts = fault.lastsNanos();
    List<SimulatedNode> all = List.copyOf(nodes.values());
    SimulatedNode any = all.get(fault.dice() % all.size());
    SimulatedNode leader = all.stream().filter(SimulatedNode::leads).findFirst().orElse(any);
    List<SimulatedProcess> clients =
        processes.values().stream().filter(SimulatedProcess::isAlive).toList();
    // when all are dead, nothing happens to one of the dead
    List<SimulatedProcess> victims = clients.isEmpty() ? List.copyOf(processes.values()) : clients;
    SimulatedProcess client = victims.get(fault.dice() % victims.size());
    switch (fault.kind()) {
      case CRASH_NODE -> crash(any, lasts);
      case CRASH_LEADER -> crash(leader, lasts);
      case CRASH_ALL -> all.forEach(node -> crash(node, world.between(lasts / 10, 2 * lasts)));
      case PAUSE_NODE -> pause(any, lasts);
      case PAUSE_LEADER -> pause(leader, lasts);
      case ISOLATE_NODE -> block(List.of(any.id()), everybodyBut(any.id()), true, lasts);
      case ISOLATE_LEADER_FROM_NODES -> {
        List<String> away = nodesBut(leader.id());
        clients.stream().filter(one -> world.chance(0.5)).forEach(one -> away.add(one.name()));
        block(List.of(leader.id()), away, true, World.millis(3_000) + lasts);
        // some clients look for another leader, and others stay with this one
        connections.stream()
            .filter(connection -> connection.isOpen() && away.contains(connection.clientName()))
            .toList()
            .forEach(Connection::reset);
      }
      case ONE_WAY -> block(List.of(any.id()), nodesBut(any.id()), false, lasts);
      case SPLIT -> split(fault.dice(), lasts);
      case CUT_CLIENT -> block(List.of(client.name()), nodesBut(""), true, lasts);
      case LOSSY -> {
        network.loss = 0.3;
        network.duplication = 0.2;
        later(
            lasts,
            () -> {
              network.loss = 0;
              network.duplication = 0;
            });
      }
      case SLOW -> {
        network.extraDelayNanos = World.millis(20 + fault.dice() % 400);
        later(lasts, () -> network.extraDelayNanos = 0);
      }
      case JUMP_CLOCK -> any.jumpWallClock((fault.dice() % 7_200_000 - 3_600_000) * 1_000L);
      case RESET_CONNECTIONS ->
          connections.stream().filter(Connection::isOpen).toList().forEach(Connection::reset);
      case PAUSE_CLIENT -> client.pause(lasts);
      case CRASH_CLIENT -> {
        if (client.isAlive()) {
          client.die();
          // a process ends alone, or with its host, which says nothing more
          if (seesProcessesEnd() && fault.dice() % 4 != 0) {
            connections.stream()
                .filter(connection -> connection.clientName().equals(client.name()))
                .filter(Connection::isOpen)
                .toList()
                .forEach(Connection::endWithProcess);
          }
          later(lasts, () -> process().start());
        }
      }
    }
    connections.removeIf(connection -> !connection.isOpen());
  }

  private void later(long nanos, Runnable end) {
    world.after(
        nanos,
        () -> {
          disturbed();
          end.run();
        });
  }

  private void crash(SimulatedNode node, long lasts) {
    node.crash();
    later(lasts, node::start);
  }

  private void pause(SimulatedNode node, long lasts) {
    node.pause(lasts);
    later(lasts, () -> {});
  }

  private void block(List<String> from, List<String> to, boolean both, long lasts) {
    Set<String> pairs = Network.pairs(from, to);
    if (both) {
      pairs.addAll(Network.pairs(to, from));
    }
    network.block(pairs);
    later(lasts, () -> network.unblock(pairs));
  }

  /** A minority on one side, the others and each client on one or the other. */
  private void split(int dice, long lasts) {
    List<String> left = new ArrayList<>();
    List<String> right = new ArrayList<>();
    List<String> everybody = new ArrayList<>(nodes.keySet());
    everybody.addAll(processes.keySet());
    for (int i = 0; i < everybody.size(); i++) {
      ((dice >> i % 30 & 1) == 0 ? left : right).add(everybody.get(i));
    }
    block(left, right, true, lasts);
  }

  /** The states of the other nodes, as text. */
  String describeOthers(SimulatedNode node) {
    return nodes.values().stream()
        .filter(other -> other != node && other.isUp())
        .map(
            other ->
                "\n"
                    + other.id()
                    + " after entry "
                    + other.log().applied()
                    + other.replica().state().look(StateDigest::describe))
        .collect(Collectors.joining());
  }

  private List<String> everybodyBut(String node) {
    List<String> all = nodesBut(node);
    all.addAll(processes.keySet());
    return all;
  }

  /** Node ids in order, without this one. */
  List<String> nodesBut(String id) {
    List<String> others = new ArrayList<>(nodes.keySet());
    others.remove(id);
    return others;
  }

  /** True if another node leads in a later term. */
  boolean isDeposed(SimulatedNode node) {
    return nodes.values().stream()
        .anyMatch(other -> other.leads() && other.log().term() > node.log().term());
  }

  Connection connect(SimulatedProcess client, SimulatedNode node, Connection.Owner owner) {
    Connection connection = new Connection(this, client, node, owner);
    connections.add(connection);
    return connection;
  }

  /** Counts the statements of workers, and says when there were enough. */
  boolean mayBegin() {
    if (setUp && (finishing || begun >= settings.maxStatements())) {
      return false;
    }
    begun++;
    return true;
  }

  boolean hasWork() {
    return processes.size() > 1;
  }

  void isSetUp() {
    setUp = true;
  }

  long nextValue() {
    return ++lastValue;
  }

  long thinkNanos() {
    return thinkNanos;
  }

  /** The shortest silence after which a leader is replaced. */
  long electionNanos() {
    return electionNanos;
  }

  Workload workload() {
    return settings.workload();
  }

  World world() {
    return world;
  }

  Network network() {
    return network;
  }

  Checker checker() {
    return checker;
  }

  Breakage breakage() {
    return settings.breakage();
  }

  SimulatedNode node(String id) {
    SimulatedNode node = nodes.get(id);
    if (node == null) {
      throw new IllegalArgumentException("no node " + id);
    }
    return node;
  }

  /** A replica that stops has found its state broken. */
  Replica.Listener listener(SimulatedNode node) {
    return new Replica.Listener() {
      @Override
      public void startedLeading(ClusterState state) {}

      @Override
      public void stoppedLeading() {}

      @Override
      public void noticed(Notice notice) {}

      @Override
      public void failed(Throwable cause) {
        throw new Violation("unexpected", cause);
      }
    };
  }

  /** Bugs that the product catches and logs, so that one request does not harm the others. */
  private static final class Errors extends AppenderBase<ILoggingEvent> implements AutoCloseable {
    private final Logger logger = (Logger) LoggerFactory.getLogger("dev.tollgate");
    private final Level level = logger.getLevel();
    private final boolean additive = logger.isAdditive();
    private @Nullable ILoggingEvent first;

    Errors() {
      logger.setLevel(Level.ERROR);
      logger.setAdditive(false);
      logger.addAppender(this);
      start();
    }

    @Override
    protected void append(ILoggingEvent event) {
      // a clock that was set is a fault, and not one of the product
      boolean clock = event.getLoggerName().equals(LogClock.class.getName());
      if (first == null && !clock) {
        first = event;
      }
    }

    void requireNone() {
      ILoggingEvent found = first;
      if (found != null) {
        throw new Violation(
            "logged", found.getFormattedMessage() + " " + found.getThrowableProxy());
      }
    }

    @Override
    public void close() {
      stop();
      logger.detachAppender(this);
      logger.setAdditive(additive);
      logger.setLevel(level);
    }
  }
}
