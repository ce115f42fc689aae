package dev.tollgate.log.peer;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.ClusterIdentity;
import dev.tollgate.log.peer.ClusterProof.Side;
import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ProtocolException;
import org.jspecify.annotations.Nullable;

/**
 * What a node that has connected says of itself, at first and later on, and whether it proves that
 * it is of the cluster. Not thread-safe.
 */
final class HelloOfPeer implements PeerGuard.Caller {
  private final NodeIdentity self;
  private final InetAddress address;
  private final boolean joining;
  private final ClusterProof proofs;
  private PeerCredentials credentials;

  /** The credentials as they came. */
  private byte[] said;

  /** Null if there is none, or it was wrong. */
  private byte @Nullable [] proof;

  private boolean proven;

  private HelloOfPeer(NodeIdentity self, InetAddress address, WireReader hello, byte[] nonce) {
    this.self = requireNonNull(self, "self");
    this.address = requireNonNull(address, "address");
    joining = hello.flag();
    said = hello.bytes();
    credentials = PeerCredentials.read(said);
    proofs =
        new ClusterProof(ClusterProof.readNonce(hello), nonce, self.nodeId(), self.incarnation());
  }

  /**
   * Exchanges the first frames with a node that has connected. Whether it is served is to be
   * decided now.
   *
   * @param address where the connection comes from
   */
  static HelloOfPeer hear(
      PeerSockets.Streams streams, DataInputStream in, NodeIdentity self, InetAddress address)
      throws IOException {
    streams.out().write(Frame.PREFACE);
    HelloToPeer.requirePreface(in);
    byte[] nonce = ClusterProof.drawNonce();
    HelloOfPeer peer = new HelloOfPeer(self, address, read(in, Frame.Kind.HELLO), nonce);
    String from = peer.credentials.from();
    if (streams.node() != null && !streams.node().equals(from)) {
      throw new ProtocolException(
          "it calls itself node " + from + ", and has the certificate of node " + streams.node());
    }
    WireWriter challenge = new WireWriter(128).bytes(nonce);
    challenge.i64(self.incarnation().high()).i64(self.incarnation().low());
    ClusterProof.write(challenge, peer.ownProof());
    streams.out().write(Frame.of(Frame.Kind.CHALLENGE, 0, 0, challenge));
    peer.proof = ClusterProof.read(read(in, Frame.Kind.PROOF));
    return peer;
  }

  private static WireReader read(DataInputStream in, Frame.Kind kind) throws IOException {
    Frame frame = Frame.read(in, Frame.MAX_HELLO_BYTES);
    if (frame.kind() != kind) {
      throw new ProtocolException("a frame of kind " + frame.kind() + " in place of " + kind);
    }
    return frame.body();
  }

  /** True if the node only asks whether this one can be added to its cluster. */
  boolean isJoining() {
    return joining;
  }

  /**
   * Takes new credentials, for what the node says after them.
   *
   * @return the proof of this node for them, as the answer has it
   * @throws ProtocolException if the node takes another name
   */
  WireWriter renew(WireReader identity) throws ProtocolException {
    byte[] bytes = identity.bytes();
    PeerCredentials now = PeerCredentials.read(bytes);
    if (!now.from().equals(credentials.from())) {
      throw new ProtocolException("another name, " + now.from());
    }
    credentials = now;
    said = bytes;
    proof = ClusterProof.read(identity);
    proven = false;
    return ClusterProof.write(new WireWriter(64), ownProof());
  }

  private byte @Nullable [] ownProof() {
    return proofs.of(self.known(), Side.LISTENER, said);
  }

  @Override
  public PeerCredentials credentials() {
    return credentials;
  }

  @Override
  public InetAddress address() {
    return address;
  }

  /** The proof may have come before this node knew the key. */
  @Override
  public boolean proves(ClusterIdentity known) {
    if (!proven && proof != null && known.key() != null) {
      proven = proofs.isGiven(known, Side.CALLER, said, proof);
      proof = null;
    }
    return proven;
  }
}
