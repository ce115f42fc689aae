package dev.tollgate.log.ratis;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Limits;
import dev.tollgate.log.Supervision;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.raftlog.RaftLog;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches whether the disk of this node takes what the node writes to its log. Ratis commits an
 * entry only once its leader has synced the entry too, and heartbeats do not depend on a disk. So a
 * leader whose disk hangs would stop the cluster for as long as the disk hangs.
 *
 * <p>A leader that cannot make its own log durable does not lead. If its disk hangs, and a majority
 * of followers has entries that the disk has not taken, the leader steps down. A node whose disk
 * hangs does not stand for election, does not vote and enters no new term ({@link
 * FollowerAppends}): it would have to write the term, and Ratis would hold its monitor for as long
 * as that takes. Stepping down writes nothing.
 *
 * <p>The disk hangs if entries, or the vote, have been waiting for it for {@link
 * Limits#DISK_ELECTION_TIMEOUTS} election timeouts without progress, or for {@link
 * Limits#LEADER_DISK_ELECTION_TIMEOUTS} if the node leads and a majority of followers has more. If
 * the last vote took longer than an election timeout, its time takes the place of that timeout:
 * such a disk is slow, and may have two files to sync for an entry. The disk works again once the
 * thread that writes the log has done what it was given when that was found. Thread-safe.
 */
final class DiskWatch implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DiskWatch.class);
  private static final int LOOKS_PER_ELECTION_TIMEOUT = 4;

  /** Work on the disk. */
  interface Work {
    void run() throws IOException;
  }

  /**
   * A disk that hangs.
   *
   * @param sinceNanos begin of what has not ended
   * @param written completes once the log is written up to the entries of now
   */
  private record Hang(long sinceNanos, CompletableFuture<?> written) {
    boolean isOver() {
      return written.isDone() && !written.isCompletedExceptionally();
    }
  }

  private final String nodeId;
  private final Path directory;
  private final Supervision supervision;
  private final long lookMillis;
  private final long electionNanos;
  private final ScheduledExecutorService clock;

  /** The last entry that was synced, and since when, as far as entries wait. Of one thread. */
  private long synced = RaftLog.INVALID_LOG_INDEX;

  private long syncedNanos;

  /** Since when a majority has entries that were not synced here. Of one thread. */
  private long behindNanos;

  /** When the write that is under way has begun, besides that of entries; else null. */
  private volatile @Nullable Long writeNanos;

  /** How long the last write took, besides those of entries. */
  private volatile long tookNanos;

  private volatile @Nullable Hang hang;

  /**
   * @param directory of the node, for the operator
   */
  DiskWatch(String nodeId, Path directory, Duration electionTimeout, Supervision supervision) {
    this.nodeId = requireNonNull(nodeId, "nodeId");
    this.directory = requireNonNull(directory, "directory");
    this.supervision = requireNonNull(supervision, "supervision");
    this.lookMillis = electionTimeout.toMillis() / LOOKS_PER_ELECTION_TIMEOUT;
    this.electionNanos = electionTimeout.toNanos();
    this.clock =
        Executors.newSingleThreadScheduledExecutor(
            supervision.threads("tollgate-" + nodeId + "-disk-watch"));
  }

  /** Starts to look at a log that is open. */
  void start(RaftServer server, RaftGroupId group, LogWriter writer) {
    syncedNanos = System.nanoTime();
    behindNanos = syncedNanos;
    var unused =
        clock.scheduleWithFixedDelay(
            supervision.repeated(
                "the look at the disk",
                () -> {
                  RaftServer.Division division = division(server, group);
                  if (division != null) {
                    look(server, division, writer);
                  }
                }),
            lookMillis,
            lookMillis,
            TimeUnit.MILLISECONDS);
  }

  private static RaftServer.@Nullable Division division(RaftServer server, RaftGroupId group) {
    try {
      return server.getDivision(group);
    } catch (IOException e) {
      // the node has left its group, or is closing
      return null;
    }
  }

  /** Does other work on the same disk, which holds up the node for as long as the disk hangs. */
  synchronized void run(Work work) throws IOException {
    long began = System.nanoTime();
    writeNanos = began;
    try {
      work.run();
      tookNanos = System.nanoTime() - began;
    } finally {
      writeNanos = null;
    }
  }

  /**
   * How long the disk took for the last vote. No more than the time after which a disk hangs by its
   * election timeout: a disk that hung once is not slow from then on.
   */
  long voteMillis() {
    return TimeUnit.NANOSECONDS.toMillis(voteNanos());
  }

  private long voteNanos() {
    return Math.min(tookNanos, mostNanos(electionNanos));
  }

  /**
   * Returns after what time without progress the disk hangs.
   *
   * @param unitNanos an election timeout, or the time that the disk is known to take
   */
  private static long mostNanos(long unitNanos) {
    return Math.max(
        TimeUnit.MILLISECONDS.toNanos(Limits.DISK_MILLIS),
        Limits.DISK_ELECTION_TIMEOUTS * unitNanos);
  }

  /** True while the disk hangs. */
  boolean isHung() {
    return hang != null;
  }

  /** For how long the disk has been hanging; 0 if it works. */
  long hungMillis() {
    Hang current = hang;
    return current == null
        ? 0
        : TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - current.sinceNanos());
  }

  /** Rejects what needs the disk while the disk hangs. */
  void requireWorking() throws IOException {
    if (isHung()) {
      throw new IOException("the disk of node " + nodeId + " hangs");
    }
  }

  private void look(RaftServer server, RaftServer.Division division, LogWriter writer) {
    RaftLog log = division.getRaftLog();
    long now = System.nanoTime();
    long flushed = log.getFlushIndex();
    if (flushed != synced || log.getNextIndex() - 1 <= flushed) {
      synced = flushed;
      syncedNanos = now;
    }
    if (!othersHaveMore(division, flushed)) {
      behindNanos = now;
    }
    Long write = writeNanos;
    long since = write != null && write - syncedNanos < 0 ? write : syncedNanos;
    Hang current = hang;
    long unitNanos = Math.max(electionNanos, voteNanos());
    long mostNanosOfALeader = Limits.LEADER_DISK_ELECTION_TIMEOUTS * unitNanos;
    boolean holdsUp = now - Math.max(behindNanos, since) >= mostNanosOfALeader;
    if (current == null && (holdsUp || now - since >= mostNanos(unitNanos))) {
      hang = new Hang(since, writer.drained());
      LOG.warn(
          "{}: the disk of {} hangs: it has not synced for {} ms what this node has written. {}."
              + " Look at the disk and at the system's log. If the disk does not come back, kill"
              + " this node, and replace it",
          nodeId,
          directory,
          TimeUnit.NANOSECONDS.toMillis(now - since),
          consequence(division));
    } else if (current != null && write == null && current.isOver()) {
      hang = null;
      syncedNanos = now;
      LOG.warn(
          "{}: the disk of {} works again, after {} ms",
          nodeId,
          directory,
          TimeUnit.NANOSECONDS.toMillis(now - current.sinceNanos()));
    }
    if (isHung() && now - behindNanos >= mostNanosOfALeader) {
      stepDown(server, division);
    }
  }

  private static String consequence(RaftServer.Division division) {
    if (division.getRaftConf().getCurrentPeers().size() == 1) {
      return "There is no other node, so nothing is written until the disk works again";
    }
    return division.getInfo().isLeader()
        ? "This node leads until a majority of the others has what it could not sync, and then"
            + " steps down"
        : "This node does not vote and is not elected until the disk works again";
  }

  /**
   * True if this node leads, and a majority of the members has entries that the disk of this node
   * has not taken. A node that joins is counted as a member, and so is one that leaves.
   */
  private static boolean othersHaveMore(RaftServer.Division division, long flushed) {
    long[] matches = division.getInfo().getFollowerMatchIndices();
    if (matches == null) {
      return false;
    }
    int more = 0;
    for (long match : matches) {
      more += match > flushed ? 1 : 0;
    }
    int members = matches.length + 1;
    return more > members / 2;
  }

  private void stepDown(RaftServer server, RaftServer.Division division) {
    LOG.warn("{}: leads, and its disk hangs, so it steps down", nodeId);
    try {
      var unused = RatisLeadership.stepDownForAnother(server, division, clock);
    } catch (IOException e) {
      LOG.info("{}: does not step down", nodeId, e);
    }
  }

  @Override
  public void close() {
    clock.shutdownNow();
  }
}
