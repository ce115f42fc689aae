package dev.tollgate.node.client;

import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.nio.NioChannelOption;
import java.net.SocketOption;
import java.util.Map;
import jdk.net.ExtendedSocketOptions;

/**
 * Has the operating system ask a silent client's host whether the connection still exists. A host
 * that was cut off sends no end of a connection, and a client may rightly be silent for hours.
 */
final class KeepAlive {
  /** Silence after which the host is asked, the pause between two questions, and how many. */
  static final int IDLE_SECONDS = 60;

  static final int INTERVAL_SECONDS = 10;
  static final int QUESTIONS = 6;

  private KeepAlive() {}

  /** Configures a connection; what the operating system does not know is left as it is. */
  static void configure(ChannelConfig config) {
    config.setOption(ChannelOption.SO_KEEPALIVE, true);
    Map<SocketOption<Integer>, Integer> options =
        Map.of(
            ExtendedSocketOptions.TCP_KEEPIDLE, IDLE_SECONDS,
            ExtendedSocketOptions.TCP_KEEPINTERVAL, INTERVAL_SECONDS,
            ExtendedSocketOptions.TCP_KEEPCOUNT, QUESTIONS);
    options.forEach((option, value) -> config.setOption(NioChannelOption.of(option), value));
  }
}
