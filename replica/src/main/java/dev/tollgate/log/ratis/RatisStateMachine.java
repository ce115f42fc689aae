package dev.tollgate.log.ratis;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.EntryHold;
import dev.tollgate.log.LogConsumer;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.log.peer.NodeIdentity;
import dev.tollgate.log.peer.SealedEntries;
import dev.tollgate.log.snapshot.Snapshots;
import dev.tollgate.log.trace.PromiseTrace;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Collection;
import java.util.concurrent.CompletableFuture;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftConfigurationProto;
import org.apache.ratis.proto.RaftProtos.RoleInfoProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftGroupMemberId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.apache.ratis.statemachine.StateMachineStorage;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.util.LifeCycle;
import org.jspecify.annotations.Nullable;

/**
 * Connects Ratis to the replica: hands over committed entries in log order, and reports who leads.
 * Ratis calls {@link #applyTransaction} and {@link #reinitialize} on one thread, which {@link
 * RatisUpdater} sets up. An exception from them closes the Ratis server, which is what must happen
 * to an untrustworthy state.
 */
final class RatisStateMachine extends BaseStateMachine {
  private final RaftSettings settings;
  private final LogConsumer consumer;
  private final NodeIdentity identity;
  private final OwnServer server = new OwnServer(getServer());
  private final NodeEnd end;
  private final RatisUpdater updater = new RatisUpdater();
  private final DiskWatch disk;
  private final SealedEntries sealed;
  private final FollowerAppends appends;
  private final Snapshots snapshots;
  private final LeadershipNews leadership;
  private final AppliedEntries entries;
  private final UnansweredEntries unanswered = new UnansweredEntries();
  private final EntryHold hold = new EntryHold();
  private final TracedLog traced;
  private volatile @Nullable GroupFiles files;
  private volatile boolean tellsLeadership;

  RatisStateMachine(
      RaftSettings settings, NodeIdentity identity, LogConsumer consumer, PromiseTrace trace) {
    this.settings = requireNonNull(settings, "settings");
    this.identity = requireNonNull(identity, "identity");
    this.consumer = requireNonNull(consumer, "consumer");
    this.traced = new TracedLog(trace);
    this.end = new NodeEnd(settings, identity, consumer, server);
    this.leadership = new LeadershipNews(consumer, this::leadingTerm);
    this.disk =
        new DiskWatch(
            settings.nodeId(), settings.directory(), settings.electionTimeout(), end.supervision());
    this.sealed =
        new SealedEntries(
            identity.directoryKeys(),
            RatisLog.groupDirectory(settings.directory()).resolve("current"));
    this.appends =
        new FollowerAppends(
            2 * settings.electionTimeout().toMillis(),
            updater,
            disk,
            end::cannotAppend,
            trace,
            sealed);
    this.snapshots =
        new Snapshots(
            settings.nodeId(),
            settings.snapshotLogBytes(),
            consumer,
            this::getLastAppliedTermIndex,
            new LogPurge(server, end)::run,
            identity.directoryKeys());
    this.entries =
        new AppliedEntries(
            settings.directory(),
            new KeptIdentity(identity, consumer, end),
            consumer,
            snapshots,
            server,
            appends,
            end,
            leadership,
            new LastEntry(),
            this::isPaused,
            sealed);
  }

  private final class LastEntry implements LastApplied {
    @Override
    public TermIndex get() {
      return getLastAppliedTermIndex();
    }

    @Override
    public void set(TermIndex entry) {
      setLastAppliedTermIndex(entry);
    }

    @Override
    public void advance(TermIndex entry) {
      updateLastAppliedTermIndex(entry);
    }
  }

  Snapshots snapshots() {
    return snapshots;
  }

  NodeEnd end() {
    return end;
  }

  FollowerAppends appends() {
    return appends;
  }

  SealedEntries sealed() {
    return sealed;
  }

  DiskWatch disk() {
    return disk;
  }

  AppliedEntries entries() {
    return entries;
  }

  /** Holds entries back while leadership is handed over. */
  EntryHold hold() {
    return hold;
  }

  UnansweredEntries unanswered() {
    return unanswered;
  }

