package dev.tollgate.log.ratis;

import static dev.tollgate.log.ratis.RatisInternals.field;
import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Limits;
import java.lang.reflect.Field;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.DivisionProperties;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.util.TimeDuration;
import org.jspecify.annotations.Nullable;

/**
 * Election timeouts that leave time for what a disk does within them. A vote is answered once it is
 * on the disk of the voter, and a candidate that waits for less than that is never elected. Ratis
 * 3.3.0 (LeaderElection, FollowerState) draws the wait for votes, and the wait for a leader, from
 * two fixed bounds, and offers no way to change these. So this class takes their place.
 *
 * <p>Two waits grow: that of a candidate which has just written its own vote, and that of a
 * follower which has granted a pre-vote, and will be asked for its vote once the candidate has
 * written its own. Both bounds of these waits grow by the time of {@link #WRITES} writes of a vote,
 * as the last one took on this disk: other nodes have disks like this one. Each candidacy of this
 * node that ends without a leader adds more, because the disks of the others may be slower. All
 * other waits are those of the settings: the silence of a leader, pre-votes, and what depends on
 * heartbeats. Thread-safe.
 */
final class ElectionTimeouts implements DivisionProperties {
  /** A voter may have to finish the write of a later term before it writes the vote. */
  private static final int WRITES = 2;

  /** By how much the upper bound grows with the lower one: two candidates are to draw apart. */
  private static final int SPREAD = 2;

  /** After that many candidacies without a leader the bounds grow no more. */
  private static final int MOST_DOUBLED = 5;

  private final DivisionProperties configured;
  private final RaftServer.Division division;
  private final LongSupplier voteMillis;
  private final AtomicInteger candidacies = new AtomicInteger();

  /** True if this node has voted for itself, and does not wait for the votes of others yet. */
  private final AtomicBoolean stands = new AtomicBoolean();

  /** When this node has granted a pre-vote; null if it has granted none. */
  private volatile @Nullable Long grantedNanos;

  /** By how much the lower bound grew that this thread was told last: the upper one fits it. */
  private final ThreadLocal<Integer> added = ThreadLocal.withInitial(() -> 0);

  /**
   * @param voteMillis how long the disk took for the last vote
   */
  ElectionTimeouts(
      DivisionProperties configured, RaftServer.Division division, LongSupplier voteMillis) {
    this.configured = requireNonNull(configured, "configured");
    this.division = requireNonNull(division, "division");
    this.voteMillis = requireNonNull(voteMillis, "voteMillis");
  }

  /**
   * Replaces the bounds of a server that has not started yet.
   *
   * @throws IllegalStateException if this Ratis is not the version that this class was written for
   */
  static ElectionTimeouts install(RaftServer.Division division, DiskWatch disk) {
    ElectionTimeouts timeouts =
        new ElectionTimeouts(division.properties(), division, disk::voteMillis);
    try {
      Field properties = field(division.getClass(), "divisionProperties");
      properties.set(division, timeouts);
      // the bounds of the first election are read from elsewhere
      ((AtomicBoolean)
              requireNonNull(field(division.getClass(), "firstElectionSinceStartup").get(division)))
          .set(false);
    } catch (ReflectiveOperationException | ClassCastException | IllegalArgumentException e) {
      throw foreign(e);
    }
    if (division.properties() != timeouts) {
      throw foreign(null);
    }
    return timeouts;
  }

  private static IllegalStateException foreign(@Nullable Exception cause) {
    return new IllegalStateException(
        "this Ratis takes its election timeouts from elsewhere than the one that Tollgate was"
            + " written for",
        cause);
  }

  /** Notes whom this node votes for: itself if it stands for election. */
  void voted(RaftPeerId votedFor) {
    if (votedFor.equals(division.getId())) {
      candidacies.incrementAndGet();
      stands.set(true);
    }
  }

  /** Notes that a candidate will ask this node for its vote. */
  void grantedPreVote() {
    grantedNanos = System.nanoTime();
  }

  /** By how much a wait grows that depends on votes. */
  private int votesMillis() {
    int failed = Math.max(0, candidacies.get() - 1);
    long more = configured.minRpcTimeoutMs() * ((1L << Math.min(failed, MOST_DOUBLED)) - 1);
    return (int) Math.min(Limits.SLOW_DISK_ELECTION_MILLIS, WRITES * voteMillis.getAsLong() + more);
  }

  /** By how much the wait grows that begins now. */
  private int addedMillis() {
    DivisionInfo info = division.getInfo();
    if (info.isCandidate()) {
      return stands.getAndSet(false) ? votesMillis() : 0;
    }
    stands.set(false);
    if (info.getLeaderId() != null) {
      candidacies.set(0);
    }
    Long granted = grantedNanos;
    if (granted == null || !info.isFollower()) {
      return 0;
    }
    int millis = votesMillis();
    long since = System.nanoTime() - granted;
    return since < TimeUnit.MILLISECONDS.toNanos(millis) ? millis : 0;
  }

  @Override
  public int minRpcTimeoutMs() {
    int millis = addedMillis();
    added.set(millis);
    return configured.minRpcTimeoutMs() + millis;
  }

  /** {@inheritDoc} Ratis fails if the lower bound that it has just asked for is above. */
  @Override
  public int maxRpcTimeoutMs() {
    return configured.maxRpcTimeoutMs() + SPREAD * added.get();
  }

  /** For how long a leader counts as alive, which does not depend on a disk. */
  @Override
  public TimeDuration minRpcTimeout() {
    return configured.minRpcTimeout();
  }

  @Override
  public TimeDuration maxRpcTimeout() {
    return configured.maxRpcTimeout();
  }

  @Override
  public TimeDuration rpcSleepTime() {
    return configured.rpcSleepTime();
  }

  @Override
  public TimeDuration rpcSlownessTimeout() {
    return configured.rpcSlownessTimeout();
  }
}
