package dev.tollgate.samples.torture.cluster;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/** Ports of this machine: any user may use them, and no link can be cut. */
public final class Loopback implements Network {
  /**
   * Lowest port, below the ports that systems give to outgoing connections. Such a connection might
   * take the port of a node while the node is down.
   */
  private static final int LOWEST_PORT = 20_000;

  private static final int HIGHEST_PORT = 32_767;
  private static final String WHY =
      "it needs a network of its own: run samples/torture.sh as root, or where users may make"
          + " namespaces, with iproute2 installed";

  private final List<Integer> ports;
  private final int nodes;

  /** Looks for free ports. */
  public Loopback(int nodes) throws IOException {
    this.nodes = nodes;
    this.ports = freePorts(2 * nodes);
  }

  private static List<Integer> freePorts(int count) throws IOException {
    Random random = new Random();
    List<ServerSocket> bound = new ArrayList<>();
    try {
      while (bound.size() < count) {
        ServerSocket socket = new ServerSocket();
        int port = LOWEST_PORT + random.nextInt(HIGHEST_PORT - LOWEST_PORT);
        try {
          socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
          bound.add(socket);
        } catch (BindException e) {
          socket.close(); // the port is in use: another one
        }
      }
      return bound.stream().map(ServerSocket::getLocalPort).toList();
    } finally {
      for (ServerSocket socket : bound) {
        socket.close();
      }
    }
  }

  @Override
  public String clientAddress(int node) {
    return "127.0.0.1:" + ports.get(node);
  }

  @Override
  public String raftAddress(int node) {
    return "127.0.0.1:" + ports.get(nodes + node);
  }

  @Override
  public List<String> on(int host) {
    return List.of();
  }

  @Override
  public Optional<String> obstacleToPartitions() {
    return Optional.of(WHY);
  }

  @Override
  public Optional<String> obstacleToSlowness() {
    return Optional.of(WHY);
  }

  @Override
  public String slowness() {
    return "";
  }

  @Override
  public void cut(int from, int to) {
    throw new UnsupportedOperationException(WHY);
  }

  @Override
  public void slow(int host) {
    throw new UnsupportedOperationException(WHY);
  }

  @Override
  public void heal() {
    // there is nothing to heal
  }
}
