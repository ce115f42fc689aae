package dev.tollgate.log.ratis;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.ClusterIdentity;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.Limits;
import dev.tollgate.log.ApplyThread;
import dev.tollgate.log.CommandFailedException;
import dev.tollgate.log.EntryHold;
import dev.tollgate.log.LogConsumer;
import dev.tollgate.log.LogFailedException;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.log.SkipList;
import dev.tollgate.log.StateDiffersException;
import dev.tollgate.log.StrangerException;
import dev.tollgate.log.Supervision;
import dev.tollgate.log.entry.CorruptLogException;
import dev.tollgate.log.entry.Entry;
import dev.tollgate.log.entry.EntryCodec;
import dev.tollgate.log.entry.Proposal;
import dev.tollgate.log.entry.ProposedEntry;
import dev.tollgate.log.peer.NodeIdentity;
import dev.tollgate.log.peer.PeerGuard;
import dev.tollgate.log.peer.PeerTransport;
import dev.tollgate.log.peer.PeerVersions;
import dev.tollgate.log.snapshot.Snapshots;
import dev.tollgate.log.trace.PromiseTrace;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftConfigurationProto;
import org.apache.ratis.proto.RaftProtos.RoleInfoProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftGroupMemberId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.SnapshotManagementRequest;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftConfiguration;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.server.storage.RaftStorageImpl;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.apache.ratis.statemachine.StateMachineStorage;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.util.LifeCycle;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connects Ratis to the replica: hands over committed entries in log order, and reports who leads.
 * Ratis calls {@link #applyTransaction} and {@link #reinitialize} on one thread, which {@link
 * RatisUpdater} sets up. An exception from them closes the Ratis server, which is what must happen
 * to an untrustworthy state.
 */
final class RatisStateMachine extends BaseStateMachine {
  private static final Logger LOG = LoggerFactory.getLogger(RatisStateMachine.class);
  private static final long PURGE_MILLIS = 10_000;

  /** Stands for the last entry of an empty log. */
  private static final long NO_ENTRY = RaftLog.INVALID_LOG_INDEX;

  private static final long LEAVE_POLL_NANOS = 100_000;
  private static final long TAKEN_WITHIN_NANOS = TimeUnit.MINUTES.toNanos(10);

  private final Path directory;
  private final LogConsumer consumer;
  private final Supervision supervision;
  private final NodeIdentity identity;
  private final PeerGuard guard;
  private final DiskWatch disk;
  private final FollowerAppends appends;
  private final TracedLog traced;
  private final UnansweredEntries unanswered = new UnansweredEntries();
  private final EntryHold hold = new EntryHold();
  private final Snapshots snapshots;
  private final ClientId clientId = ClientId.randomId();
  private final AtomicLong callIds = new AtomicLong();
  private @Nullable RaftStorageImpl storage;
  private @Nullable EntrySyncs syncs;
  private @Nullable SnapshotArrival arrival;
  private final LeadershipNews leadership;
  private volatile boolean tellsLeadership;
  private ClusterIdentity kept = ClusterIdentity.NONE;
  private final AtomicBoolean failed = new AtomicBoolean();
  private volatile boolean closing;
  private final RatisUpdater updater = new RatisUpdater();
  private volatile @Nullable PeerTransport transport;

  /** The last entry that the state covers after it was replaced, or that is not to be applied. */
  private volatile long coveredIndex = -1;

  /** The command at which this node stands, or null. */
  private volatile @Nullable Standstill standstill;

  /** True while this node waits for the state of a leader. */
  private volatile boolean takingState;

  /** True while entries that were passed are applied out of the log. */
  private volatile boolean replaying;

  /** When this node began to take states of leaders, on the clock of {@link System#nanoTime}. */
  private final List<Long> taken = new ArrayList<>();

  /** True once a node without others has differed from what it had computed before. */
  private boolean differsFromBefore;

