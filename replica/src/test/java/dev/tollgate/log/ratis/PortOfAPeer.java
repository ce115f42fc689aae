package dev.tollgate.log.ratis;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.ratis.util.NetUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Accepts what other nodes send to a peer, and hangs up. */
final class PortOfAPeer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PortOfAPeer.class);

  /** Connections over which something was sent. */
  final AtomicInteger connections = new AtomicInteger();

  private final ServerSocket listener = new ServerSocket();

  PortOfAPeer(String address) throws IOException {
    InetSocketAddress here = NetUtils.createSocketAddr(address);
    listener.setReuseAddress(true);
    listener.bind(here);
    Thread thread = new Thread(this::accept, "port-of-a-peer");
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    while (!listener.isClosed()) {
      try (Socket socket = listener.accept()) {
        if (socket.getInputStream().read() != -1) {
          connections.incrementAndGet();
        }
      } catch (IOException e) {
        LOG.debug("port {} is closed, or the other side has hung up", listener.getLocalPort(), e);
      }
    }
  }

  @Override
  public void close() throws IOException {
    listener.close();
  }
}
