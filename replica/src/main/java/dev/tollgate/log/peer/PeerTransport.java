package dev.tollgate.log.peer;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
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
   * Has the leader append an entry, whichever node leads, and retries until that is done.
   *
   * @return exceptionally if the leader rejects the entry, or this was closed before
   */
  CompletableFuture<Void> forward(ByteString entry);

  /**
   * Has the next call to a node make a new connection. One that is known to bring answers may be
   * kept.
   */
  void renew(RaftPeerId peer);

  @Override
  void close();
}
