package dev.tollgate.log.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tollgate.core.command.UniqueId;
import dev.tollgate.wire.WireWriter;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
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
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;

/** A node that is nothing but a socket: it says hello, and sends what a test wants. */
public final class RawPeer implements AutoCloseable {
  private final Socket socket = new Socket();
  private final DataInputStream in;
  private final Map<Integer, CompletableFuture<Frame>> answers = new ConcurrentHashMap<>();
  private int calls;
  private final AtomicInteger read = new AtomicInteger();

  /** Connects to a node, and says nothing yet. */
  RawPeer(String address) throws IOException {
    PeerSockets.connect(socket, address);
    socket.setSoTimeout(30_000);
    in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
  }

  /** Connects to a node as another node of its cluster. */
  public static RawPeer node(String from, String to, String address) throws IOException {
    RawPeer peer = new RawPeer(address);
    peer.send(hello(from, to));
    PeerConnection.requirePreface(peer.in);
    assertEquals(Frame.Kind.DONE, Frame.read(peer.in, Frame.MAX_HELLO_BYTES).kind());
    return peer;
  }

  /** What a node of a cluster without an id says first. */
  static byte[] hello(String from, String to) {
    PeerCredentials credentials =
        new PeerCredentials(from, null, new UniqueId(1, from.hashCode()), to, null);
    byte[] frame =
        Frame.of(Frame.Kind.HELLO, 0, 0, new WireWriter().flag(false).bytes(credentials.toBytes()));
    byte[] hello = new byte[Frame.PREFACE.length + frame.length];
    System.arraycopy(Frame.PREFACE, 0, hello, 0, Frame.PREFACE.length);
    System.arraycopy(frame, 0, hello, Frame.PREFACE.length, frame.length);
    return hello;
  }

  DataInputStream in() {
    return in;
  }

  /** Says that nothing follows. */
  void hangUp() throws IOException {
    socket.shutdownOutput();
  }

  void send(byte[] bytes) throws IOException {
    socket.getOutputStream().write(bytes);
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
                  answers.remove(frame.call()).complete(frame);
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
