package dev.tollgate.node.client;

import dev.tollgate.core.command.UserName;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.SqlState;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** Bytes that the clients of a node have under way, in both directions. Thread-safe. */
final class Traffic {
  private final String nodeId;
  private final ClientLimits limits;
  private final UserRoom requestBytes;
  private final AtomicLong unreadBytes = new AtomicLong();
  private final LongAdder requests = new LongAdder();
  private final LongAdder refused = new LongAdder();

  Traffic(String nodeId, ClientLimits limits) {
    this.nodeId = nodeId;
    this.limits = limits;
    requestBytes =
        new UserRoom(
            limits.requestBytes(), limits.requestBytesOfUser(), "bytes of requests under way");
  }

  ClientLimits limits() {
    return limits;
  }

  /** Counts a request that came; the node may refuse it. */
  void came() {
    requests.increment();
  }

  /** Counts a request that was refused because there were too many. */
  void refused() {
    refused.increment();
  }

  long requests() {
    return requests.sum();
  }

  long refusedRequests() {
    return refused.sum();
  }

  long requestBytes() {
    return requestBytes.taken();
  }

  long unreadBytes() {
    return unreadBytes.get();
  }

  /**
   * Admits a request, which then counts until {@link #answered}; or returns why it is refused.
   *
   * @param bytes what the request takes once it is decoded, from {@link RequestWeight}
   */
  Reply.@Nullable Failure admit(UserName user, long bytes) {
    return bytes < ClientLimits.SMALL_REQUEST_BYTES ? null : holds(user, bytes);
  }

  /**
   * Counts bytes of a request that has not arrived whole. They count until {@link #releases}.
   *
   * @return why the request is refused, or null
   */
  Reply.@Nullable Failure holds(UserName user, long bytes) {
    UserRoom.Full full = requestBytes.take(user, bytes, "wait for answers before sending more");
    return full == null ? null : new Reply.Failure(SqlState.BUSY, describe(full));
  }

  private String describe(UserRoom.Full full) {
    return full.ofUser() != null
        ? full.ofUser() + "; nothing was done"
        : "the requests that node "
            + nodeId
            + " has not answered yet take "
            + full.taken()
            + " bytes, and at most "
            + limits.requestBytes()
            + " may be under way: nothing was done; try again later";
  }

  void releases(UserName user, long bytes) {
    requestBytes.give(user, bytes);
  }

  void answered(UserName user, long bytes) {
    if (bytes >= ClientLimits.SMALL_REQUEST_BYTES) {
      releases(user, bytes);
    }
  }

  /**
   * Counts a reply that a client has not read yet.
   *
   * @param unread all bytes that this client has not read, including this reply
   * @return false if the client has to be disconnected
   */
  boolean sends(long bytes, long unread) {
    long all = unreadBytes.addAndGet(bytes);
    return unread <= limits.unreadBytes()
        && (all <= limits.unreadBytesInAll() || unread <= ClientLimits.UNREAD_BYTES_ALWAYS);
  }

  void sent(long bytes) {
    unreadBytes.addAndGet(-bytes);
  }
}
