package dev.tollgate.log.peer;

import dev.tollgate.core.command.ClusterIdentity;
import dev.tollgate.wire.WireFormatException;
import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.ratis.util.NetUtils;

/**
 * A member with the key of its cluster that listens at its own address, and refuses every node that
 * calls, for a reason that is not so.
 */
public final class LyingPeer implements AutoCloseable {
  private final NodeIdentity identity;
  private final ClusterIdentity known;
  private final PeerGuard.Refusal lie;
  private final ServerSocket listener = new ServerSocket();
  private final Map<String, AtomicInteger> told = new ConcurrentHashMap<>();

  public LyingPeer(NodeIdentity identity, String address, PeerGuard.Reason reason)
      throws IOException {
    this.identity = identity;
    this.known = identity.known();
    this.lie = new PeerGuard.Refusal(reason, "a lie of node " + identity.nodeId());
    InetSocketAddress at = NetUtils.createSocketAddr(address);
    listener.setReuseAddress(true);
    listener.bind(at);
    Thread thread = new Thread(this::accept, "lying-peer");
    thread.setDaemon(true);
    thread.start();
  }

  /** How often it has refused a node. */
  public int told(String nodeId) {
    AtomicInteger count = told.get(nodeId);
    return count == null ? 0 : count.get();
  }

  private void accept() {
    while (!listener.isClosed()) {
      try (Socket socket = listener.accept()) {
        socket.setSoTimeout(PeerSockets.HELLO_MILLIS);
        refuse(socket);
      } catch (IOException | WireFormatException e) {
        // a caller that has gone, or the end of the test
      }
    }
  }

  private void refuse(Socket socket) throws IOException {
    DataInputStream in = new DataInputStream(socket.getInputStream());
    socket.getOutputStream().write(Frame.PREFACE);
    HelloToPeer.requirePreface(in);
    WireReader hello = Frame.read(in, Frame.MAX_HELLO_BYTES).body();
    hello.flag();
    byte[] said = hello.bytes();
    byte[] nonce = ClusterProof.drawNonce();
    ClusterProof proofs =
        new ClusterProof(
            ClusterProof.readNonce(hello), nonce, identity.nodeId(), identity.incarnation());
    WireWriter challenge =
        new WireWriter()
            .bytes(nonce)
            .i64(identity.incarnation().high())
            .i64(identity.incarnation().low());
    ClusterProof.write(challenge, proofs.of(known, ClusterProof.Side.LISTENER, said));
    socket.getOutputStream().write(Frame.of(Frame.Kind.CHALLENGE, 0, 0, challenge));
    Frame.read(in, Frame.MAX_HELLO_BYTES);
    socket.getOutputStream().write(Frame.refused(0, lie));
    told.computeIfAbsent(PeerCredentials.read(said).from(), any -> new AtomicInteger())
        .incrementAndGet();
  }

  @Override
  public void close() throws IOException {
    listener.close();
  }
}
