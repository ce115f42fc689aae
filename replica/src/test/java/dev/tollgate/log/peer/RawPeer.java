package dev.tollgate.log.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tollgate.core.command.ClusterIdentity;
import dev.tollgate.core.command.UniqueId;
import dev.tollgate.tls.TlsCredentials;
import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.jspecify.annotations.Nullable;

/** A node that is nothing but a socket: it says hello, and sends what a test wants. */
public final class RawPeer implements AutoCloseable {
  private final Socket socket = new Socket();
  private final DataInputStream in;
  private final OutputStream out;
  private final Map<Integer, CompletableFuture<Frame>> answers = new ConcurrentHashMap<>();
  private int calls;
  private final AtomicInteger read = new AtomicInteger();

  /** Connects to a node, and says nothing yet. */
  RawPeer(String address) throws IOException {
    PeerSockets.connect(socket, PeerSockets.resolve(address));
    socket.setSoTimeout(30_000);
    in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
    out = socket.getOutputStream();
  }

  private RawPeer(RaftPeer peer, @Nullable TlsCredentials credentials) throws IOException {
    PeerSockets.Streams streams = PeerSockets.connect(socket, peer, credentials);
    socket.setSoTimeout(30_000);
    in = new DataInputStream(new BufferedInputStream(streams.in()));
    out = streams.out();
  }

  /**
   * Says hello to a node as a node that knows this of its cluster.
   *
   * @param as the name of the caller
   * @param tls the certificate of the caller, or null without TLS
   * @return SERVED, or the reason for which the node refuses the caller
   */
  public static String answer(
      String as,
      NodeIdentity identity,
      ClusterIdentity known,
      String to,
      String address,
      @Nullable TlsCredentials tls)
      throws IOException {
    return answer(as, identity, known, to, identity.known().incarnations().get(to), address, tls);
  }

  /**
   * As the other, and takes the node for this incarnation.
   *
   * @param expected null if it does not say
   */
  public static String answer(
      String as,
      NodeIdentity identity,
      ClusterIdentity known,
      String to,
      @Nullable UniqueId expected,
      String address,
      @Nullable TlsCredentials tls)
      throws IOException {
    RaftPeer peer = RaftPeer.newBuilder().setId(to).setAddress(address).build();
    try (RawPeer raw = new RawPeer(peer, tls)) {
      PeerCredentials credentials =
          new PeerCredentials(as, identity.clusterId(), identity.incarnation(), to, expected);
      Frame answer = raw.greet(credentials, known);
      return answer.kind() == Frame.Kind.DONE ? "SERVED" : answer.body().string();
    }
  }

  /** Connects to a node as another node of its cluster. */
  public static RawPeer node(String from, String to, String address) throws IOException {
    RawPeer peer = new RawPeer(address);
    assertEquals(Frame.Kind.DONE, peer.greet(credentials(from, to), ClusterIdentity.NONE).kind());
    return peer;
  }

  /** What a node says at first. */
  static byte[] hello(PeerCredentials credentials, byte[] nonce) {
    WireWriter body = new WireWriter().flag(false).bytes(credentials.toBytes()).bytes(nonce);
    byte[] frame = Frame.of(Frame.Kind.HELLO, 0, 0, body);
    byte[] hello = Arrays.copyOf(Frame.PREFACE, Frame.PREFACE.length + frame.length);
    System.arraycopy(frame, 0, hello, Frame.PREFACE.length, frame.length);
    return hello;
  }

  /** What a node says when it has been heard. */
  static byte[] proof(byte @Nullable [] proof) {
    return Frame.of(Frame.Kind.PROOF, 0, 0, ClusterProof.write(new WireWriter(), proof));
  }

  /** What the other node answers to a hello. */
  @SuppressWarnings("ArrayRecordComponent") // passed on, never compared
  record Challenge(byte[] nonce, UniqueId incarnation, byte @Nullable [] proof) {
    /** What makes the proofs of this connection. */
    ClusterProof proofs(byte[] nonceOfCaller, String to) {
      return new ClusterProof(nonceOfCaller, nonce, to, incarnation);
    }
  }

  /** Says hello, and returns what the node answers. */
  Challenge say(PeerCredentials credentials, byte[] nonce) throws IOException {
    send(hello(credentials, nonce));
    HelloToPeer.requirePreface(in);
    Frame challenge = Frame.read(in, Frame.MAX_HELLO_BYTES);
    assertEquals(Frame.Kind.CHALLENGE, challenge.kind());
    WireReader body = challenge.body();
    return new Challenge(
        ClusterProof.readNonce(body),
        new UniqueId(body.i64(), body.i64()),
        ClusterProof.read(body));
  }

  /** Answers the challenge; returns whether the node accepts that. */
  Frame prove(byte @Nullable [] proof) throws IOException {
    send(proof(proof));
    return Frame.read(in, Frame.MAX_HELLO_BYTES);
  }

  /**
   * Says hello as a node that knows this of its cluster, and proves it if it can.
   *
   * @return what the node answers
   */
  Frame greet(PeerCredentials credentials, ClusterIdentity known) throws IOException {
    byte[] nonce = ClusterProof.drawNonce();
    ClusterProof proofs = say(credentials, nonce).proofs(nonce, credentials.to());
    return prove(proofs.of(known, ClusterProof.Side.CALLER, credentials.toBytes()));
  }

