package dev.tollgate.log;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftConfigurationProto;
import org.apache.ratis.proto.RaftProtos.RoleInfoProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.SnapshotManagementRequest;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftConfiguration;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.server.storage.RaftStorageImpl;
import org.apache.ratis.statemachine.StateMachineStorage;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.util.LifeCycle;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where Ratis meets the replica: hands committed entries over in log order, and says who leads.
 * Ratis calls {@link #applyTransaction} from one thread, which waits for ours; what it throws
 * closes the Ratis server, which is what an untrustworthy state has to come to.
 */
final class RatisStateMachine extends BaseStateMachine {
  private static final Logger LOG = LoggerFactory.getLogger(RatisStateMachine.class);
  private static final long PURGE_MILLIS = 10_000;

  private static final long LEAVE_POLL_NANOS = 100_000;

  private final Path directory;
  private final LogConsumer consumer;
  private final Supervision supervision;
  private final Snapshots snapshots;
  private final ApplyThread applyThread;
  private final ClientId clientId = ClientId.randomId();
  private final AtomicLong callIds = new AtomicLong();
  private @Nullable RaftStorageImpl storage;
  private final LeadershipNews leadership;
  private volatile boolean closing;

  RatisStateMachine(RaftSettings settings, LogConsumer consumer) {
    this.directory = settings.directory();
    this.consumer = consumer;
    this.supervision = new Supervision(settings.nodeId(), consumer::failed);
    this.leadership = new LeadershipNews(consumer, this::leadingTerm);
    this.applyThread = new ApplyThread(settings.nodeId());
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

  /** From here on a shutdown is no failure. */
  void closing() {
    closing = true;
  }

  @Override
  public void initialize(RaftServer raftServer, RaftGroupId groupId, RaftStorage raftStorage)
      throws IOException {
    // the life cycle is the state machine's own business; Ratis only reads it
    getLifeCycle()
        .startAndTransition(
            () -> {
              super.initialize(raftServer, groupId, raftStorage);
              storage = (RaftStorageImpl) raftStorage;
              VoteFile.install(raftStorage, failure -> cannotWrite("its term and vote", failure));
              // before Ratis reads its log
              LogTail.cutUnfinished(raftStorage.getStorageDir().getCurrentDir().toPath());
              onApplyThread(
                  () -> {
                    beginAt(snapshots.open(raftStorage));
                    return null;
                  });
            });
  }

  /** Ratis' own thread waits meanwhile, so that nothing of what Ratis promises changes. */
  private void onApplyThread(Callable<@Nullable Void> work) throws IOException {
    try {
      applyThread.call(work);
    } catch (IOException | RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException("neither applying nor restoring declares it", e);
    }
  }

  private void beginAt(@Nullable TermIndex last) {
    if (last != null) {
      setLastAppliedTermIndex(last);
    }
  }

  @Override
  public void pause() {
    getLifeCycle().transition(LifeCycle.State.PAUSING);
    getLifeCycle().transition(LifeCycle.State.PAUSED);
  }

  /** A snapshot has come from the leader, because this node is too far behind. */
  @Override
  public void reinitialize() throws IOException {
    try {
      onApplyThread(
          () -> {
            synchronized (snapshots) {
              beginAt(snapshots.reopen());
            }
            return null;
          });
    } catch (IOException | RuntimeException | Error e) {
      consumer.failed(e);
      throw e;
    }
    getLifeCycle().transition(LifeCycle.State.STARTING);
    getLifeCycle().transition(LifeCycle.State.RUNNING);
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

  /** Makes Ratis ask. */
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

  @Override
  public void close() {
    snapshots.close();
    applyThread.close();
  }

  /** What a node of a later version has sent must not come into the log of those who would stop. */
  @Override
  public TransactionContext startTransaction(RaftClientRequest request) {
    TransactionContext transaction =
        TransactionContext.newBuilder().setStateMachine(this).setClientRequest(request).build();
    try {
      if (request.getMessage() instanceof RatisLog.EntryMessage message) {
        transaction.setStateMachineContext(message.entry());
      } else {
        EntryCodec.decode(request.getMessage().getContent().toByteArray(), List.of());
      }
    } catch (CorruptLogException e) {
      transaction.setException(e);
    }
    return transaction;
  }

  @Override
  public CompletableFuture<Message> applyTransaction(TransactionContext transaction) {
    try {
      onApplyThread(
          () -> {
            apply(transaction);
            return null;
          });
    } catch (IOException e) {
      consumer.failed(e);
      throw new UncheckedIOException(e);
    } catch (RuntimeException | Error e) {
      consumer.failed(e);
      throw e;
    }
    return CompletableFuture.completedFuture(Message.EMPTY);
  }

  private void apply(TransactionContext transaction) throws IOException {
    LogEntryProto logEntry = transaction.getLogEntry();
    // of an entry that was proposed here, too, only the bytes count
    List<Proposal> proposals =
        transaction.getStateMachineContext() instanceof ProposedEntry here
            ? here.proposals()
            : List.of();
    Entry entry =
        EntryCodec.decode(logEntry.getStateMachineLogEntry().getLogData().toByteArray(), proposals);
    synchronized (snapshots) {
      consumer.apply(logEntry.getIndex(), entry);
      updateLastAppliedTermIndex(logEntry.getTerm(), logEntry.getIndex());
      snapshots.applied(
          TermIndex.valueOf(logEntry.getTerm(), logEntry.getIndex()),
          logEntry.getStateMachineLogEntry().getLogData().size());
    }
  }

  @Override
  public void notifyLeaderReady() {
    leadership.changed();
  }

  @Override
  public void notifyNotLeader(Collection<TransactionContext> pendingEntries) {
    leadership.changed();
  }

  /** Ratis takes its leader's state away before it says that this node does not lead. */
  private long leadingTerm() {
    try {
      DivisionInfo info = getServer().join().getDivision(getGroupId()).getInfo();
      long term = info.getCurrentTerm();
      return info.isLeader() && info.isLeaderReady() && info.getCurrentTerm() == term
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
   * Ratis has just written the members to a file, or could not. Once the log up to this entry is
   * gone, a node without that file would have the members of its first start.
   */
  @Override
  public void notifyConfigurationChanged(long term, long index, RaftConfigurationProto members) {
    if (!NodeDirectory.hasMembers(requireNonNull(storage, "storage"), index)) {
      cannotWrite(
          "the list of members",
          new IOException("it is not there; what Ratis said just before has the reason"));
    }
  }

  private void cannotWrite(String what, Throwable cause) {
    consumer.failed(new LogFailedException(what, directory, cause));
    leaveGroup();
  }

  /**
   * Takes no more part in the group once this returns; by the thread that writes, before anybody
   * hears of the failure. An entry that was not written is in memory all the same, and when the
   * leader sends it again Ratis would acknowledge it as if it were on disk (docs/adr/0025). If this
   * node leads, the others miss its heartbeats from now on.
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
    if (closing) {
      return;
    }
    RaftServer server = getServer().join();
    try {
      RaftConfiguration conf = server.getDivision(getGroupId()).getRaftConf();
      consumer.failed(
          conf.getPeer(server.getId()) == null
              ? new RemovedException(server.getId().toString())
              : new IOException(
                  "the Raft server has shut down: the node was removed from the cluster while it"
                      + " was away, or its process stood still for a minute"));
    } catch (IOException e) {
      consumer.failed(e);
    }
  }
}
