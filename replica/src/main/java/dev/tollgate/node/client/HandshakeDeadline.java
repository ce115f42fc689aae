package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import io.netty.channel.Channel;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Closes a connection whose client does not introduce itself: it says no hello, or does not log in.
 * All methods are called on the event loop of the channel.
 */
final class HandshakeDeadline {
  /** The time for TCP and TLS, hello and login, from the moment at which the node accepts. */
  static final Duration LIMIT = Duration.ofSeconds(10);

  private @Nullable ScheduledFuture<?> expiry;

  /**
   * Begins to count.
   *
   * @param onExpired closes the channel
   */
  void begin(Channel channel, Duration limit, Runnable onExpired) {
    requireNonNull(onExpired, "onExpired");
    expiry = channel.eventLoop().schedule(onExpired, limit.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** The client is known, or gone. */
  void end() {
    ScheduledFuture<?> running = expiry;
    expiry = null;
    if (running != null) {
      running.cancel(/* mayInterruptIfRunning= */ false);
    }
  }
}
