package dev.tollgate.node.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.ChannelOption;
import io.netty.channel.socket.nio.NioChannelOption;
import io.netty.channel.socket.nio.NioSocketChannel;
import jdk.net.ExtendedSocketOptions;
import org.junit.jupiter.api.Test;

class KeepAliveTest {
  @Test
  void hostThatIsGoneIsNoticedWithinMinutes() {
    NioSocketChannel channel = new NioSocketChannel();
    try {
      KeepAlive.configure(channel.config());
      assertTrue(channel.config().getOption(ChannelOption.SO_KEEPALIVE));
      assertEquals(
          60, channel.config().getOption(NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPIDLE)));
      assertEquals(
          10,
          channel.config().getOption(NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPINTERVAL)));
      assertEquals(
          6, channel.config().getOption(NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPCOUNT)));
    } finally {
      channel.unsafe().closeForcibly();
    }
  }
}
