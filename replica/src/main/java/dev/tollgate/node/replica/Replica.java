package dev.tollgate.node.replica;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.Capacity;
import dev.tollgate.core.ClusterState;
import dev.tollgate.core.LockTallies;
import dev.tollgate.core.ReplicaCheck;
import dev.tollgate.core.StateMachine;
import dev.tollgate.core.command.AppliedDigest;
import dev.tollgate.core.command.ClusterIdentity;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.Computing;
import dev.tollgate.core.command.Environment;
import dev.tollgate.core.command.FeatureLevels;
import dev.tollgate.core.command.LogPosition;
import dev.tollgate.core.command.Notice;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.log.CommandFailedException;
import dev.tollgate.log.LogClock;
import dev.tollgate.log.LogConsumer;
import dev.tollgate.log.NodeVersion;
import dev.tollgate.log.RemovedException;
import dev.tollgate.log.SkipList;
import dev.tollgate.log.StateDiffersException;
import dev.tollgate.log.entry.Callbacks;
import dev.tollgate.log.entry.Entry;
import dev.tollgate.log.entry.LoggedError;
import dev.tollgate.node.audit.AuditTrail;
import dev.tollgate.node.slow.ApplyWatch;
import dev.tollgate.node.slow.SlowLog;
import dev.tollgate.snapshot.SnapshotReader;
import dev.tollgate.snapshot.StateCopy;
import dev.tollgate.store.LocalEnvironment;
import dev.tollgate.store.SqlDatabase;
import java.io.IOException;
import java.net.InetAddress;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The replicated state of this node. Applies entries, and tells others what happened while this
 * node leads. {@link #state} lets them read the state.
 */
public final class Replica implements LogConsumer {
  private static final Logger LOG = LoggerFactory.getLogger(Replica.class);

  /** Is told what happens here, by the apply thread, in log order. Must not block. */
  public interface Listener {
    /** This node leads from now on; the state is what the earlier leaders left. */
    void startedLeading(ClusterState state);

    /** This node no longer leads; may come from another thread. */
    void stoppedLeading();

    /** An entry brought this about; called only while this node leads. */
    void noticed(Notice notice);

    /** A statement failed by a fault of the database; called only while this node leads. */
    default void statementFaulted() {}

    /** Users, or what they may do, may have changed; on every node, before {@link #applied}. */
    default void usersMayHaveChanged() {}

    /** An entry was applied, and its notices were told; called only while this node leads. */
    default void applied() {}

    /**
     * Statements are paused, so a snapshot of this state is valid in any environment; on every
     * node.
     */
    default void environmentChanges() {}

    /** Another node may lead; on every node. May come from another thread. */
    default void leaderMayHaveChanged() {}

    /** Whether a snapshot waits for a moment without transactions; on every node. */
    default void snapshotNeedsGap(boolean needed) {}

    /** The replica has stopped for good. */
    void failed(Throwable cause);
  }

  private final String nodeId;
  private final SqlDatabase database;
  private final Supplier<Environment> environment;
  private final GuardedStore store;
  private final Capacity capacity;
  private StateMachine machine;
  private final StateAccess state;
  private final Facts facts = new Facts();
  private final List<Listener> listeners = new ArrayList<>();
  private volatile boolean leading;
  private volatile @Nullable Throwable failure;
  private volatile long checkedNanos = System.nanoTime();
  private volatile ClusterIdentity identity = ClusterIdentity.NONE;
  private final RecentDigests digests;
  private volatile AppliedDigest digest = AppliedDigest.NONE;
  private volatile boolean apart;
  private volatile boolean standing;
  private final AtomicInteger takenStates = new AtomicInteger();
  private @Nullable ReplicaVerifier verifier;
  private @Nullable LogClock clock;

  /** The last comparison of the replicas, for threads that must not wait for an entry. */
  private volatile @Nullable ReplicaCheck lastCheck;

  private final FeatureLevels levels;
  private final NodeVersion version;
  private SkipList skips;
  private final LockTallies tallies = new LockTallies(nowMicros());
  private final ApplyTallies applied = new ApplyTallies(nowMicros());
  private AuditTrail audit = AuditTrail.off();
  private SlowLog slow = SlowLog.off();
  private ApplyWatch applying = new ApplyWatch(slow, System::nanoTime);

  /** Creates a replica that computes in the environment of this process. */
  public Replica(String nodeId, SqlDatabase database) {
    this(
        nodeId,
        database,
        LocalEnvironment::get,
        FeatureLevels.STANDARD,
        SkipList.NONE,
        Capacity.STANDARD);
  }

  /**
   * @param environment the environment in which this replica computes; always the same
   * @param levels the feature levels that this replica knows
   * @param skips the commands that it does not carry out
   * @param capacity how much its state may hold; the same on all nodes
   */
  public Replica(
      String nodeId,
      SqlDatabase database,
      Supplier<Environment> environment,
      FeatureLevels levels,
      SkipList skips,
      Capacity capacity) {
    this.nodeId = requireNonNull(nodeId, "nodeId");
    this.digests = new RecentDigests(nodeId);
    this.database = requireNonNull(database, "database");
    this.environment = requireNonNull(environment, "environment");
    this.levels = requireNonNull(levels, "levels");
    this.version = NodeVersion.of(levels);
    this.skips = requireNonNull(skips, "skips");
    this.store = new GuardedStore(database, environment, this::computing);
    this.capacity = requireNonNull(capacity, "capacity");
    this.machine = machine(capacity);
    this.state = new StateAccess(nodeId, () -> machine.state());
  }

  private StateMachine machine(Capacity most) {
    StateMachine made = new StateMachine(store, most);
    made.countIn(tallies);
    return made;
  }

  private static long nowMicros() {
    return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
  }

  /**
   * What operators want to know of this replica, between two entries.
   *
   * @param answer is told at once, or by the apply thread after the entry that is being applied; it
   *     must not wait
   */
  public void figures(Consumer<ReplicaFigures> answer) {
    state.ask(
        now ->
            answer.accept(
                ReplicaFigures.of(now, machine.position(), applied.counts(), tallies.counts())));
  }

  /** True if statements were applied that are in no snapshot of this node. */
  public boolean hasUncopiedStatements() {
    return store.isUsed();
  }

  /** The environment in which this replica computes statements. */
  public Environment environment() {
    return environment.get();
  }

  private Computing computing() {
    return machine.state().computing();
  }

  /**
   * Returns why this node must not lead, because it would compute statements differently from its
   * cluster; else null.
   */
  public @Nullable EnvironmentDiffersException difference(ClusterState state) {
    Environment stated = state.computing().environment();
    return stated == null || environment.get().computesLike(stated)
        ? null
        : new EnvironmentDiffersException(environment.get(), stated);
  }

  /** Adds a listener; call before the log starts. */
  public void addListener(Listener listener) {
    listeners.add(listener);
  }

  /**
   * Makes this replica answer comparisons with the others; call before the log starts.
   *
   * @param reports sends a command to the leader
   */
  public void reportTo(Consumer<Command> reports) {
    verifier = new ReplicaVerifier(nodeId, reports, new VerifiedState());
  }

  /** Makes this replica tell what auditors want to know; call before the log starts. */
  public void recordTo(AuditTrail trail) {
    audit = requireNonNull(trail, "trail");
    if (audit.isOn()) {
      machine.recordEvents();
    }
  }

  /** Makes this replica report what is slow; call before the log starts. */
  public void reportSlow(SlowLog slowLog) {
    slow = requireNonNull(slowLog, "slowLog");
    applying = new ApplyWatch(slowLog, System::nanoTime);
  }

  /** Makes this replica tell the clock of its node the time of each entry; call before the log. */
  public void tellTime(LogClock logClock) {
    clock = requireNonNull(logClock, "logClock");
  }

  /**
   * By how much the clock of each member whose clock this node knows is ahead of the time that this
   * node would stamp, in microseconds.
   */
  public SortedMap<String, Long> clocksAhead() {
    LogClock told = clock;
    return told == null ? Collections.emptySortedMap() : told.look().aheadMicros();
  }

  private void tellTime(long stampMicros) {
    facts.setLogTime(machine.position().timeMicros());
    LogClock told = clock;
    if (told != null) {
      told.applied(stampMicros, machine.position().timeMicros());
    }
  }

  /** Tells for how long the entry that is being applied has been under way. */
  public ApplyWatch applying() {
    return applying;
  }

  /** What is slow at this node goes here. */
  public SlowLog slow() {
    return slow;
  }

  /** What auditors want to know goes here. */
  public AuditTrail audit() {
    return audit;
  }

  /**
   * When the last comparison of the replicas began here, or else this replica; in {@link
   * System#nanoTime}.
   */
  public long checkedNanos() {
    return checkedNanos;
  }

  /** True while this node leads, as far as it knows; a barrier proves it. A failed one does not. */
  public boolean isLeading() {
    return leading && failure == null;
  }

  /** The digest of what this replica has applied, for the next entry of a leader. */
  public AppliedDigest digest() {
    return digest;
  }

  /**
   * True while the state must be shown to nobody: it is not the one of the leader and waits for a
   * snapshot of the leader, or this node {@linkplain #isStanding stands}.
   */
  public boolean isApart() {
    return apart || standing;
  }

  /** True while this node stands at a command that it could not carry out. */
  public boolean isStanding() {
    return standing;
  }

  /** How many times the state was replaced because it was not the one of the leader. */
  public int takenStates() {
    return takenStates.get();
  }

  /** Why the replica stopped, or null while it runs. */
  public @Nullable Throwable failure() {
    return failure;
  }

  /** Lets threads read the state between two entries. */
  public StateAccess state() {
    return state;
  }

  /** What can be read of the state at any time, without waiting. */
  public Facts facts() {
    return facts;
  }

  @Override
  public void apply(long logIndex, Entry entry) {
    applying.enters(logIndex, entry.commands());
    try {
      applyEntry(logIndex, entry);
    } finally {
      applying.leaves();
    }
  }

  private void applyEntry(long logIndex, Entry entry) {
    requireSound();
    digests.compare(entry.digest());
    requireSkipped(entry);
    List<StateMachine.Applied> results = new ArrayList<>(entry.commands().size());
    state.change(() -> applyCommands(logIndex, entry, results));
    digest = new AppliedDigest(logIndex, machine.digest());
    digests.remember(digest, entry);
    boolean proposedHere = !entry.proposals().isEmpty();
    for (int i = 0; i < results.size(); i++) {
      // notices first: a client that has its reply may at once renew what it has just got
      if (leading) {
        for (Notice notice : results.get(i).notices()) {
          tell(listener -> listener.noticed(notice));
        }
      }
      if (proposedHere) {
        entry.proposals().get(i).applied(results.get(i).outcome());
      }
    }
    boolean faulty = store.takeFault();
    if (results.stream().anyMatch(Replica::changesUsers)) {
      tell(Listener::usersMayHaveChanged);
    }
    if (leading) {
      tell(Listener::applied);
      if (faulty) {
        tell(Listener::statementFaulted);
      }
    }
  }

  /**
   * A majority could not carry out a command that this replica has carried out, and the log says
   * that the command is left out.
   *
   * @throws StateDiffersException if that is so
   */
  private void requireSkipped(Entry entry) {
    for (Command command : entry.commands()) {
      if (command instanceof Command.SkipCommand skip
          && !machine.state().hasSkipped(skip.logIndex(), skip.ordinal())) {
        throw new StateDiffersException(
            "THIS REPLICA DIFFERS: node "
                + nodeId
                + " has carried out command "
                + skip.ordinal()
                + " of log entry "
                + skip.logIndex()
                + ", which most nodes could not, and which all nodes leave out");
      }
    }
  }

  private void applyCommands(long logIndex, Entry entry, List<StateMachine.Applied> results) {
    applying.begins();
    for (Command command : entry.commands()) {
      LogPosition position = new LogPosition(logIndex, results.size(), entry.stampMicros());
      StateMachine.Applied applied = apply(position, command);
      applied.notices().forEach(this::learn);
      results.add(applied);
      audit.applied(machine.position(), command, applied.outcome(), applied.events());
      verify(logIndex, command, applied.outcome());
      if (command instanceof Command.PauseStatements) {
        tell(Listener::environmentChanges);
      }
      applying.applied(command);
    }
    applying.ends(logIndex, entry.stampMicros());
    applied.add(machine.position(), results.size(), applying.tookNanos());
    learn(machine.state().identity());
    tellTime(entry.stampMicros());
  }

  private static boolean changesUsers(StateMachine.Applied applied) {
    return applied.notices().stream().anyMatch(Notice.UsersChanged.class::isInstance);
  }

  private void learn(Notice notice) {
    facts.noticed(notice, machine.state());
    if (notice instanceof Notice.ClusterChanged) {
      // the address of the leader may be known only now
      leaderMayHaveChanged();
    }
  }

  private StateMachine.Applied apply(LogPosition position, Command command) {
    long logIndex = position.logIndex();
    if (command instanceof Command.RaiseFeatureLevel raise) {
      requireKnown(raise.level());
    }
    try {
      if (skips.contains(logIndex, position.ordinal())) {
        LOG.warn("{}: skips command {} of log entry {}", nodeId, position.ordinal(), logIndex);
        return machine.skip(position, command);
      }
      return machine.apply(position, command);
    } catch (EnvironmentDiffersException e) {
      // nothing is wrong with the command
      throw e;
    } catch (RuntimeException | StackOverflowError | OutOfMemoryError e) {
      throw new CommandFailedException(logIndex, position.ordinal(), e);
    }
  }

  /** Stops a replica of a version that does not know the commands of its cluster. */
  private void requireKnown(int clusterLevel) {
    if (clusterLevel > levels.known()) {
      throw new FeatureLevelException(clusterLevel, version);
    }
  }

  @Override
  public NodeVersion version() {
    return version;
  }

  @Override
  public void refusedPeer(InetAddress from, String nodeId, String reason) {
    audit.nodeRefused(from, nodeId, reason);
  }

  @Override
  public int featureLevel() {
    return facts.featureLevel();
  }

  @Override
  public @Nullable String refusal(Command command) {
    int needed = levels.of(command);
    int cluster = facts.featureLevel();
    return needed <= cluster
        ? null
        : "this needs feature level "
            + needed
            + ", and the cluster has level "
            + cluster
            + ": once every node runs a version that knows it, an administrator raises the level"
            + " with CALL upgrade_cluster()";
  }

  /**
   * Tells all listeners. Whatever one of them throws, the log is applied and the others are told.
   */
  private void tell(Consumer<Listener> message) {
    for (Listener listener : listeners) {
      Callbacks.tell("the replica", () -> message.accept(listener));
    }
  }

  private void requireSound() {
    Throwable cause = failure;
    if (cause != null) {
      throw new IllegalStateException("the replica has stopped", cause);
    }
  }

  /** Passes the verifier each command that concerns it, right after that command. */
  private void verify(long logIndex, Command command, Outcome outcome) {
    ReplicaVerifier verifying = verifier;
    ReplicaCheck check = machine.state().lastCheck();
    if (verifying == null
        || check == null
        || !(command instanceof Command.VerifyReplicas || command instanceof Command.ReportChecksum)
        || !outcome.equals(new Outcome.Answered(true))) {
      return;
    }
    lastCheck = check.copy();
    if (command instanceof Command.VerifyReplicas) {
      checkedNanos = System.nanoTime();
      verifying.begin(
          logIndex,
          insistent ->
              new ReplicaDigest(machine.copyWithoutTransactions(), database.copy(insistent)));
    } else {
      verifying.reported(check);
    }
  }

  /** Stops answering comparisons. */
  public void close() {
    ReplicaVerifier verifying = verifier;
    if (verifying != null) {
      verifying.close();
    }
  }

  private final class VerifiedState implements ReplicaVerifier.Owner {
    @Override
    public @Nullable ReplicaCheck lastCheck() {
      return lastCheck;
    }

    @Override
    public void failed(Throwable cause) {
      Replica.this.failed(cause);
    }
  }

  @Override
  public ClusterIdentity identity() {
    return identity;
  }

  /**
   * Keeps the identity, and logs the cluster id, by which operators tell clusters apart. It is
   * known once the cluster is first led, or once the state is read from disk.
   */
  private void learn(ClusterIdentity known) {
    if (identity.clusterId() == null && known.clusterId() != null) {
      LOG.info("{}: belongs to cluster {}", nodeId, known.clusterId());
    }
    identity = known;
  }

  @Override
  public @Nullable StateCopy beginCopy(boolean insistent) {
    if (isApart() || !machine.isCopyable()) {
      return null;
    }
    StateCopy copy = new ReplicaCopy(machine.copy(), database.copy(insistent));
    store.copied();
    audit.copied(machine.position());
    return copy;
  }

  @Override
  public void snapshotNeedsGap(boolean needed) {
    tell(listener -> listener.snapshotNeedsGap(needed));
  }

  @Override
  public void leaderMayHaveChanged() {
    tell(Listener::leaderMayHaveChanged);
  }

  @Override
  public void awaitsState(StateDiffersException why) {
    apart = true;
    LOG.error(
        "{}: serves nobody, and takes the state of the leader in place of its own: {}",
        nodeId,
        why.getMessage());
  }

  @Override
  public void restore(SnapshotReader snapshot) throws IOException {
    state.change(() -> read(snapshot));
    ReplicaVerifier verifying = verifier;
    ReplicaCheck check = machine.state().lastCheck();
    lastCheck = check == null ? null : check.copy();
    if (verifying != null && check != null) {
      verifying.askAgainIfInDoubt(check);
    }
  }

  @Override
  public void tryOut(SnapshotReader snapshot) throws IOException {
    SnapshotTrial.read(snapshot);
  }

  @Override
  public void stands(CommandFailedException why) {
    standing = true;
    LOG.error(
        "{}: COMMAND {} OF LOG ENTRY {} FAILED: this node serves nobody, and waits until a majority"
            + " reports the same, or until a leader that has carried out the command gives its"
            + " state",
        nodeId,
        why.ordinal(),
        why.logIndex(),
        LoggedError.of(why));
  }

  @Override
  public void leaveOut(SkipList commands) {
    skips = commands;
    LOG.error(
        "{}: COMMANDS ARE LEFT OUT, because a majority could not carry them out: {}. Report this,"
            + " with the error above",
        nodeId,
        commands.skips());
  }

  @Override
  public void beginAnew() {
    state.change(
        () -> {
          database.beginAnew();
          use(machine(capacity));
          lastCheck = null;
        });
  }

  @Override
  public void goesOn() {
    if (standing) {
      LOG.warn("{}: no longer stands, and serves again", nodeId);
      standing = false;
    }
  }

  private void read(SnapshotReader snapshot) throws IOException {
    StateMachine fresh = machine(capacity);
    ReplicaCopy.read(snapshot, fresh, database);
    requireKnown(fresh.state().featureLevel());
    fresh.checkInvariants();
    use(fresh);
    if (apart) {
      LOG.warn("{}: has the state of the leader, and serves again", nodeId);
      apart = false;
      takenStates.incrementAndGet();
    }
  }

  private void use(StateMachine fresh) {
    if (audit.isOn()) {
      fresh.recordEvents();
    }
    machine = fresh;
    digest = new AppliedDigest(fresh.position().logIndex(), fresh.digest());
    digests.begin(digest);
    store.copied();
    audit.restored(fresh.position());
    facts.restored(fresh.state());
    tellTime(fresh.position().timeMicros());
    tell(Listener::usersMayHaveChanged);
    learn(fresh.state().identity());
  }

  @Override
  public void startedLeading(long term) {
    LOG.info("{}: leads in term {}", nodeId, term);
    leading = true;
    state.look(
        now -> {
          listeners.forEach(listener -> listener.startedLeading(now));
          return null;
        });
    if (failure != null) {
      // the replica failed meanwhile, and nothing else would revoke that leadership
      stoppedLeading();
    }
  }

  @Override
  public void stoppedLeading() {
    if (leading) {
      LOG.info("{}: does not lead any more", nodeId);
    }
    leading = false;
    tell(Listener::stoppedLeading);
  }

  @Override
  public void failed(Throwable cause) {
    synchronized (listeners) {
      if (failure != null) {
        return;
      }
      failure = cause;
    }
    if (cause instanceof RemovedException) {
      LOG.info("{}: {}", nodeId, cause.getMessage());
    } else {
      String explanation = new StopCause(cause).explanation();
      LOG.error(
          "{}: stops serving, the others go on: {}", nodeId, explanation, LoggedError.of(cause));
    }
    leading = false;
    for (Listener listener : listeners) {
      try {
        listener.failed(cause);
      } catch (RuntimeException | Error bug) {
        LOG.error("{}: a part of it did not stop", nodeId, LoggedError.of(bug));
      }
    }
  }

  /**
   * Stops the replica if an error says that this process cannot load its own classes. Every path
   * that serves passes its unexpected errors here.
   *
   * @return true if it did
   */
  public boolean stopIfClassesAreLost(Throwable error) {
    boolean lost = new StopCause(error).areClassesLost();
    if (lost) {
      failed(error);
    }
    return lost;
  }
}
