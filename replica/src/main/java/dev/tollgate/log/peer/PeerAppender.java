package dev.tollgate.log.peer;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.trace.PromiseTrace;
import java.io.IOException;
import java.util.Comparator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.server.RaftConfiguration;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.leader.FollowerInfo;
import org.apache.ratis.server.leader.LeaderState;
import org.apache.ratis.server.leader.LogAppenderBase;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.apache.ratis.util.Timestamp;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings the log of a leader to one follower. Several requests with entries are under way at once,
 * and heartbeats beside them. What is under way when a connection breaks, or fails, is sent again:
 * the leader goes back to the first entry that has no answer.
 *
 * <p>One thread of its own connects, sends heartbeats and snapshots, and reads entries that are no
 * longer in memory.
 */
final class PeerAppender extends LogAppenderBase {
  private static final Logger LOG = LoggerFactory.getLogger(PeerAppender.class);

  /** After a request that failed; twice as long after each further one. */
  private static final long FIRST_PAUSE_MILLIS = 5;

  private static final int LONGEST_PAUSE_SHIFT = 7;

  private static final Comparator<Long> IN_ORDER = (a, b) -> Long.signum(a - b);

  private final PeerLink link;
  private final PeerSettings settings;
  private final AtomicLong callIds = new AtomicLong();
  private final ReentrantLock sending = new ReentrantLock();
  private final SnapshotDelivery snapshots;
  private final LostEntries lost;

  /** Guarded by {@link #sending}, but for its count. */
  private final PendingAppends pending = new PendingAppends();

  private int failures;
  private long resumeNanos = System.nanoTime();
  private volatile boolean wanted;
  private volatile @Nullable Thread thread;

  PeerAppender(
      RaftServer.Division division,
      LeaderState leader,
      FollowerInfo follower,
      PeerLink link,
      PeerSettings settings) {
    super(division, leader, follower);
    this.link = requireNonNull(link, "link");
    this.settings = requireNonNull(settings, "settings");
    this.snapshots = new SnapshotDelivery(this, link, settings);
    this.lost = new LostEntries(this, link, settings.supervision());
  }

  @Override
  public long getCallId() {
    return callIds.get();
  }

  @Override
  public Comparator<Long> getCallIdComparator() {
    return IN_ORDER;
  }

  /** Heartbeats beside entries name no entry before them, which may not have arrived yet. */
  @Override
  public boolean hasPendingDataRequests() {
    return pending.count() > 0;
  }

  /**
   * {@inheritDoc}
   *
   * <p>Sends on this thread what is in memory: that takes no other thread and never waits.
   */
  @Override
  public void notifyLogAppender() {
    wanted = true;
    if (!trySend()) {
      LockSupport.unpark(thread);
    }
  }

  /** False if the thread of this appender has to look after it. */
  private boolean trySend() {
    PeerConnection connection = link.connection();
    while (connection != null && wanted && sending.tryLock()) {
      try {
        if (!isInMemory()) {
          return false;
        }
        wanted = false;
        sendDue(connection);
      } catch (IOException | RuntimeException e) {
        // the thread of this appender will meet it too
        LOG.debug("{}: nothing is sent", this, e);
        wanted = true;
        return false;
      } finally {
        sending.unlock();
      }
    }
    return !wanted;
  }

  /** True if the entries that the follower lacks are the last few. */
  private boolean isInMemory() {
    return getRaftLog().getNextIndex() - getFollower().getNextIndex() <= PendingAppends.MOST;
  }

  @Override
  public void run() throws InterruptedException, IOException {
    thread = Thread.currentThread();
    while (isRunning()) {
      wanted = false;
      if (shouldSendAppendEntries()) {
        PeerConnection connection = connect();
        if (connection != null && !installSnapshot(connection)) {
          send(connection);
        }
      }
      getLeaderState().checkHealth(getFollower());
      await();
    }
  }

  private @Nullable PeerConnection connect() throws InterruptedException {
    try {
      return link.connect();
    } catch (IOException e) {
      LOG.debug("{}: no connection", this, e);
      return null;
    }
  }

  /** Waits until there may be something to do. */
  private void await() throws InterruptedException {
    long nanos = TimeUnit.MILLISECONDS.toNanos(Math.max(1, getHeartbeatWaitTimeMs()));
    if (link.connection() == null) {
      // entries that are appended meanwhile are no reason to try more often
      TimeUnit.NANOSECONDS.sleep(settings.retryNanos());
      return;
    }
    long pause = resumeNanos - System.nanoTime();
    if (!wanted) {
      LockSupport.parkNanos(this, pause > 0 ? Math.min(pause, nanos) : nanos);
    }
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
  }