  /** What a node of a cluster without an id says of itself. */
  static PeerCredentials credentials(String from, String to) {
    return new PeerCredentials(from, null, new UniqueId(1, from.hashCode()), to, null);
  }

  /** All that a node of a cluster without an id says before its first call. */
  static byte[] hello(String from, String to) {
    return hello(credentials(from, to));
  }

  /** All that a node without the key of the cluster says before its first call. */
  static byte[] hello(PeerCredentials credentials) {
    byte[] hello = hello(credentials, ClusterProof.drawNonce());
    byte[] proof = proof(null);
    byte[] both = Arrays.copyOf(hello, hello.length + proof.length);
    System.arraycopy(proof, 0, both, hello.length, proof.length);
    return both;
  }

  /**
   * A frame of each kind, as a caller would send it that is served; a kind too many breaks this.
   */
  static byte[] frame(Frame.Kind kind, PeerCredentials as) {
    WireWriter body =
        switch (kind) {
          case APPEND, VOTE, SNAPSHOT, ELECTION, TERM, DONE -> new WireWriter();
          case FORWARD -> new WireWriter().bytes(new byte[16]).i64(1).bytes(new byte[9]);
          case STATE, STATE_PART, LOST -> new WireWriter().i64(1).i64(1).i64(1);
          case HELLO ->
              new WireWriter().flag(false).bytes(as.toBytes()).bytes(ClusterProof.drawNonce());
          case PROOF -> new WireWriter().flag(false);
          case IDENTITY -> new WireWriter().bytes(as.toBytes()).flag(false);
          case CHALLENGE ->
              new WireWriter().bytes(ClusterProof.drawNonce()).i64(1).i64(1).flag(false);
          case FAILED -> new WireWriter().string("no");
          case REFUSED ->
              new WireWriter().string(PeerGuard.Reason.SENDER_REMOVED.name()).string("no");
        };
    return Frame.of(kind, 1, 0, body);
  }

  DataInputStream in() {
    return in;
  }

  /** Says that nothing follows. */
  void hangUp() throws IOException {
    socket.shutdownOutput();
  }

  void send(byte[] bytes) throws IOException {
    out.write(bytes);
    out.flush();
  }

  /** Starts a thread that reads the answers. */
  public RawPeer reading() {
    Thread reader =
        new Thread(
            () -> {
              try {
                while (true) {
                  Frame frame = Frame.read(in, 32 << 20);
                  read.incrementAndGet();
                  CompletableFuture<Frame> answer = answers.remove(frame.call());
                  if (answer != null) {
                    answer.complete(frame);
                  }
                }
              } catch (IOException e) {
                answers.values().forEach(answer -> answer.completeExceptionally(e));
              }
            },
            "raw-peer");
    reader.setDaemon(true);
    reader.start();
    return this;
  }

  CompletableFuture<Frame> call(Frame.Kind kind, MessageLite message) throws IOException {
    CompletableFuture<Frame> answer = new CompletableFuture<>();
    answers.put(++calls, answer);
    send(Frame.of(kind, calls, read.get(), message));
    return answer;
  }

  /** Sends a request to append entries, and hands over the reply once it comes. */
  public void append(AppendEntriesRequestProto request, Consumer<AppendEntriesReplyProto> reply)
      throws IOException {
    var unused =
        call(Frame.Kind.APPEND, request)
            .thenAccept(
                answer -> {
                  assertEquals(Frame.Kind.DONE, answer.kind());
                  try {
                    reply.accept(AppendEntriesReplyProto.parseFrom(answer.message()));
                  } catch (IOException e) {
                    throw new UncheckedIOException(e);
                  }
                });
  }

  /** Asks for a vote; exceptionally if the node gives none. */
  public CompletableFuture<RequestVoteReplyProto> requestVote(RequestVoteRequestProto request)
      throws IOException {
    return call(Frame.Kind.VOTE, request)
        .thenApply(
            answer -> {
              try {
                if (answer.kind() != Frame.Kind.DONE) {
                  throw new IOException(
                      "answered with " + answer.kind() + ": " + answer.body().string());
                }
                return RequestVoteReplyProto.parseFrom(answer.message());
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            });
  }

  /** Says as the leader of a term that the node has acknowledged an entry; true if it is lost. */
  public CompletableFuture<Boolean> lost(long term, long logIndex) throws IOException {
    CompletableFuture<Frame> answer = new CompletableFuture<>();
    answers.put(++calls, answer);
    WireWriter body = new WireWriter(2 * Long.BYTES).i64(term).i64(logIndex);
    send(Frame.of(Frame.Kind.LOST, calls, read.get(), body));
    return answer.thenApply(frame -> frame.body().flag());
  }

  /** Sends a snapshot. */
  public CompletableFuture<InstallSnapshotReplyProto> installSnapshot(
      InstallSnapshotRequestProto request) throws IOException {
    return call(Frame.Kind.SNAPSHOT, request)
        .thenApply(
            answer -> {
              try {
                return InstallSnapshotReplyProto.parseFrom(answer.message());
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            });
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