  RatisStateMachine(
      RaftSettings settings, NodeIdentity identity, LogConsumer consumer, PromiseTrace trace) {
    this.directory = settings.directory();
    this.traced = new TracedLog(trace);
    this.identity = identity;
    this.consumer = consumer;
    this.supervision = new Supervision(settings.nodeId(), this::fail);
    this.leadership = new LeadershipNews(consumer, this::leadingTerm);
    this.guard =
        new PeerGuard(
            identity,
            directory,
            !settings.peers().isEmpty(),
            new Members(),
            new PeerVersions(consumer.version(), consumer::featureLevel),
            this::refused);
    this.disk =
        new DiskWatch(settings.nodeId(), directory, settings.electionTimeout(), supervision);
    this.appends =
        new FollowerAppends(
            2 * settings.electionTimeout().toMillis(), updater, disk, this::cannotAppend, trace);
    this.snapshots =
        new Snapshots(
            settings.nodeId(),
            settings.snapshotLogBytes(),
            consumer,
            this::getLastAppliedTermIndex,
            this::purgeLog);
  }

  Snapshots snapshots() {
    return snapshots;
  }

  PeerGuard guard() {
    return guard;
  }

  FollowerAppends appends() {
    return appends;
  }

  DiskWatch disk() {
    return disk;
  }

  /**
   * True while this node stands at a command, applies again what it has passed since, or waits for
   * the state of a leader: it leads for Ratis at most, and serves nobody.
   */
  boolean isStanding() {
    return standstill != null || replaying || takingState;
  }

  /** Holds entries back while leadership is handed over. */
  EntryHold hold() {
    return hold;
  }

  UnansweredEntries unanswered() {
    return unanswered;
  }

  /** The members in the configuration that this node has; none while it has no configuration. */
  private final class Members implements PeerGuard.Members {
    private @Nullable RaftConfiguration configuration() {
      RaftServer server = getServer().getNow(null);
      try {
        return server == null ? null : server.getDivision(getGroupId()).getRaftConf();
      } catch (IOException e) {
        return null;
      }
    }

    @Override
    public boolean contains(String nodeId) {
      RaftConfiguration members = configuration();
      return members != null && members.getPeer(RaftPeerId.valueOf(nodeId)) != null;
    }

    @Override
    public int count() {
      RaftConfiguration members = configuration();
      return members == null ? Integer.MAX_VALUE : members.getCurrentPeers().size();
    }
  }

  /**
   * Ends a node that has just started if its log says that it was removed: Ratis would wait forever
   * for a leader to add it. A node that was stopped while it joined is right to wait for that.
   */
  void leaveIfRemoved() throws IOException {
    RaftServer server = getServer().join();
    RaftConfiguration conf = server.getDivision(getGroupId()).getRaftConf();
    boolean wasMember =
        hasPeer(conf.getPreviousPeers(), server.getId())
            || identity.known().incarnations().containsKey(identity.nodeId());
    if (wasMember
        && !conf.getCurrentPeers().isEmpty()
        && !hasPeer(conf.getCurrentPeers(), server.getId())) {
      guard.leaves();
    }
  }

  private static boolean hasPeer(Collection<RaftPeer> peers, RaftPeerId id) {
    return peers.stream().anyMatch(peer -> peer.getId().equals(id));
  }

  /** Ends this node, because the others do not accept it. */
  private void refused(IOException why) {
    supervision
        .thread(
            "tollgate-refused",
            () -> {
              if (!closing) {
                fail(why);
                leaveGroup();
              }
            })
        .start();
  }

  /** Reports the first failure; later ones follow from it. */
  private void fail(Throwable cause) {
    if (failed.compareAndSet(false, true)) {
      consumer.failed(cause);
    }
  }

  /** From here on a shutdown is no failure. */
  void closing() {
    closing = true;
  }