  private void send(PeerConnection connection) throws IOException {
    sending.lock();
    try {
      sendDue(connection);
    } finally {
      sending.unlock();
    }
  }

  /** Sends all that is due; call with the lock. */
  private void sendDue(PeerConnection connection) throws IOException {
    while (isRunning() && !connection.isClosed()) {
      boolean full = isFull();
      if (full ? getHeartbeatWaitTimeMs() > 0 : !shouldSendAppendEntries()) {
        return;
      }
      AppendEntriesRequestProto request = newAppendEntriesRequest(callIds.getAndIncrement(), full);
      if (request == null) {
        return;
      }
      send(connection, opened(request));
    }
  }

  private AppendEntriesRequestProto opened(AppendEntriesRequestProto request) throws IOException {
    try {
      return settings.entries().open(request);
    } catch (IOException e) {
      settings.supervision().failed("reading the log for a follower", e);
      throw e;
    }
  }

  private boolean isFull() {
    return lost.isAsking() || pending.isFull() || resumeNanos - System.nanoTime() > 0;
  }

  private void send(PeerConnection connection, AppendEntriesRequestProto request) {
    boolean heartbeat = request.getEntriesCount() == 0;
    long callId = request.getServerRequest().getCallId();
    if (!heartbeat) {
      LogEntryProto last = request.getEntries(request.getEntriesCount() - 1);
      getFollower().increaseNextIndex(last.getIndex() + 1);
      pending.add(callId, request.getEntries(0).getIndex(), request.getSerializedSize());
    }
    traceCommit(request);
    resetHeartbeatTrigger();
    Timestamp sendTime = Timestamp.currentTime();
    getFollower().updateLastRpcSendTime(heartbeat);
    long acknowledged = getFollower().getMatchIndex();
    CompletableFuture<Frame> answer =
        connection.call((call, read) -> Frame.of(Frame.Kind.APPEND, call, read, request));
    settings
        .supervision()
        .watch(
            "the answer of a follower",
            answer.handle(
                (frame, failure) -> {
                  if (failure == null) {
                    unlessStopped(() -> answered(request, frame, sendTime, acknowledged));
                  } else {
                    unlessStopped(() -> failed(callId, failure));
                  }
                  return null;
                }));
  }

  /** A request says less than what is committed to a follower that has less. */
  private void traceCommit(AppendEntriesRequestProto request) {
    PromiseTrace trace = settings.trace();
    if (trace.isOn() && request.getLeaderCommit() != RaftLog.INVALID_LOG_INDEX) {
      RaftConfiguration members = getServer().getRaftConf();
      trace.committed(
          request.getLeaderTerm(),
          getRaftLog().getLastCommittedIndex(),
          members.getCurrentPeers(),
          members.getPreviousPeers(),
          RaftPeer::getId);
    }
  }

  /** Ratis throws when it is asked for a log that it has closed, or a follower that is gone. */
  private void unlessStopped(Runnable work) {
    try {
      work.run();
    } catch (RuntimeException e) {
      if (isRunning()) {
        throw e;
      }
      LOG.debug("{}: an answer comes too late", this, e);
    }
  }

  /**
   * @param acknowledged what the follower had acknowledged when the request was sent
   */
  private void answered(
      AppendEntriesRequestProto request, Frame frame, Timestamp sendTime, long acknowledged) {
    AppendEntriesReplyProto reply;
    try {
      AppendEntriesReplyProto answer = AppendEntriesReplyProto.parseFrom(frame.message());
      settings.requireReachable(answer.getTerm());
      reply = ofItsTerm(request, answer);
    } catch (IOException e) {
      failed(request.getServerRequest().getCallId(), e);
      return;
    }
    if (!isRunning()) {
      return;
    }
    FollowerInfo follower = getFollower();
    follower.updateLastRespondedAppendEntriesSendTime(sendTime);
    follower.updateLastRpcResponseTime();
    if (LostEntries.shownBy(reply, acknowledged)) {
      goBackBehindLost(reply.getNextIndex(), acknowledged);
    }
    lost.ask(link.connection());
    switch (reply.getResult()) {
      case SUCCESS -> {
        getLeaderState().onFollowerCommitIndex(follower, reply.getFollowerCommit());
        if (isNews(request, reply.getMatchIndex())) {
          getLeaderState().onFollowerSuccessAppendEntries(follower);
        }
      }
      case NOT_LEADER -> {
        forget(request);
        LOG.info("{}: the follower is in term {}", this, reply.getTerm());
        if (onFollowerTerm(reply.getTerm())) {
          return;
        }
      }
      case INCONSISTENCY -> goBack(request, reply.getNextIndex());
      default -> {
        failed(
            request.getServerRequest().getCallId(),
            new IOException("an answer of kind " + reply.getResult()));
        return;
      }
    }
    getLeaderState().onAppendEntriesReply(this, reply);
    notifyLogAppender();
  }

