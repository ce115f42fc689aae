package dev.tollgate.log.peer;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Limits;
import dev.tollgate.log.SnapshotStore;
import dev.tollgate.log.Supervision;
import dev.tollgate.log.trace.PromiseTrace;
import dev.tollgate.tls.TlsCredentials;
import java.io.IOException;
import java.net.ProtocolException;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.protocol.RaftGroupId;
import org.jspecify.annotations.Nullable;

/**
 * What a node needs to talk with the others.
 *
 * @param address host:port at which this node listens
 * @param guard decides which nodes this node talks to
 * @param snapshots what this node gives to a node whose state differs
 * @param maxFrameBytes the largest message of Ratis
 * @param electionMillis the shortest silence of a leader after which a follower stands for election
 * @param tls null for connections without TLS
 * @param clocks what this node says of its clock, and what others say of theirs
 * @param trace where promises are written down
 * @param entries seals what this node keeps of the log
 */
public record PeerSettings(
    String nodeId,
    String address,
    RaftGroupId group,
    PeerGuard guard,
    PeerService service,
    SnapshotStore snapshots,
    Supervision supervision,
    int maxFrameBytes,
    long electionMillis,
    @Nullable TlsCredentials tls,
    PeerClocks clocks,
    PromiseTrace trace,
    SealedEntries entries) {
  public PeerSettings {
    requireNonNull(nodeId, "nodeId");
    requireNonNull(address, "address");
    requireNonNull(group, "group");
    requireNonNull(guard, "guard");
    requireNonNull(service, "service");
    requireNonNull(snapshots, "snapshots");
    requireNonNull(supervision, "supervision");
    requireNonNull(clocks, "clocks");
    requireNonNull(trace, "trace");
    requireNonNull(entries, "entries");
  }

  /**
   * For how long a connection may owe answers and bring nothing at all before it is given up. A
   * leader sends a heartbeat to each follower every half election timeout, and a follower answers
   * it while its disk is busy.
   */
  long silenceNanos() {
    return TimeUnit.MILLISECONDS.toNanos(Math.min(Math.max(1_000, 5 * electionMillis), 3_000));
  }

  /** How long to wait until a node that was not reached is tried again. */
  long retryNanos() {
    return TimeUnit.MILLISECONDS.toNanos(Math.min(electionMillis / 4, 250));
  }

  /**
   * Checks the term of a message of another node: after a term that is near the last one, no leader
   * could be elected again.
   *
   * @throws ProtocolException if no elections can have reached that term
   */
  void requireReachable(long term) throws ProtocolException {
    long own = Math.max(0, service.term());
    if (term - own > Limits.TERMS_AHEAD) {
      throw new ProtocolException(
          "it is in term " + term + ", and this node is in term " + own + ", so that is no term");
    }
  }

  /**
   * Checks that this node may ask for votes. A node that is behind would win as easily as any
   * other, if its log is complete, and then serve nobody until it has applied the log. A cluster in
   * which it alone can win waits for it as long, whether it leads meanwhile or not.
   *
   * @throws IOException if it may not
   */
  void requireCaughtUp() throws IOException {
    if (!service.hasCaughtUp()) {
      throw new IOException(
          "node "
              + nodeId
              + " does not stand for election: it has not applied its log yet, or its disk hangs"
              + " or is still writing what an earlier leader has sent");
    }
  }

  /**
   * Checks that the log of this node has all that will ever come of earlier terms. A leader whose
   * log is still cut, or that is still syncing, could count entries that its disk does not have.
   *
   * @throws IOException if something may still come
   */
  void requireSettled() throws IOException {
    if (!service.isSettled()) {
      throw new IOException(
          "node "
              + nodeId
              + " asks for no votes: its disk is still writing what an earlier leader has sent");
    }
  }
}