  @Override
  public void initialize(RaftServer raftServer, RaftGroupId groupId, RaftStorage raftStorage)
      throws IOException {
    // the life cycle belongs to the state machine; Ratis only reads it
    getLifeCycle()
        .startAndTransition(
            () -> {
              super.initialize(raftServer, groupId, raftStorage);
              storage = (RaftStorageImpl) raftStorage;
              VoteFile.install(
                  raftStorage,
                  disk::run,
                  failure -> cannotWrite("its term and vote", failure),
                  traced.trace());
              // before Ratis reads its log
              Path log = currentOf(raftStorage);
              Path group = raftStorage.getStorageDir().getRoot().toPath();
              EntrySyncs entries = new EntrySyncs(log, SyncedIndex.open(group));
              syncs = entries;
              SnapshotArrival snapshot =
                  new SnapshotArrival(
                      raftStorage.getStorageDir().getStateMachineDir().toPath(),
                      raftStorage.getStorageDir().getTmpDir().toPath());
              arrival = snapshot;
              snapshot.putBack();
              StartSync.run(directory, group, log, entries.known());
              snapshot.removeLeft();
              updater.install(raftServer, groupId);
              appends.install(raftServer, groupId, this::syncArriving, this::keepMembers);
              TermIndex last = restored(raftStorage);
              if (last != null) {
                LogTail.removeCovered(log, last.getIndex());
              }
              TermIndex logged = LogCheck.run(log);
              for (TermIndex entry : new TermIndex[] {last, logged}) {
                if (entry != null) {
                  VoteFile.requireTerm(raftStorage, entry);
                }
              }
              long end = Math.max(indexOf(logged), indexOf(last));
              requireAllThatItHad(group, end, entries.known().orElse(NO_ENTRY));
              entries.begin(end);
              traced.restarted(raftStorage.getMetadataFile().getMetadata(), end);
              beginAt(last);
              keepIdentity();
            });
  }

  /** Returns where Ratis has the log, the vote and the members. */
  private static Path currentOf(RaftStorage raftStorage) {
    return raftStorage.getStorageDir().getCurrentDir().toPath();
  }

  /** Restores on an apply thread, because the calling thread has a stack of its own size. */
  private @Nullable TermIndex restored(RaftStorage raftStorage) throws IOException {
    try (ApplyThread thread = new ApplyThread(identity.nodeId())) {
      return thread.<@Nullable TermIndex>call(() -> snapshots.open(raftStorage));
    } catch (IOException | RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException("restoring does not declare it", e);
    }
  }

  /**
   * Rejects a log without entries that this node has had: with its vote, the node might elect a
   * leader that lacks them too.
   */
  private void requireAllThatItHad(Path group, long end, long synced) throws StrangerException {
    long known = identity.hadIndex();
    long had = Math.max(synced, known > 0 ? known : NO_ENTRY);
    if (end < had) {
      throw StrangerException.withoutEntries(identity.nodeId(), group, end, had);
    }
  }

  private static long indexOf(@Nullable TermIndex entry) {
    return entry == null ? NO_ENTRY : entry.getIndex();
  }

  private void beginAt(@Nullable TermIndex last) {
    if (last != null) {
      setLastAppliedTermIndex(last);
    }
  }

  /** Ratis calls this, and has its monitor, before a snapshot of the leader replaces the log. */
  @Override
  public void pause() {
    appends.settle();
    takeSnapshot(requireNonNull(arrival, "arrival")::arrived);
    // still paused if the snapshot before this one could not be moved to its place
    if (getLifeCycleState() == LifeCycle.State.PAUSED) {
      return;
    }
    getLifeCycle().transition(LifeCycle.State.PAUSING);
    getLifeCycle().transition(LifeCycle.State.PAUSED);
  }

  /**
   * Ratis asks for this after it has moved a snapshot of the leader in its place, and before it
   * cuts its log and acknowledges the snapshot.
   */
  @Override
  public @Nullable SnapshotInfo getLatestSnapshot() {
    settleArrival();
    return super.getLatestSnapshot();
  }

