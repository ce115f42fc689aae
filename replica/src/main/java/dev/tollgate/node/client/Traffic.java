package dev.tollgate.node.client;

import dev.tollgate.wire.Reply;
import dev.tollgate.wire.SqlState;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** Bytes that the clients of a node have under way, in both directions. Thread-safe. */
final class Traffic {
  private final String nodeId;
  private final ClientLimits limits;
  private final AtomicLong requestBytes = new AtomicLong();
  private final AtomicLong unreadBytes = new AtomicLong();
  private final LongAdder requests = new LongAdder();
  private final LongAdder refused = new LongAdder();

  Traffic(String nodeId, ClientLimits limits) {
    this.nodeId = nodeId;
    this.limits = limits;
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
    return requestBytes.get();
  }

  long unreadBytes() {
    return unreadBytes.get();
  }

  /**
   * Admits a request, which then counts until {@link #answered}; or returns why it is refused.
   *
   * @param bytes what the request takes once it is decoded, from {@link RequestWeight}
   */
  Reply.@Nullable Failure admit(long bytes) {
    if (bytes < ClientLimits.SMALL_REQUEST_BYTES) {
      return null;
    }
    long all = requestBytes.addAndGet(bytes);
    if (all <= limits.requestBytes()) {
      return null;
    }
    requestBytes.addAndGet(-bytes);
    return full(all - bytes);
  }

  private Reply.Failure full(long bytes) {
    return new Reply.Failure(
        SqlState.BUSY,
        "the requests that node "
            + nodeId
            + " has not answered yet take "
            + bytes
            + " bytes, and at most "
            + limits.requestBytes()
            + " may be under way: nothing was done; try again later");
  }

  /**
   * Counts bytes of a request that has not arrived whole. They count until {@link #releases}.
   *
   * @return why the request is refused, or null
   */
  Reply.@Nullable Failure holds(int bytes) {
    long all = requestBytes.addAndGet(bytes);
    if (all <= limits.requestBytes()) {
      return null;
    }
    requestBytes.addAndGet(-bytes);
    return full(all - bytes);
  }

  void releases(int bytes) {
    requestBytes.addAndGet(-bytes);
  }

  void answered(long bytes) {
    if (bytes >= ClientLimits.SMALL_REQUEST_BYTES) {
      requestBytes.addAndGet(-bytes);
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
