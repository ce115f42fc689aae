package dev.tollgate.log.peer;

import dev.tollgate.log.SnapshotFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.jspecify.annotations.Nullable;

/** What a node asks of others besides the messages of Ratis. Thread-safe. */
public interface PeerTransport extends AutoCloseable {
  /**
   * Asks a node for its term, over the connection that takes entries to it, without blocking.
   *
   * @return exceptionally if there is no answer in time, or that node does not say
   */
  CompletableFuture<Long> termOf(String nodeId);

  /**
   * Asks a node whether it can be added to the cluster of this node, over a connection of its own,
   * with a message that changes nothing.
   *
   * @param millis how long to wait for a reply
   * @return why that node cannot be added; null if it can
   * @throws IOException if no node answers there
   */
  PeerGuard.@Nullable Refusal askToJoin(RaftPeer peer, int millis) throws IOException;

  /**
   * Has the leader append a command, whichever node leads, and retries until that is done. Another
   * node takes what this node says of itself, and a request for a comparison, and rejects all else.
   *
   * @param command as {@code EntryCodec} encodes it
   * @return exceptionally if the leader rejects the command, or this was closed before
   */
  CompletableFuture<Void> forward(ByteString command);

  /**
   * Fetches a snapshot of the leader that covers an entry. Waits while it arrives.
   *
   * @param logIndex that entry
   * @param file receives the bytes of the snapshot
   * @return what the snapshot covers; its file is that one
   * @throws IOException if that node does not lead, or has no such snapshot yet, or is not reached
   */
  SnapshotFile fetchState(String leaderId, long logIndex, Path file)
      throws IOException, InterruptedException;

  /** True if there is a connection from this node to another one at this moment. */
  boolean isConnected(String nodeId);

  /** True if a follower of this leader lacks entries that it has acknowledged in this term. */
  boolean hasLostEntries(String nodeId);

  @Override
  void close();
}
