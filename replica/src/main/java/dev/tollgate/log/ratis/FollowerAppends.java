package dev.tollgate.log.ratis;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Limits;
import dev.tollgate.log.peer.PeerService;
import dev.tollgate.log.peer.SealedEntries;
import dev.tollgate.log.trace.PromiseTrace;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.util.LifeCycle;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The entries that leaders have this node append. Thread-safe.
 *
 * <p>A request waits while one of its entries is on its way to the disk, because Ratis would
 * acknowledge that entry too early. If an append fails, the node fails: what Ratis has in memory
 * may differ from its disk by then. Nothing is acknowledged to the leader of a term that this node
 * has left meanwhile.
 *
 * <p>A snapshot from the leader makes Ratis (SegmentedRaftLogWorker.syncWithSnapshot) forget what
 * its writer still has to do. An append on its way then never ends. Worse, the writer may forget to
 * create the file that Ratis closes next, and its failure closes the log. So a snapshot waits for
 * the writer.
 *
 * <p>A node that joins takes part in elections from the first request on that does not say that the
 * node is being initialized (RaftServerImpl.appendEntriesAsync). If that request comes from a new
 * leader, the node may not have the entry yet that makes it a member. Then it stops at the next
 * election (NOT_IN_CONF), and the cluster that has made it a member misses its vote. So requests
 * say that the node is being initialized until it has that entry.
 *
 * <p>A request with a snapshot also names the members. Ratis (SnapshotInstallationHandler) takes
 * them whatever the term, after the snapshot, so they are removed from a request of a former
 * leader, and entries that name other members wait meanwhile. They are those of the last entry of
 * the snapshot (ADR 0121), so they are also removed if this node has that entry.
 */
final class FollowerAppends implements PeerService {
  private static final long NO_TERM = -1;

  /** How long a snapshot or a request waits for appends; then the leader has to send it again. */
  private static final long SETTLE_SECONDS = 10;

  /** How often a request that waits looks whether its leader has gone. */
  private static final long GONE_MILLIS = 100;

  private static final Logger LOG = LoggerFactory.getLogger(FollowerAppends.class);

  private static final String LOG_OF_RATIS = RaftLog.class.getPackageName() + ".";

  private final Consumer<Throwable> failed;

  /** Held while Ratis orders an append, as two connections may bring the same entries at once. */
  private final ReentrantLock order = new ReentrantLock();

  /**
   * Votes under way. Ratis appends after it has compared the terms, without its monitor: a vote may
   * have looked at the end of the log before that, and raise the term afterwards.
   */
  private final AtomicInteger voting = new AtomicInteger();

  private final RatisUpdater updater;
  private final DiskWatch disk;
  private final PromiseTrace trace;
  private final SealedEntries sealed;

  /** Guarded by {@link #installing}. */
  private final SealedArrival arrival;

  private final UnfinishedAppends unfinished = new UnfinishedAppends();
  private final ReentrantLock installing = new ReentrantLock(/* fair= */ true);

  private final long electionMillis;
  private final ApplyLag lag;

  /** True while a snapshot arrives that takes the place of the whole log. */
  private volatile boolean discarding;

  private volatile @Nullable EarlyElection election;
  private volatile @Nullable JoiningVotes votes;
  private volatile RaftServer.@Nullable Division division;
  private volatile Runnable grantedPreVote = () -> {};
  private volatile Runnable chunkArrived = () -> {};
  private volatile Consumer<LogEntryProto> membersArrive = entry -> {};

  /** When this node may be elected again, on the clock of {@link System#nanoTime}; else null. */
  private volatile @Nullable Long electableNanos;

