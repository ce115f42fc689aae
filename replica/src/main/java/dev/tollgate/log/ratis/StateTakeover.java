package dev.tollgate.log.ratis;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Limits;
import dev.tollgate.log.LogConsumer;
import dev.tollgate.log.SnapshotFile;
import dev.tollgate.log.StateDiffersException;
import dev.tollgate.log.peer.PeerTransport;
import dev.tollgate.log.snapshot.Snapshots;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Replaces the state of this node with the leader's, when the state of this node differs. The log
 * of this node is right, and only what the node made of it is wrong. So the node goes on to append
 * entries, to vote for others and to acknowledge, and the thread that applies the log waits here
 * for a snapshot of the leader. The node stands for no election meanwhile, and a node that leads
 * steps down (ADR 0096). Belongs to the apply thread.
 */
final class StateTakeover {
  private static final Logger LOG = LoggerFactory.getLogger(StateTakeover.class);
  private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
  private static final long AHEAD_NANOS = TimeUnit.MILLISECONDS.toNanos(Limits.STATE_AHEAD_MILLIS);
  private static final long REMIND_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** For how long a node that is elected gives the others its log before it steps down. */
  private static final long GIVES_LOG_NANOS = TimeUnit.MILLISECONDS.toNanos(Limits.REPORTS_MILLIS);

  private static final long TAKEN_WITHIN_NANOS = TimeUnit.MINUTES.toNanos(10);

  private final OwnServer server;
  private final LogConsumer consumer;
  private final Snapshots snapshots;
  private final FollowerAppends appends;
  private final BooleanSupplier isOver;

  /** When states were to be taken, on the clock of {@link System#nanoTime}. */
  private final List<Long> taken = new ArrayList<>();

  /** Since when this node has led; long ago if it led when it began. */
  private long ledNanos;

  /**
   * @param isOver whether this node stops, or Ratis replaces the state by itself
   */
  StateTakeover(
      OwnServer server,
      LogConsumer consumer,
      Snapshots snapshots,
      FollowerAppends appends,
      BooleanSupplier isOver) {
    this.server = requireNonNull(server, "server");
    this.consumer = requireNonNull(consumer, "consumer");
    this.snapshots = requireNonNull(snapshots, "snapshots");
    this.appends = requireNonNull(appends, "appends");
    this.isOver = requireNonNull(isOver, "isOver");
  }

  /** Counts one more state that is to be taken; returns true if there were too many lately. */
  boolean isOneTooMany() {
    long now = System.nanoTime();
    taken.removeIf(then -> now - then > TAKEN_WITHIN_NANOS);
    taken.add(now);
    return taken.size() > Limits.STATES_TAKEN;
  }

  /**
   * Waits for a snapshot of the leader, which is the newest of this node then.
   *
   * @param logIndex the entry that showed the difference; the snapshot covers at least those before
   * @return false if that is no longer to be done
   */
  boolean run(PeerTransport transport, StateDiffersException why, long logIndex)
      throws IOException {
    RaftServer.Division division = server.division();
    consumer.awaitsState(why);
    appends.electLater();
    long reminded = System.nanoTime();
    ledNanos = reminded - GIVES_LOG_NANOS;
    while (!isOver.getAsBoolean()) {
      try {
        fetch(transport, division, logIndex - 1);
        return true;
      } catch (IOException e) {
        LOG.debug("{}: no snapshot of the leader yet", division.getId(), e);
        if (System.nanoTime() - reminded > REMIND_NANOS) {
          reminded = System.nanoTime();
          LOG.error(
              "{}: still waits for the state of the leader: {}", division.getId(), e.getMessage());
        }
        LockSupport.parkNanos(RETRY_NANOS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return false;
      }
    }
    return false;
  }

  private void fetch(PeerTransport transport, RaftServer.Division division, long logIndex)
      throws IOException, InterruptedException {
    RaftPeerId leader = division.getInfo().getLeaderId();
    if (leader == null) {
      ledNanos = System.nanoTime();
      throw new IOException("no node leads");
    }
    if (leader.equals(division.getId())) {
      stepDownIfOthersHaveTheLog();
      throw new IOException("this node itself was elected, and steps down");
    }
    ledNanos = System.nanoTime();
    SnapshotFile arrived = transport.fetchState(leader.toString(), logIndex, snapshots.arriving());
    TermIndex covered = TermIndex.valueOf(arrived.term(), arrived.index());
    if (covered.getIndex() > logIndex) {
      awaitLog(division.getRaftLog(), covered);
    }
    snapshots.keepArrived(covered);
  }

  /**
   * Waits until the log of this node has the last entry that the state covers. Ratis takes a
   * snapshot for a log up to there (RaftServerImpl.checkInconsistentAppendEntries): it would have
   * the leader send what comes after the snapshot, and append that behind a gap.
   */
  private void awaitLog(RaftLog log, TermIndex covered) throws IOException {
    long end = log.getNextIndex();
    long grown = System.nanoTime();
    // an entry of another term there was never committed: its leader is about to cut it off
    while (!covered.equals(log.getTermIndex(covered.getIndex()))) {
      if (isOver.getAsBoolean()) {
        throw new IOException("this node takes no state any more");
      }
      if (log.getNextIndex() != end) {
        end = log.getNextIndex();
        grown = System.nanoTime();
      } else if (System.nanoTime() - grown > AHEAD_NANOS) {
        throw new IOException(
            "the log of this node ends before entry "
                + end
                + ", and has not reached entry "
                + covered.getIndex()
                + " of the state that has arrived");
      }
      LockSupport.parkNanos(LOOK_NANOS);
    }
  }

  private void stepDownIfOthersHaveTheLog() throws IOException {
    if (System.nanoTime() - ledNanos >= GIVES_LOG_NANOS) {
      appends.electLater();
      RatisLeadership.stepDown(server.get(), RatisLog.GROUP);
      ledNanos = System.nanoTime();
    }
  }
}
