package dev.tollgate.distribution.containers;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * The name server of a cluster. Like CoreDNS, it keeps each answer for a few seconds, also the
 * answer that there is no such name. It knows no names outside of the cluster.
 */
final class ClusterDns implements AutoCloseable {
  private static final int PORT = 53;
  private static final int HEADER_BYTES = 12;
  private static final int LARGEST_BYTES = 512;
  private static final int TYPE_A = 1;
  private static final int CLASS_IN = 1;
  private static final int NO_SUCH_NAME = 3;

  /** What the plug-in kubernetes of CoreDNS has unless it is told otherwise. */
  private static final int KEPT_SECONDS = 5;

  private final DatagramSocket socket;
  private final Function<String, Set<InetAddress>> names;
  private final Map<String, Kept> kept = new HashMap<>();
  private final Thread thread = new Thread(this::serve, "cluster-dns");

  private record Kept(Set<InetAddress> addresses, long untilNanos) {}

  /**
   * @param names the addresses of a name; empty if there is no such name
   */
  ClusterDns(String address, Function<String, Set<InetAddress>> names) throws IOException {
    this.names = names;
    this.socket = new DatagramSocket(new InetSocketAddress(address, PORT));
    thread.setDaemon(true);
    thread.start();
  }

  private void serve() {
    byte[] bytes = new byte[LARGEST_BYTES];
    while (!socket.isClosed()) {
      try {
        DatagramPacket packet = new DatagramPacket(bytes, bytes.length);
        socket.receive(packet);
        byte[] answer = answer(bytes, packet.getLength());
        socket.send(new DatagramPacket(answer, answer.length, packet.getSocketAddress()));
      } catch (IOException e) {
        if (!socket.isClosed()) {
          throw new IllegalStateException(e);
        }
      }
    }
  }

  private byte[] answer(byte[] asked, int askedBytes) throws IOException {
    ByteBuffer query = ByteBuffer.wrap(asked, 0, askedBytes);
    short id = query.getShort();
    query.position(HEADER_BYTES);
    StringBuilder name = new StringBuilder();
    for (int length = query.get(); length > 0; length = query.get()) {
      byte[] label = new byte[length];
      query.get(label);
      name.append(name.length() == 0 ? "" : ".")
          .append(new String(label, StandardCharsets.US_ASCII));
    }
    int type = query.getShort();
    query.getShort();
    Set<InetAddress> addresses = addresses(name.toString().toLowerCase(Locale.ROOT));
    Set<InetAddress> sent = type == TYPE_A ? addresses : Set.of();
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(bytes);
    out.writeShort(id);
    // an authoritative answer of a server that offers recursion
    out.writeShort(0x8580 | (addresses.isEmpty() ? NO_SUCH_NAME : 0));
    out.writeShort(1);
    out.writeShort(sent.size());
    out.writeInt(0);
    out.write(asked, HEADER_BYTES, query.position() - HEADER_BYTES);
    for (InetAddress address : sent) {
      // the name is that of the question
      out.writeShort(0xC000 | HEADER_BYTES);
      out.writeShort(TYPE_A);
      out.writeShort(CLASS_IN);
      out.writeInt(KEPT_SECONDS);
      out.writeShort(address.getAddress().length);
      out.write(address.getAddress());
    }
    return bytes.toByteArray();
  }

  private Set<InetAddress> addresses(String name) {
    Kept known = kept.get(name);
    if (known == null || known.untilNanos() - System.nanoTime() < 0) {
      known =
          new Kept(names.apply(name), System.nanoTime() + TimeUnit.SECONDS.toNanos(KEPT_SECONDS));
      kept.put(name, known);
    }
    return known.addresses();
  }

  @Override
  public void close() {
    socket.close();
  }
}