  /**
   * @param electionMillis the longest election timeout
   * @param failed is told why this node will append nothing more; may be called more than once
   * @param sealed seals what Ratis appends
   */
  FollowerAppends(
      long electionMillis,
      RatisUpdater updater,
      DiskWatch disk,
      Consumer<Throwable> failed,
      PromiseTrace trace,
      SealedEntries sealed) {
    this.electionMillis = electionMillis;
    this.lag =
        new ApplyLag(
            TimeUnit.MILLISECONDS.toNanos(Limits.CAUGHT_UP_MILLIS),
            TimeUnit.MILLISECONDS.toNanos(Limits.LEADERLESS_ELECTION_TIMEOUTS * electionMillis));
    this.trace = requireNonNull(trace, "trace");
    this.sealed = requireNonNull(sealed, "sealed");
    this.arrival = new SealedArrival(sealed.keys());
    this.updater = requireNonNull(updater, "updater");
    this.disk = requireNonNull(disk, "disk");
    this.failed = requireNonNull(failed, "failed");
  }

  /**
   * Begins to watch a server that has not opened its log yet.
   *
   * @param preVoteGranted is called after each pre-vote that this node grants
   * @param arrived is called after each part of a snapshot that the leader sends
   * @param members gets the members that come with a snapshot, before the snapshot is taken over
   * @throws IllegalStateException if this Ratis is not the version that this class was written for
   */
  void install(
      RaftServer server,
      RaftGroupId group,
      Runnable preVoteGranted,
      Runnable arrived,
      Consumer<LogEntryProto> members)
      throws IOException {
    grantedPreVote = preVoteGranted;
    chunkArrived = arrived;
    membersArrive = members;
    RaftServer.Division owner = server.getDivision(group);
    election = new EarlyElection(owner, electionMillis);
    votes = new JoiningVotes(owner);
    division = owner;
  }

