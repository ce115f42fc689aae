package dev.tollgate.transport;

import static java.util.Objects.requireNonNull;

import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SqlState;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;

/**
 * A snapshot that a node keeps open for this download. It needs no session, and needs a quorum only
 * if the snapshot has to come from the leader. Not thread-safe.
 */
public final class SnapshotDownload implements AutoCloseable {
  /** A node that is writing a large snapshot answers pings; otherwise it counts as dead. */
  private static final Duration PATIENCE = Duration.ofMinutes(10);

  private final NodeConnection node;
  private final Reply.SnapshotOpened opened;
  private final Runnable onEnd;

  private SnapshotDownload(NodeConnection node, Reply.SnapshotOpened opened, Runnable onEnd) {
    this.node = node;
    this.opened = opened;
    this.onEnd = onEnd;
  }

  /**
   * Has a node take a snapshot: the first reachable node of the URL, or the leader.
   *
   * @param onEnd called once, when the download is closed
   */
  static SnapshotDownload open(
      Cluster cluster, SessionSettings settings, boolean leaderOnly, Runnable onEnd)
      throws TransportException {
    Budget budget =
        new Budget(cluster.environment(), settings.failover(), Duration.ZERO, () -> false);
    NodeFinder finder = cluster.finder(settings);
    NodeFinder.Found found;
    try {
      found =
          finder.find(
              leaderOnly,
              candidate -> candidate.ask(new Request.OpenSnapshot(leaderOnly), PATIENCE),
              budget);
    } catch (NodeFinder.UnreachableException e) {
      throw new TransportException(
          SqlState.NO_QUORUM,
          "No node of " + finder.map() + " gave a snapshot: " + e.getMessage(),
          e);
    }
    if (!(found.reply() instanceof Reply.SnapshotOpened opened)) {
      found.node().close();
      throw new TransportException(
          SqlState.INTERNAL,
          found.node().address() + " gave an answer out of place: " + found.reply(),
          null);
    }
    return new SnapshotDownload(found.node(), opened, requireNonNull(onEnd, "onEnd"));
  }

  /** The description of the snapshot. */
  public Reply.SnapshotOpened opened() {
    return opened;
  }

  /**
   * Copies the file, part by part: the node sends a part only when this side asks for it.
   *
   * @throws TransportException if the node reports an error
   * @throws IOException if the connection or the target fails
   */
  public void copyTo(OutputStream target) throws IOException, TransportException {
    long offset = 0;
    int asked = Protocol.MAX_SNAPSHOT_PART_BYTES;
    int got = asked;
    while (got == asked && offset <= opened.sizeBytes()) {
      Reply reply = node.ask(new Request.ReadSnapshot(offset, asked), PATIENCE);
      if (reply instanceof Reply.Failure failure) {
        throw new TransportException(failure, null);
      }
      if (!(reply instanceof Reply.SnapshotPart part) || part.bytes().length > asked) {
        throw new IOException(node.address() + " gave an answer out of place: " + reply);
      }
      target.write(part.bytes());
      got = part.bytes().length;
      offset += got;
    }
    if (offset != opened.sizeBytes()) {
      throw new IOException(node.address() + " sent " + offset + " bytes of " + opened.sizeBytes());
    }
  }

  @Override
  public void close() {
    node.close();
    onEnd.run();
  }
}