  private void settleArrival() {
    SnapshotArrival snapshot = arrival;
    if (snapshot != null) {
      takeSnapshot(snapshot::settle);
    }
  }

  /** Syncs what has arrived of a snapshot: once it is whole, Ratis has its monitor meanwhile. */
  private void syncArriving() {
    takeSnapshot(requireNonNull(arrival, "arrival")::syncArriving);
  }

  private void takeSnapshot(DiskWatch.Work part) {
    try {
      part.run();
    } catch (IOException e) {
      cannotWrite("the snapshot of the leader", e);
      throw new UncheckedIOException(e);
    }
  }

  /** Restores the snapshot that the leader sent because this node is too far behind. */
  @Override
  public void reinitialize() throws IOException {
    try {
      settleArrival();
      synchronized (snapshots) {
        beginAt(snapshots.reopen());
      }
      coveredIndex = -1;
      takingState = false;
      endStandstill();
      goOn();
      keepIdentity();
    } catch (IOException | RuntimeException | Error e) {
      cannotGoOn(e);
      throw e;
    }
    getLifeCycle().transition(LifeCycle.State.STARTING);
    getLifeCycle().transition(LifeCycle.State.RUNNING);
    consumer.leaderMayHaveChanged();
  }

  @Override
  public StateMachineStorage getStateMachineStorage() {
    return snapshots.storage();
  }

  /** Writes what the state says of the cluster and its nodes to the directory. */
  private void keepIdentity() throws IOException {
    ClusterIdentity state = consumer.identity();
    if (!state.equals(kept)) {
      identity.learn(state, getLastAppliedTermIndex().getIndex());
      kept = state;
    }
  }

  private void keepIdentityOrStop() {
    try {
      keepIdentity();
    } catch (StrangerException e) {
      fail(e);
    } catch (IOException e) {
      cannotWrite("its identity", e);
    }
  }

  /** Snapshots are taken when they are due here; Ratis only asks how far it may cut its log. */
  @Override
  public long takeSnapshot() {
    return snapshots.purgeable();
  }

  /** Makes Ratis call {@link #takeSnapshot}. */
  private void purgeLog() {
    RaftServer server = getServer().join();
    try {
      server
          .snapshotManagementAsync(
              SnapshotManagementRequest.newCreate(
                  clientId,
                  server.getId(),
                  getGroupId(),
                  callIds.incrementAndGet(),
                  PURGE_MILLIS,
                  1))
          .exceptionally(
              failure -> {
                if (!closing) {
                  LOG.warn("{}: the log was not cut", server.getId(), failure);
                }
                return null;
              });
    } catch (RuntimeException e) {
      if (!closing) {
        throw e;
      }
    }
  }

  /**
   * Ratis closes its log by itself after an exception in a thread of its own, and when the cluster
   * has removed this node. It also closes the log before it reports that the process stood still.
   */
  @Override
  public void close() {
    failedBelow("has closed its log", null);
    Standstill standing = standstill;
    if (standing != null) {
      standing.close();
    }
    snapshots.close();
  }

  /** Ratis calls this before it syncs entries, and acknowledges none of them if this fails. */
  @Override
  public CompletableFuture<Void> flush(long logIndex) {
    EntrySyncs entries = requireNonNull(syncs, "syncs");
    return done(
        () -> {
          RaftLog log = getServer().join().getDivision(getGroupId()).getRaftLog();
          entries.beforeSync(log);
          traced.beforeSync(log, logIndex);
        });
  }

  /** Ratis calls this before it cuts entries off. */
  @Override
  public CompletableFuture<Void> truncate(long logIndex) {
    EntrySyncs entries = requireNonNull(syncs, "syncs");
    return done(
        () -> {
          entries.beforeCut(logIndex);
          traced.cut(getServer().join().getDivision(getGroupId()), logIndex);
        });
  }

