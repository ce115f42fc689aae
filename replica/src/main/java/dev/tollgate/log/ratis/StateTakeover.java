package dev.tollgate.log.ratis;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.LogConsumer;
import dev.tollgate.log.SnapshotFile;
import dev.tollgate.log.StateDiffersException;
import dev.tollgate.log.peer.PeerTransport;
import dev.tollgate.log.snapshot.Snapshots;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.TransferLeadershipRequest;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
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
  private static final long REMIND_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final long STEP_DOWN_MILLIS = 1_000;

  private final RaftServer server;
  private final RaftServer.Division division;
  private final LogConsumer consumer;
  private final Snapshots snapshots;
  private final FollowerAppends appends;
  private final PeerTransport transport;
  private final BooleanSupplier isOver;
  private final ClientId clientId = ClientId.randomId();
  private final AtomicLong callIds = new AtomicLong();

  /**
   * @param isOver whether this node stops, or Ratis replaces the state by itself
   */
  StateTakeover(
      RaftServer server,
      RaftServer.Division division,
      LogConsumer consumer,
      Snapshots snapshots,
      FollowerAppends appends,
      PeerTransport transport,
      BooleanSupplier isOver) {
    this.server = requireNonNull(server, "server");
    this.division = requireNonNull(division, "division");
    this.consumer = requireNonNull(consumer, "consumer");
    this.snapshots = requireNonNull(snapshots, "snapshots");
    this.appends = requireNonNull(appends, "appends");
    this.transport = requireNonNull(transport, "transport");
    this.isOver = requireNonNull(isOver, "isOver");
  }

  /**
   * Waits for a snapshot of the leader, which is the newest of this node then.
   *
   * @param logIndex the entry that showed the difference; the snapshot covers at least those before
   * @return false if that is no longer to be done
   */
  boolean run(StateDiffersException why, long logIndex) {
    consumer.awaitsState(why);
    appends.setApart(true);
    long reminded = System.nanoTime();
    while (!isOver.getAsBoolean()) {
      try {
        fetch(logIndex - 1);
        return true;
      } catch (IOException e) {
        LOG.debug("{}: no snapshot of the leader yet", server.getId(), e);
        if (System.nanoTime() - reminded > REMIND_NANOS) {
          reminded = System.nanoTime();
          LOG.error(
              "{}: still waits for the state of the leader: {}", server.getId(), e.getMessage());
        }
        LockSupport.parkNanos(RETRY_NANOS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return false;
      }
    }
    return false;
  }

  private void fetch(long logIndex) throws IOException, InterruptedException {
    RaftPeerId leader = division.getInfo().getLeaderId();
    if (leader == null) {
      throw new IOException("no node leads");
    }
    if (leader.equals(server.getId())) {
      stepDown();
      throw new IOException("this node itself was elected, and steps down");
    }
    SnapshotFile arrived = transport.fetchState(leader.toString(), logIndex, snapshots.arriving());
    snapshots.keepArrived(TermIndex.valueOf(arrived.term(), arrived.index()));
  }

  private void stepDown() throws IOException {
    var unused =
        server.transferLeadershipAsync(
            new TransferLeadershipRequest(
                clientId,
                server.getId(),
                division.getGroup().getGroupId(),
                callIds.incrementAndGet(),
                null,
                STEP_DOWN_MILLIS));
  }
}
