package dev.tollgate.log.peer;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.UniqueId;
import dev.tollgate.log.NodeVersion;
import dev.tollgate.log.peer.ClusterProof.Side;
import dev.tollgate.wire.WireFormatException;
import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.ProtocolException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * What this node says of itself to a node that it calls, at first and later on, and whether that
 * node proves that it is of the cluster. Thread-safe once the first frames are exchanged.
 */
final class HelloToPeer {
  private static final byte TLS_ALERT = 21;
  private static final byte TLS_HANDSHAKE = 22;

  private final PeerGuard guard;
  private final String nodeId;
  private @Nullable ClusterProof proofs;
  private @Nullable UniqueId incarnation;
  private volatile boolean proven;

  HelloToPeer(PeerGuard guard, String nodeId) {
    this.guard = requireNonNull(guard, "guard");
    this.nodeId = requireNonNull(nodeId, "nodeId");
  }

  /**
   * How another node has answered a hello.
   *
   * @param refusal why it refuses this node, or null
   */
  record Welcome(NodeVersion version, PeerGuard.@Nullable Refusal refusal) {}

  /**
   * Exchanges the first frames.
   *
   * @param joining whether this node only asks if that one can be added to the cluster
   * @param millis how long all of that may take
   */
  Welcome say(
      Socket socket,
      PeerSockets.Streams streams,
      DataInputStream in,
      PeerCredentials credentials,
      boolean joining,
      int millis)
      throws IOException {
    CompletableFuture<@Nullable Void> said = new CompletableFuture<>();
    AtomicBoolean late = new AtomicBoolean();
    var unused =
        said.orTimeout(millis, TimeUnit.MILLISECONDS)
            .exceptionally(
                tooLate -> {
                  late.set(true);
                  closeQuietly(socket);
                  return null;
                });
    try {
      return exchange(streams, in, credentials.toBytes(), joining);
    } catch (IOException e) {
      if (late.get()) {
        SocketTimeoutException timeout =
            new SocketTimeoutException("no hello within " + millis + " ms");
        timeout.initCause(e);
        throw timeout;
      }
      throw e;
    } catch (WireFormatException e) {
      throw new ProtocolException("a hello that cannot be read: " + e.getMessage());
    } finally {
      said.complete(null);
    }
  }

  private static void closeQuietly(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      // whoever reads from it finds out
    }
  }

  private Welcome exchange(
      PeerSockets.Streams streams, DataInputStream in, byte[] credentials, boolean joining)
      throws IOException {
    byte[] nonce = ClusterProof.drawNonce();
    streams.out().write(Frame.PREFACE);
    WireWriter hello = new WireWriter(192).flag(joining).bytes(credentials).bytes(nonce);
    streams.out().write(Frame.of(Frame.Kind.HELLO, 0, 0, hello));
    requirePreface(in);
    Frame challenge = Frame.read(in, Frame.MAX_HELLO_BYTES);
    if (challenge.kind() == Frame.Kind.REFUSED) {
      return new Welcome(NodeVersion.NOT_SAID, refusal(challenge));
    }
    if (challenge.kind() != Frame.Kind.CHALLENGE) {
      throw new ProtocolException("a frame of kind " + challenge.kind() + " for a hello");
    }
    WireReader body = challenge.body();
    byte[] theirs = ClusterProof.readNonce(body);
    UniqueId theirIncarnation = new UniqueId(body.i64(), body.i64());
    incarnation = theirIncarnation;
    proofs = new ClusterProof(nonce, theirs, nodeId, theirIncarnation);
    byte[] proof = ClusterProof.read(body);
    // a node that does not know the cluster any more has to hear that, so this one proves first
    WireWriter own = ClusterProof.write(new WireWriter(64), ownProof(credentials));
    streams.out().write(Frame.of(Frame.Kind.PROOF, 0, 0, own));
    Frame answer = Frame.read(in, Frame.MAX_HELLO_BYTES);
    hear(credentials, proof);
    return switch (answer.kind()) {
      case DONE -> new Welcome(version(answer), null);
      case REFUSED -> new Welcome(NodeVersion.NOT_SAID, refusal(answer));
      default -> throw new ProtocolException("a frame of kind " + answer.kind() + " for a proof");
    };
  }

  /** Returns the body of the frame that says who this node is from now on. */
  WireWriter identity(byte[] credentials) {
    return ClusterProof.write(new WireWriter(192).bytes(credentials), ownProof(credentials));
  }

  private byte @Nullable [] ownProof(byte[] credentials) {
    return requireNonNull(proofs, "proofs").of(guard.known(), Side.CALLER, credentials);
  }

  /** Takes what the node proves in its answer to credentials of this one. */
  void hear(byte[] credentials, byte @Nullable [] proof) {
    if (requireNonNull(proofs, "proofs")
        .isGiven(guard.known(), Side.LISTENER, credentials, proof)) {
      proven = true;
    }
  }

  /** True once the node has proven that it is of the cluster. */
  boolean isProven() {
    return proven;
  }

  /** As {@link #isProven}, and the node has the directory that the cluster knows under its name. */
  boolean isProvenMember() {
    UniqueId recorded = guard.known().incarnations().get(nodeId);
    return proven && recorded != null && recorded.equals(incarnation);
  }

  /** Requires that the other side speaks this protocol, in this version. */
  static void requirePreface(DataInputStream in) throws IOException {
    byte[] preface = in.readNBytes(Frame.PREFACE.length);
    if (preface.length < Frame.PREFACE.length) {
      throw new EOFException("the connection ended before a hello");
    }
    if (preface[0] == TLS_HANDSHAKE || preface[0] == TLS_ALERT) {
      throw new ProtocolException(
          "that node speaks TLS: all nodes of a cluster have to be started with the same --tls-peers,"
              + " and each with a certificate");
    }
    int name = Frame.PREFACE.length - 1;
    if (!Arrays.equals(preface, 0, name, Frame.PREFACE, 0, name)) {
      throw new ProtocolException(
          "what answers there speaks another protocol: the address has to be the --raft-address of"
              + " that node");
    }
    if (preface[name] != Frame.PREFACE[name]) {
      throw new ProtocolException(
          "that node speaks version "
              + preface[name]
              + " of the protocol between nodes, this one "
              + Frame.PREFACE[name]);
    }
  }

  private static NodeVersion version(Frame answer) throws ProtocolException {
    try {
      return NodeVersion.read(answer.body());
    } catch (WireFormatException e) {
      throw new ProtocolException("a version that cannot be read: " + e.getMessage());
    }
  }

  static PeerGuard.Refusal refusal(Frame answer) throws ProtocolException {
    try {
      WireReader body = answer.body();
      return new PeerGuard.Refusal(PeerGuard.Reason.of(body.string()), body.string());
    } catch (WireFormatException e) {
      throw new ProtocolException("a refusal that cannot be read: " + e.getMessage());
    }
  }
}