  private static CompletableFuture<Void> done(DiskWatch.Work work) {
    try {
      work.run();
      return CompletableFuture.completedFuture(null);
    } catch (IOException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Called once Ratis has closed its log, or has not opened it. */
  void logClosed() {
    EntrySyncs entries = syncs;
    if (entries != null) {
      try {
        entries.close();
      } catch (IOException e) {
        LOG.warn("{}: what was synced last is not recorded", identity.nodeId(), e);
      }
    }
  }

  private boolean isMember() {
    RaftServer server = getServer().join();
    try {
      return hasPeer(
          server.getDivision(getGroupId()).getRaftConf().getCurrentPeers(), server.getId());
    } catch (IOException e) {
      return false;
    }
  }

  /** False once Ratis closes the server with all of its groups. */
  private boolean isServing() {
    return getServer().join().getLifeCycleState().isRunning();
  }

  private void cannotAppend(Throwable failure) {
    failedBelow("appends no more entries to its log", failure);
    leaveGroup();
  }

  private void failedBelow(String what, @Nullable Throwable cause) {
    if (!closing && !guard.hasStopped() && isMember() && isServing()) {
      fail(
          new IOException(
              "Ratis "
                  + what
                  + " in "
                  + directory
                  + "; the lines before this one say why. Start the node again: it writes the end of"
                  + " its log to the disk anew, and catches up by itself. If it stops like this"
                  + " again, report that",
              cause));
    }
  }

  /** Rejects what a node of a later version has sent: nodes with it in their log would stop. */
  @Override
  public TransactionContext startTransaction(RaftClientRequest request) {
    TransactionContext transaction =
        TransactionContext.newBuilder().setStateMachine(this).setClientRequest(request).build();
    try {
      if (request.getMessage() instanceof RatisLog.EntryMessage message) {
        transaction.setStateMachineContext(message.entry());
      } else {
        requireAdmitted(
            EntryCodec.decode(request.getMessage().getContent().toByteArray(), List.of()));
      }
    } catch (CorruptLogException e) {
      transaction.setException(e);
    }
    return transaction;
  }

  /** This node may know a command of another node's that a third one does not know. */
  private void requireAdmitted(Entry entry) {
    for (Command command : entry.commands()) {
      String refusal = consumer.refusal(command);
      if (refusal != null) {
        throw new CorruptLogException(refusal);
      }
    }
  }

  @Override
  public CompletableFuture<Message> applyTransaction(TransactionContext transaction) {
    try {
      traceCommit(transaction.getLogEntry().getIndex());
      apply(transaction);
      keepIdentityOrStop();
    } catch (IOException e) {
      cannotGoOn(e);
      throw new UncheckedIOException(e);
    } catch (RuntimeException | Error e) {
      cannotGoOn(e);
      throw e;
    }
    return CompletableFuture.completedFuture(Message.EMPTY);
  }

  private void traceCommit(long index) throws IOException {
    if (traced.trace().isOn()) {
      traced.committed(getServer().join().getDivision(getGroupId()), index);
    }
  }

  private void cannotGoOn(Throwable cause) {
    fail(cause);
    updater.end();
  }

  private void apply(TransactionContext transaction) throws IOException {
    LogEntryProto logEntry = transaction.getLogEntry();
    // even of an entry that was proposed here, only the bytes count
    List<Proposal> proposals =
        transaction.getStateMachineContext() instanceof ProposedEntry here
            ? here.proposals()
            : List.of();
    if (logEntry.getIndex() <= coveredIndex) {
      proposals.forEach(Proposal::unknown);
      return;
    }
    Entry entry =
        EntryCodec.decode(logEntry.getStateMachineLogEntry().getLogData().toByteArray(), proposals);
    applyOrPass(logEntry, entry);
  }

  private void applyOrPass(LogEntryProto logEntry, Entry entry) throws IOException {
    Standstill standing = standstill;
    if (standing != null) {
      pass(standing, logEntry, entry);
      return;
    }
    try {
      apply(logEntry, entry);
    } catch (StateDiffersException e) {
      takeStateAndApply(logEntry, entry, e);
    } catch (CommandFailedException e) {
      stand(logEntry, entry, e);
    }
  }

  private void apply(LogEntryProto logEntry, Entry entry) {
    synchronized (snapshots) {
      consumer.apply(logEntry.getIndex(), entry);
      if (replaying) {
        return;
      }
      updateLastAppliedTermIndex(logEntry.getTerm(), logEntry.getIndex());
      snapshots.applied(
          TermIndex.valueOf(logEntry.getTerm(), logEntry.getIndex()),
          logEntry.getStateMachineLogEntry().getLogData().size());
    }
  }

  /**
   * Stands at a command that failed, if there are other nodes, which may say whether it is wrong.
   */
  private void stand(LogEntryProto logEntry, Entry entry, CommandFailedException why)
      throws IOException {
    RaftServer server = getServer().join();
    RaftServer.Division division = server.getDivision(getGroupId());
    PeerTransport others = transport;
    boolean skipped = SkipList.read(directory).contains(why.logIndex(), why.ordinal());
    if (skipped || others == null || division.getRaftConf().getCurrentPeers().size() == 1) {
      throw why;
    }
    consumer.stands(why);
    Standstill standing =
        new Standstill(why, server, division, others, appends, supervision, this::cannotStand);
    standstill = standing;
    leadership.changed();
    consumer.leaderMayHaveChanged();
    passed(logEntry, entry);
    standing.start();
  }

  private void cannotStand(Throwable why) {
    fail(why);
    leaveGroup();
  }

  private void passed(LogEntryProto logEntry, Entry entry) {
    entry.proposals().forEach(Proposal::unknown);
    if (!replaying) {
      updateLastAppliedTermIndex(logEntry.getTerm(), logEntry.getIndex());
    }
  }

  /** Lets an entry pass while this node stands, and looks whether the entry ends that. */
  private void pass(Standstill standing, LogEntryProto logEntry, Entry entry) throws IOException {
    if (!entry.digest().isNone() && entry.digest().logIndex() >= standing.logIndex()) {
      takeStateAndApply(
          logEntry,
          entry,
          new StateDiffersException(
              "a leader has carried out the command of log entry "
                  + standing.logIndex()
                  + " that failed on this node"));
      return;
    }
    passed(logEntry, entry);
    for (Command command : entry.commands()) {
      if (command instanceof Command.ReportFailure report) {
        standing.reported(report);
      } else if (command instanceof Command.SkipCommand skip
          && standing.isAt(skip.logIndex(), skip.ordinal())) {
        skip(skip, logEntry.getIndex());
      }
    }
  }

  /** Leaves a command out, and applies all others up to this entry to a state of before it. */
  private void skip(Command.SkipCommand skip, long through) throws IOException {
    SkipList.Skip place = new SkipList.Skip(skip.logIndex(), skip.ordinal());
    consumer.leaveOut(SkipList.read(directory).with(place, directory));
    boolean outer = replaying;
    replaying = true;
    endStandstill();
    TermIndex last;
    synchronized (snapshots) {
      last = snapshots.beginAnew();
    }
    applyAgain(last == null ? RaftLog.LEAST_VALID_LOG_INDEX : last.getIndex() + 1, through);
    replaying = outer;
    if (isReplacedOrStops()) {
      coveredIndex = isPaused() ? through : Long.MAX_VALUE;
    } else {
      keepIdentity();
      goOn();
    }
  }

  private void applyAgain(long from, long through) throws IOException {
    RaftLog log = getServer().join().getDivision(getGroupId()).getRaftLog();
    for (long index = from; index <= through && !isReplacedOrStops(); index++) {
      LogEntryProto logEntry = log.get(index);
      if (logEntry == null) {
        throw new IOException("entry " + index + " is not in the log of this node any more");
      }
      if (index > coveredIndex && logEntry.hasStateMachineLogEntry()) {
        byte[] bytes = logEntry.getStateMachineLogEntry().getLogData().toByteArray();
        applyOrPass(logEntry, EntryCodec.decode(bytes, List.of()));
      }
    }
  }

  private void endStandstill() {
    Standstill standing = standstill;
    if (standing != null) {
      standing.close();
      standstill = null;
    }
  }

  /** Serves again, unless this node stands, or has still to apply what it has passed. */
  private void goOn() {
    if (!isStanding()) {
      consumer.goesOn();
      appends.mayBeElected();
      leadership.changed();
      consumer.leaderMayHaveChanged();
    }
  }

  private void takeStateAndApply(LogEntryProto logEntry, Entry entry, StateDiffersException why)
      throws IOException {
    RaftServer server = getServer().join();
    RaftServer.Division division = server.getDivision(getGroupId());
    if (standstill == null && division.getRaftConf().getCurrentPeers().size() == 1) {
      if (!differsFromBefore) {
        differsFromBefore = true;
        LOG.error(
            "{}: there is no other node, so this one goes on with its state: {}",
            server.getId(),
            why.getMessage());
      }
      apply(logEntry, entry.withoutDigest());
      return;
    }
    PeerTransport others = transport;
    if (others == null || isOneTooMany()) {
      throw why;
    }
    StateTakeover takeover =
        new StateTakeover(
            server, division, consumer, snapshots, appends, others, this::isReplacedOrStops);
    takingState = true;
    leadership.changed();
    if (!takeover.run(why, logEntry.getIndex())) {
      entry.proposals().forEach(Proposal::unknown);
      coveredIndex = isPaused() ? logEntry.getIndex() : Long.MAX_VALUE;
      return;
    }
    TermIndex last;
    synchronized (snapshots) {
      last = requireNonNull(snapshots.reopen(), "it has just arrived");
      if (last.compareTo(getLastAppliedTermIndex()) > 0) {
        setLastAppliedTermIndex(last);
      }
    }
    coveredIndex = last.getIndex();
    takingState = false;
    endStandstill();
    keepIdentity();
    goOn();
    if (logEntry.getIndex() > last.getIndex()) {
      applyOrPass(logEntry, entry);
    } else {
      entry.proposals().forEach(Proposal::unknown);
    }
  }

  /** Counts one more state that is to be taken; returns true if there were too many lately. */
  private boolean isOneTooMany() {
    long now = System.nanoTime();
    taken.removeIf(then -> now - then > TAKEN_WITHIN_NANOS);
    taken.add(now);
    return taken.size() > Limits.STATES_TAKEN;
  }

  private boolean isPaused() {
    return getLifeCycleState() == LifeCycle.State.PAUSED;
  }

  private boolean isReplacedOrStops() {
    return closing || guard.hasStopped() || failed.get() || !isServing() || isPaused();
  }

  /** The way on which a snapshot of the leader comes. */
  void use(@Nullable PeerTransport peers) {
    transport = peers;
  }

  @Override
  public void notifyLeaderReady() {
    leadership.changed();
    consumer.leaderMayHaveChanged();
  }

  private RaftServer.Division division() {
    try {
      return getServer().join().getDivision(getGroupId());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Ratis holds a monitor here, on the leader and on the others. */
  @Override
  public void notifyLeaderChanged(RaftGroupMemberId member, RaftPeerId leader) {
    if (traced.trace().isOn() && member.getPeerId().equals(leader)) {
      traced.leads(division());
    }
    consumer.leaderMayHaveChanged();
  }

  /**
   * Comes for entries that are none of this state machine, such as the first one of each leader.
   */
  @Override
  public void notifyTermIndexUpdated(long term, long index) {
    if (index <= coveredIndex) {
      return;
    }
    long before = getLastAppliedTermIndex().getTerm();
    super.notifyTermIndexUpdated(term, index);
    if (term != before) {
      consumer.leaderMayHaveChanged();
    }
  }

  @Override
  public void notifyNotLeader(Collection<TransactionContext> pendingEntries) {
    if (traced.trace().isOn()) {
      traced.follows(division());
    }
    unanswered.lostLeadership();
    hold.leadershipLost();
    leadership.changed();
  }

  /**
   * Returns the term in which this node leads. Ratis removes its leader state before it reports
   * that this node does not lead.
   */
  /** Tells the consumer who leads, from now on: the log can be asked. */
  void tellLeadership() {
    tellsLeadership = true;
    leadership.changed();
    consumer.leaderMayHaveChanged();
  }

  private long leadingTerm() {
    if (!tellsLeadership) {
      return LeadershipNews.NONE;
    }
    try {
      DivisionInfo info = getServer().join().getDivision(getGroupId()).getInfo();
      long term = info.getCurrentTerm();
      return !isStanding()
              && info.isLeader()
              && info.isLeaderReady()
              && info.getCurrentTerm() == term
          ? term
          : LeadershipNews.NONE;
    } catch (IOException e) {
      return LeadershipNews.NONE;
    }
  }

  @Override
  public void notifyLogFailed(Throwable cause, LogEntryProto failedEntry) {
    cannotWrite("the log", cause);
  }

  /**
   * Ratis calls this once an entry with members is applied, or members have come with a snapshot.
   */
  @Override
  public void notifyConfigurationChanged(long term, long index, RaftConfigurationProto members) {
    keepMembers(
        LogEntryProto.newBuilder()
            .setTerm(term)
            .setIndex(index)
            .setConfigurationEntry(members)
            .build());
  }

  /** Ratis would write members that come with a snapshot after the snapshot. */
  private void keepMembers(LogEntryProto entry) {
    try {
      MembersFile.write(RatisLog.groupDirectory(directory), entry);
    } catch (IOException e) {
      cannotWrite("the list of members", e);
    }
  }

  private void cannotWrite(String what, Throwable cause) {
    fail(new LogFailedException(what, directory, cause));
    leaveGroup();
  }

  /**
   * Takes no more part in the group once this returns. After a failed write, the thread that wrote
   * calls this before Ratis goes on. An entry that was not written is in memory all the same. If
   * the leader sent it again, Ratis would acknowledge it as if it were on disk (docs/adr/0025). If
   * this node leads, the others miss its heartbeats from now on.
   */
  private void leaveGroup() {
    RaftServer.Division division;
    try {
      division = getServer().join().getDivision(getGroupId());
    } catch (IOException e) {
      LOG.info("{}: has left its group already", getServer().join().getId(), e);
      return;
    }
    // closing waits for this very thread
    Thread closing = supervision.thread("tollgate-leave-group", division::close);
    closing.start();
    while (division.getInfo().isAlive() && closing.isAlive()) {
      LockSupport.parkNanos(LEAVE_POLL_NANOS);
    }
  }

  @Override
  public void notifyServerShutdown(RoleInfoProto roleInfo, boolean allServer) {
    if (closing || guard.hasStopped()) {
      return;
    }
    RaftServer server = getServer().join();
    try {
      RaftServer.Division division = server.getDivision(getGroupId());
      RaftConfiguration conf = division.getRaftConf();
      boolean member = hasPeer(conf.getCurrentPeers(), server.getId());
      if (!member && division.getRaftLog().getLastCommittedIndex() >= conf.getLogEntryIndex()) {
        guard.removed();
      } else if (!member) {
        guard.leaves();
      } else {
        fail(
            new IOException(
                "the Raft server has shut down, because its process stood still for a minute"));
      }
    } catch (IOException e) {
      fail(e);
    }
  }
}