  /**
   * Has this node stand for no election for a while, because its state is not whole and another
   * node is to be elected first. After {@link Limits#UNELECTED_MILLIS} the node stands all the
   * same: it may be the only one whose log is complete, and the others need that log.
   */
  void electLater() {
    electableNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Limits.UNELECTED_MILLIS);
  }

  /** The state of this node is whole. */
  void mayBeElected() {
    electableNanos = null;
  }

  static IllegalStateException foreign(Exception cause) {
    return new IllegalStateException(
        "this Ratis appends entries otherwise than the one that Tollgate was written for", cause);
  }

  @Override
  public long term() {
    RaftServer.Division owner = division;
    return owner == null ? NO_TERM : owner.getInfo().getCurrentTerm();
  }

  @Override
  public boolean hasCaughtUp() {
    RaftServer.Division owner = division;
    Long electable = electableNanos;
    if (disk.isHung() || !isSettled() || (electable != null && electable - System.nanoTime() > 0)) {
      return false;
    }
    return owner == null
        || lag.hasCaughtUp(
            owner.getRaftLog().getLastCommittedIndex(),
            owner.getInfo().getLastAppliedIndex(),
            System.nanoTime());
  }

  /**
   * {@inheritDoc}
   *
   * <p>Ratis 3.3.0 counts a leader's own log up to the last entry that it has ever synced. That is
   * too many until a cut is made, which stands behind the syncs that were begun before it.
   */
  @Override
  public boolean isSettled() {
    if (!order.tryLock()) {
      return false;
    }
    try {
      return unfinished.isEmpty();
    } finally {
      order.unlock();
    }
  }

  @Override
  public AppendEntriesReplyProto answer(
      AppendEntriesRequestProto request, AppendEntriesReplyProto reply) throws IOException {
    RaftServer.Division owner = division;
    if (owner == null) {
      return reply;
    }
    long mark = trace.mark();
    // before the term: a vote that is over by now has raised it, and one that begins later finds
    // the entries in the log
    boolean isVoting = voting.get() > 0;
    long term = owner.getInfo().getCurrentTerm();
    if (isVoting && term == request.getLeaderTerm() && request.getEntriesCount() > 0) {
      throw new IOException("this node is voting in a later term");
    }
    AppendEntriesReplyProto.Builder answer =
        reply.toBuilder().setFollowerCommit(owner.getInfo().getLastAppliedIndex());
    if (term > request.getLeaderTerm()) {
      answer
          .setServerReply(reply.getServerReply().toBuilder().setSuccess(false))
          .setTerm(term)
          .setResult(AppendResult.NOT_LEADER)
          .setMatchIndex(RaftLog.INVALID_LOG_INDEX);
    }
    AppendEntriesReplyProto answered = answer.build();
    if (trace.isOn()) {
      TracedAnswers.write(trace, mark, owner.getRaftLog(), request, answered);
    }
    return answered;
  }

  private void noteCommits() {
    RaftServer.Division owner = division;
    if (owner != null) {
      lag.note(
          owner.getRaftLog().getLastCommittedIndex(),
          owner.getInfo().getLastAppliedIndex(),
          System.nanoTime());
    }
  }

  @Override
  public boolean tryAppend(AppendEntriesRequestProto received, Receiver receiver) {
    noteCommits();
    if (disk.isHung() && received.getLeaderTerm() > term()) {
      leaderHeard();
      return false;
    }
    AppendEntriesRequestProto request = checked(received);
    if (request.getEntriesCount() == 0) {
      var unused = receiver.receive(request);
      return true;
    }
    CompletableFuture<?> reply;
    order.lock();
    try {
      boolean cuts = mayCut(request);
      if (discarding
          || !unfinished.admits(request, cuts)
          || (installing.isLocked() && namesMembers(request))) {
        return false;
      }
      reply = receiver.receive(sealed.seal(request));
      unfinished.began(request, cuts, reply);
    } finally {
      order.unlock();
    }
    watch(reply);
    return true;
  }

  /**
   * {@inheritDoc}
   *
   * <p>While this waits, other requests do not: another connection may bring them.
   */
  @Override
  public void append(AppendEntriesRequestProto request, BooleanSupplier gone, Receiver receiver)
      throws IOException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SETTLE_SECONDS);
    while (!gone.getAsBoolean() && !tryAppend(request, receiver)) {
      requireTerm(request.getLeaderTerm());
      awaitAppended(unfinished.all(), request, end);
      awaitInstalled();
    }
  }

  /**
   * Rejects a request of a later term than that of this node while the disk hangs: Ratis would hold
   * its monitor until the disk has taken the term.
   */
  private void requireTerm(long term) throws IOException {
    if (term > term()) {
      disk.requireWorking();
    }
  }

  private boolean mayCut(AppendEntriesRequestProto request) {
    RaftServer.Division owner = division;
    return owner != null && request.getEntries(0).getIndex() < owner.getRaftLog().getNextIndex();
  }

  /** Has this node not stand for election, because there is a leader. */
  private void leaderHeard() {
    EarlyElection early = election;
    if (early != null) {
      early.heard();
    }
  }

  private AppendEntriesRequestProto checked(AppendEntriesRequestProto received) {
    AppendEntriesRequestProto request = ComparedCommits.of(received);
    return isToBeInitialized(request) ? request.toBuilder().setInitializing(true).build() : request;
  }

  @Override
  public <T> T installSnapshot(InstallSnapshotRequestProto request, SnapshotReceiver<T> receiver)
      throws IOException {
    requireTerm(request.getLeaderTerm());
    installing.lock();
    try {
      updater.awaitLoaded(System.nanoTime() + TimeUnit.SECONDS.toNanos(SETTLE_SECONDS));
      InstallSnapshotRequestProto checked = checked(request);
      if (checked.hasLastRaftConfigurationLogEntryProto()) {
        membersArrive.accept(checked.getLastRaftConfigurationLogEntryProto());
      }
      beginDiscarding(checked);
      T answer = receiver.receive(arrival.seal(checked));
      chunkArrived.run();
      if (discarding) {
        discardLog(checked.getSnapshotChunk().getTermIndex().getIndex());
      }
      if (trace.isOn()) {
        TracedAnswers.write(trace, request);
      }
      return answer;
    } finally {
      discarding = false;
      installing.unlock();
    }
  }

  /**
   * Lets no entries in if the log of this node has another entry than the one with which a snapshot
   * ends: the snapshot then takes the place of the whole log (Raft, figure 13). Ratis 3.3.0
   * (SegmentedRaftLog.onSnapshotInstalled) keeps a segment that ends after the snapshot.
   */
  private void beginDiscarding(InstallSnapshotRequestProto request) {
    RaftServer.Division owner = division;
    if (owner == null || !request.getSnapshotChunk().getDone() || isDeposed(request)) {
      return;
    }
    TermIndex covered = TermIndex.valueOf(request.getSnapshotChunk().getTermIndex());
    order.lock();
    try {
      TermIndex own = owner.getRaftLog().getTermIndex(covered.getIndex());
      discarding = own != null && own.getTerm() != covered.getTerm();
    } finally {
      order.unlock();
    }
  }

  /** Removes a log that a snapshot has overruled, once the snapshot has taken its place. */
  private void discardLog(long covered) throws IOException {
    RaftServer.Division owner = requireNonNull(division, "division");
    synchronized (owner) {
      RaftLog log = owner.getRaftLog();
      if (log.getSnapshotIndex() != covered || log.getStartIndex() < 0) {
        return;
      }
      LOG.warn(
          "{}: the log is removed, because the leader has another entry {}",
          owner.getId(),
          covered);
      settle();
      try {
        log.truncate(log.getStartIndex()).get(SETTLE_SECONDS, TimeUnit.SECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException("the node stops", e);
      } catch (ExecutionException | TimeoutException e) {
        IllegalStateException left =
            new IllegalStateException("a log that a snapshot has overruled is not removed", e);
        failed.accept(left);
        throw left;
      }
      var unused = log.onSnapshotInstalled(covered);
    }
  }

  private InstallSnapshotRequestProto checked(InstallSnapshotRequestProto request) {
    boolean isNoNews;
    order.lock();
    try {
      // an entry of a later leader has raised the term by now, or waits until this is over
      isNoNews = isDeposed(request) || isCovered(request);
    } finally {
      order.unlock();
    }
    return isNoNews
        ? request.toBuilder().clearLastRaftConfigurationLogEntryProto().build()
        : request;
  }

  @Override
  public RequestVoteReplyProto vote(RequestVoteRequestProto request, Voter ratis)
      throws IOException {
    disk.requireWorking();
    if (!request.getPreVote()) {
      voting.incrementAndGet();
    }
    try {
      JoiningVotes joining = votes;
      RequestVoteReplyProto joiner = joining == null ? null : joining.vote(request);
      RequestVoteReplyProto reply = joiner == null ? ratis.vote(request) : joiner;
      if (request.getPreVote() && reply.getServerReply().getSuccess()) {
        grantedPreVote.run();
      }
      if (!reply.getServerReply().getSuccess() && lacksEntries(request, reply)) {
        lag.needed();
      }
      if (trace.isOn()) {
        TracedAnswers.write(trace, request, reply);
      }
      return reply;
    } finally {
      if (!request.getPreVote()) {
        voting.decrementAndGet();
      }
    }
  }

  /** True if the log of a candidate ends before that of this node. */
  private static boolean lacksEntries(
      RequestVoteRequestProto request, RequestVoteReplyProto reply) {
    return TermIndex.valueOf(reply.getLastEntry())
            .compareTo(TermIndex.valueOf(request.getCandidateLastEntry()))
        > 0;
  }

  @Override
  public boolean hasLost(String leader, long term, long logIndex) {
    RaftServer.Division owner = division;
    return owner != null
        && owner.getInfo().getCurrentTerm() == term
        && RaftPeerId.valueOf(leader).equals(owner.getInfo().getLeaderId())
        && lastIndex(owner.getRaftLog()) < logIndex;
  }

  private static long lastIndex(RaftLog log) {
    return Math.max(log.getNextIndex() - 1, log.getSnapshotIndex());
  }

  @Override
  public void doubtLeader(String nodeId, long term) {
    EarlyElection early = election;
    if (early != null) {
      early.doubt(nodeId, term);
    }
  }

  /**
   * {@inheritDoc}
   *
   * <p>The election begins once what that leader has sent is on the disk.
   */
  @Override
  public void standForElection(String nodeId, long term) {
    EarlyElection early = election;
    if (early != null) {
      var unused = unfinished.all().whenComplete((done, failure) -> early.stand(nodeId, term));
    }
  }

  /** True if the request would begin elections at a node that is not a member yet. */
  private boolean isToBeInitialized(AppendEntriesRequestProto request) {
    RaftServer.Division owner = division;
    return !request.getInitializing()
        && owner != null
        && owner.getInfo().getLifeCycleState() == LifeCycle.State.STARTING
        && owner.getRaftConf().getPeer(owner.getId()) == null;
  }

  /** True if the request comes from the leader of a term that has passed. */
  private boolean isDeposed(InstallSnapshotRequestProto request) {
    RaftServer.Division owner = division;
    return owner != null && request.getLeaderTerm() < owner.getInfo().getCurrentTerm();
  }

  /** True if this node has all that the snapshot covers, and knows later members perhaps. */
  private boolean isCovered(InstallSnapshotRequestProto request) {
    RaftServer.Division owner = division;
    return owner != null
        && owner.getRaftLog().getLastCommittedIndex()
            >= request.getSnapshotChunk().getTermIndex().getIndex();
  }

  private static boolean namesMembers(AppendEntriesRequestProto request) {
    return request.getEntriesList().stream().anyMatch(LogEntryProto::hasConfigurationEntry);
  }

  /** Waits until no snapshot is being taken over, but not for long. */
  private void awaitInstalled() throws IOException {
    try {
      if (installing.tryLock(GONE_MILLIS, TimeUnit.MILLISECONDS)) {
        installing.unlock();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("the node stops", e);
    }
  }

  /** Waits until these appends are done, but not for long. */
  private static void awaitAppended(
      CompletableFuture<?> appends, AppendEntriesRequestProto request, long end)
      throws IOException {
    if (System.nanoTime() - end > 0) {
      throw new IOException(
          "entries from "
              + request.getEntries(0).getIndex()
              + " on are still being appended: send them again");
    }
    try {
      appends.get(GONE_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("the node stops", e);
    } catch (ExecutionException e) {
      throw new IOException("this node appends no more entries", e);
    } catch (TimeoutException e) {
      // the leader may have gone meanwhile
      return;
    }
  }

  /** Fails the node if the log of Ratis throws. Other failures concern the request alone. */
  private void watch(CompletableFuture<?> append) {
    var unused =
        append.exceptionally(
            failure -> {
              if (isOfTheLog(failure)) {
                failed.accept(failure);
              }
              return null;
            });
  }

  private static boolean isOfTheLog(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      for (StackTraceElement frame : cause.getStackTrace()) {
        if (frame.getClassName().startsWith(LOG_OF_RATIS)) {
          return true;
        }
      }
    }
    return false;
  }

  /**
   * Waits until all that was appended is on disk. Ratis lets no further append begin meanwhile,
   * because the caller has its monitor.
   *
   * @throws IllegalStateException if that takes too long, or if an append has failed
   */
  void settle() {
    RaftServer.Division owner = requireNonNull(division, "division");
    try {
      LogWriter writer = LogWriter.of(owner.getRaftLog());
      unfinished
          .all()
          .thenCompose(appended -> writer.drained())
          .get(SETTLE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("the node stops", e);
    } catch (TimeoutException e) {
      throw new IllegalStateException(
          "entries from the leader have not been written for " + SETTLE_SECONDS + " s", e);
    } catch (ExecutionException e) {
      throw new IllegalStateException("an entry from the leader could not be written", e);
    } catch (ReflectiveOperationException e) {
      throw foreign(e);
    }
  }
}
