package dev.tollgate.transport;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Closes channels whose node has stopped taking bytes. A write on a blocking socket has no timeout
 * of its own, and would hang as long as the node does. Thread-safe.
 */
final class SendWatch {
  private final Set<SocketFrameChannel> sending = ConcurrentHashMap.newKeySet();

  void begin(SocketFrameChannel channel) {
    sending.add(channel);
  }

  void end(SocketFrameChannel channel) {
    sending.remove(channel);
  }

  /** Closes every channel whose node has not taken a byte for this long. */
  void closeStuck(long nowNanos, Duration longest) {
    for (SocketFrameChannel channel : sending) {
      if (nowNanos - channel.lastProgressNanos() > longest.toNanos()) {
        channel.close();
      }
    }
  }
}