  @Override
  public void initialize(RaftServer raftServer, RaftGroupId groupId, RaftStorage storage)
      throws IOException {
    // the life cycle belongs to the state machine; Ratis only reads it
    getLifeCycle()
        .startAndTransition(
            () -> {
              super.initialize(raftServer, groupId, storage);
              ElectionTimeouts timeouts =
                  ElectionTimeouts.install(raftServer.getDivision(groupId), disk);
              GroupFiles opened = GroupFiles.open(storage, disk, timeouts, server, end, traced);
              files = opened;
              updater.install(raftServer, groupId);
              appends.install(
                  raftServer,
                  groupId,
                  timeouts::grantedPreVote,
                  opened::syncArriving,
                  opened::keepMembers);
              // before Ratis reads its log
              entries.begin(
                  new NodeStart(settings.directory(), identity, opened, sealed).run(snapshots));
            });
  }

  private GroupFiles files() {
    return requireNonNull(files, "files");
  }

  /** Ratis calls this, and has its monitor, before a snapshot of the leader replaces the log. */
  @Override
  public void pause() {
    appends.settle();
    files().arrived();
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
    GroupFiles opened = files;
    if (opened != null) {
      opened.settleArrival();
    }
    return super.getLatestSnapshot();
  }

  /** Restores the snapshot that the leader sent because this node is too far behind. */
  @Override
  public void reinitialize() throws IOException {
    try {
      files().settleArrival();
      entries.reopen();
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

  /** Snapshots are taken when they are due here; Ratis only asks how far it may cut its log. */
  @Override
  public long takeSnapshot() {
    return snapshots.purgeable();
  }

  @Override
  public void close() {
    end.logWasClosed();
    entries.close();
    snapshots.close();
  }

  @Override
  public CompletableFuture<Void> flush(long logIndex) {
    return files().beforeSync(logIndex);
  }

  @Override
  public CompletableFuture<Void> truncate(long logIndex) {
    return files().beforeCut(logIndex);
  }

  /** Called once Ratis has closed its log, or has not opened it. */
  void logClosed() {
    GroupFiles opened = files;
    if (opened != null) {
      opened.close();
    }
  }

  @Override
  public TransactionContext startTransaction(RaftClientRequest request) {
    return EntryMessage.begin(request, this, consumer);
  }

  /** Ratis chooses the term and the index of an entry after this, and then appends the entry. */
  @Override
  public TransactionContext preAppendTransaction(TransactionContext transaction) {
    return new SealedTransaction(transaction, sealed);
  }

  @Override
  public CompletableFuture<Message> applyTransaction(TransactionContext transaction) {
    try {
      if (traced.trace().isOn()) {
        traced.committed(server.division(), transaction.getLogEntry().getIndex());
      }
      entries.apply(transaction);
    } catch (IOException e) {
      cannotGoOn(e);
      throw new UncheckedIOException(e);
    } catch (RuntimeException | Error e) {
      cannotGoOn(e);
      throw e;
    }
    return CompletableFuture.completedFuture(Message.EMPTY);
  }

  private void cannotGoOn(Throwable cause) {
    end.fail(cause);
    updater.end();
  }

  private boolean isPaused() {
    return getLifeCycleState() == LifeCycle.State.PAUSED;
  }

  @Override
  public void notifyLeaderReady() {
    leadership.changed();
    consumer.leaderMayHaveChanged();
  }

  private RaftServer.Division division() {
    try {
      return server.division();
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
    if (entries.covers(index)) {
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

  /** Tells the consumer who leads, from now on: the log can be asked. */
  void tellLeadership() {
    tellsLeadership = true;
    leadership.changed();
    consumer.leaderMayHaveChanged();
  }

  private long leadingTerm() {
    return tellsLeadership && !entries.isStanding() ? server.leadingTerm() : LeadershipNews.NONE;
  }

  @Override
  public void notifyLogFailed(Throwable cause, LogEntryProto failedEntry) {
    end.cannotWrite("the log", cause);
  }

  /**
   * Ratis calls this once an entry with members is applied, or members have come with a snapshot.
   */
  @Override
  public void notifyConfigurationChanged(long term, long index, RaftConfigurationProto members) {
    files()
        .keepMembers(
            LogEntryProto.newBuilder()
                .setTerm(term)
                .setIndex(index)
                .setConfigurationEntry(members)
                .build());
  }

  @Override
  public void notifyServerShutdown(RoleInfoProto roleInfo, boolean allServer) {
    end.serverHasShutDown();
  }
}
