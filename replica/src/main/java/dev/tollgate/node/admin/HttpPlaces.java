package dev.tollgate.node.admin;

import io.netty.channel.socket.SocketChannel;
import java.net.InetAddress;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The connections of the admin address, oldest first. A connection without a request under way
 * makes room for a new one: the oldest one of the address that has the most. So silent connections
 * keep nobody out, and health is always told. All methods run on the event loop.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a channel closes whether its future is heard or not
final class HttpPlaces {
  private final int most;
  private final Map<SocketChannel, BooleanSupplier> open = new LinkedHashMap<>();

  /**
   * @param most connections
   */
  HttpPlaces(int most) {
    this.most = most;
  }

  /**
   * Takes a place until the channel is closed.
   *
   * @param idle whether no request of the connection is under way
   * @return false if all connections have requests under way
   */
  boolean take(SocketChannel channel, BooleanSupplier idle) {
    if (open.size() >= most) {
      SocketChannel oldest = oldestIdle();
      if (oldest == null) {
        return false;
      }
      open.remove(oldest);
      oldest.close();
    }
    open.put(channel, idle);
    channel.closeFuture().addListener(closed -> open.remove(channel));
    return true;
  }

  private @Nullable SocketChannel oldestIdle() {
    Map<InetAddress, Integer> counts = new HashMap<>();
    open.keySet().forEach(channel -> counts.merge(addressOf(channel), 1, Integer::sum));
    SocketChannel found = null;
    int highest = 0;
    for (Map.Entry<SocketChannel, BooleanSupplier> entry : open.entrySet()) {
      int count = counts.getOrDefault(addressOf(entry.getKey()), 0);
      if (count > highest && entry.getValue().getAsBoolean()) {
        found = entry.getKey();
        highest = count;
      }
    }
    return found;
  }

  private static InetAddress addressOf(SocketChannel channel) {
    return channel.remoteAddress() == null
        ? InetAddress.getLoopbackAddress()
        : channel.remoteAddress().getAddress();
  }
}