  /** A follower that is in a later term acknowledges nothing, whatever its reply says. */
  private static AppendEntriesReplyProto ofItsTerm(
      AppendEntriesRequestProto request, AppendEntriesReplyProto reply) {
    return reply.getTerm() > request.getLeaderTerm()
        ? reply.toBuilder().setResult(AppendResult.NOT_LEADER).build()
        : reply;
  }

  /** True if the follower has entries of which this node did not know. */
  private boolean isNews(AppendEntriesRequestProto request, long matchIndex) {
    sending.lock();
    try {
      forget(request);
      if (request.getEntriesCount() > 0) {
        settings.trace().counted(request.getLeaderTerm(), matchIndex, getFollowerId());
      }
      if (!getFollower().updateMatchIndex(matchIndex)) {
        return false;
      }
      getFollower().updateNextIndex(matchIndex + 1);
      return true;
    } finally {
      sending.unlock();
    }
  }

  /** Removes a request that was answered from those under way. */
  private void forget(AppendEntriesRequestProto request) {
    sending.lock();
    try {
      if (pending.remove(request.getServerRequest().getCallId())) {
        failures = 0;
      }
    } finally {
      sending.unlock();
    }
  }

  /**
   * The follower has not what comes before a request. An answer to one that is no longer under way
   * says nothing new.
   */
  private void goBack(AppendEntriesRequestProto request, long nextIndex) {
    boolean heartbeat = request.getEntriesCount() == 0;
    long first = heartbeat ? RaftLog.INVALID_LOG_INDEX : request.getEntries(0).getIndex();
    sending.lock();
    try {
      if (!heartbeat && !pending.contains(request.getServerRequest().getCallId())) {
        return;
      }
      getFollower().setNextIndex(getNextIndexForInconsistency(first, nextIndex));
      pending.clear();
    } finally {
      sending.unlock();
    }
    LOG.info("{}: the follower goes on at {}", this, getFollower().getNextIndex());
  }

  /** The log of the follower ends before what it has acknowledged, so that does not count. */
  private void goBackBehindLost(long nextIndex, long acknowledged) {
    sending.lock();
    try {
      // the only way that lowers what Ratis counts for a commit
      getFollower().setSnapshotIndex(RaftLog.INVALID_LOG_INDEX);
      getFollower().setNextIndex(nextIndex);
      pending.clear();
      lost.suspect(nextIndex, acknowledged);
    } finally {
      sending.unlock();
    }
  }

  /**
   * Goes back to the first entry without an answer, if this request is still under way: what was
   * sent after it may have been lost too. A heartbeat is not sent again.
   */
  private void failed(long callId, Throwable failure) {
    boolean mine;
    boolean often = false;
    sending.lock();
    try {
      mine = pending.contains(callId);
      if (mine) {
        long first = pending.firstIndex();
        getFollower().setNextIndex(Math.max(first, getFollower().getMatchIndex() + 1));
        pending.clear();
        failures++;
        often = failures > LONGEST_PAUSE_SHIFT;
        resumeNanos = System.nanoTime() + pauseNanos();
      }
    } finally {
      sending.unlock();
    }
    if (mine && !often && isRunning()) {
      LOG.info(
          "{}: entries from {} on are sent again: {}",
          this,
          getFollower().getNextIndex(),
          failure.getMessage());
    }
    // after the pause, which only that thread can wait for
    wanted = true;
    LockSupport.unpark(thread);
  }

  /** Sends a snapshot if the follower needs one, and waits until the follower has it. */
  private boolean installSnapshot(PeerConnection connection) throws InterruptedException {
    SnapshotInfo snapshot = shouldInstallSnapshot();
    if (snapshot == null) {
      return false;
    }
    if (snapshots.deliver(snapshot, connection)) {
      sending.lock();
      try {
        getFollower().setSnapshotIndex(snapshot.getTermIndex().getIndex());
      } finally {
        sending.unlock();
      }
      getFollower().setAttemptedToInstallSnapshot();
      LOG.info("{}: the follower has {}", this, snapshot.getTermIndex());
    } else {
      failures++;
      TimeUnit.NANOSECONDS.sleep(pauseNanos());
    }
    return true;
  }

  private long pauseNanos() {
    return TimeUnit.MILLISECONDS.toNanos(
        FIRST_PAUSE_MILLIS << Math.min(failures, LONGEST_PAUSE_SHIFT));
  }
}
