package dev.tollgate.node.client;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Comes before the handler that accepts. While too many channels are open, including those to be
 * refused, the next ones wait in the operating system, where they cost no descriptor.
 */
@SuppressWarnings("FutureReturnValueIgnored") // the added listener is called all the same
final class AcceptLimit extends ChannelInboundHandlerAdapter {
  private final int limit;
  private final AtomicInteger open = new AtomicInteger();

  /**
   * @param limit channels that are open at a time, except for some that are accepted together
   */
  AcceptLimit(int limit) {
    this.limit = limit;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object accepted) {
    Channel listener = context.channel();
    if (open.incrementAndGet() >= limit) {
      listener.config().setAutoRead(false);
    }
    ((Channel) accepted)
        .closeFuture()
        .addListener(
            closed -> {
              if (open.decrementAndGet() < limit) {
                listener.config().setAutoRead(true);
              }
            });
    context.fireChannelRead(accepted);
  }
}
