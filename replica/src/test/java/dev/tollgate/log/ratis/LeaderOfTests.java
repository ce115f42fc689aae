package dev.tollgate.log.ratis;

import dev.tollgate.log.RaftTransport;
import dev.tollgate.log.peer.RawPeer;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.grpc.RaftServerProtocolServiceGrpc;
import org.apache.ratis.thirdparty.io.grpc.ManagedChannel;
import org.apache.ratis.thirdparty.io.grpc.ManagedChannelBuilder;
import org.apache.ratis.thirdparty.io.grpc.stub.StreamObserver;
import org.apache.ratis.util.NetUtils;

/** How a test that leads reaches its follower. */
interface LeaderOfTests extends AutoCloseable {
  void append(AppendEntriesRequestProto request) throws IOException;

  CompletableFuture<InstallSnapshotReplyProto> installSnapshot(InstallSnapshotRequestProto request)
      throws IOException;

  @Override
  void close() throws IOException;

  /** Connects as node n1. */
  static LeaderOfTests over(
      RaftTransport transport,
      String follower,
      String address,
      Consumer<AppendEntriesReplyProto> replies)
      throws IOException {
    return switch (transport) {
      case TCP -> new OverTcp(RawPeer.node("n1", follower, address).reading(), replies);
      case GRPC -> new OverGrpc(address, replies);
    };
  }

  /** Over Tollgate's own protocol. */
  record OverTcp(RawPeer peer, Consumer<AppendEntriesReplyProto> replies) implements LeaderOfTests {
    @Override
    public void append(AppendEntriesRequestProto request) throws IOException {
      peer.append(request, replies);
    }

    @Override
    public CompletableFuture<InstallSnapshotReplyProto> installSnapshot(
        InstallSnapshotRequestProto request) throws IOException {
      return peer.installSnapshot(request);
    }

    @Override
    public void close() throws IOException {
      peer.close();
    }
  }

  /** Over the gRPC transport of Ratis. */
  final class OverGrpc implements LeaderOfTests {
    private final ManagedChannel channel;
    private final StreamObserver<AppendEntriesRequestProto> entries;

    private OverGrpc(String address, Consumer<AppendEntriesReplyProto> replies) {
      int port = NetUtils.createSocketAddr(address).getPort();
      channel = ManagedChannelBuilder.forAddress("127.0.0.1", port).usePlaintext().build();
      entries =
          RaftServerProtocolServiceGrpc.newStub(channel)
              .appendEntries(
                  new StreamObserver<>() {
                    @Override
                    public void onNext(AppendEntriesReplyProto reply) {
                      replies.accept(reply);
                    }

                    @Override
                    public void onError(Throwable end) {}

                    @Override
                    public void onCompleted() {}
                  });
    }

    @Override
    public void append(AppendEntriesRequestProto request) {
      entries.onNext(request);
    }

    @Override
    public CompletableFuture<InstallSnapshotReplyProto> installSnapshot(
        InstallSnapshotRequestProto request) {
      CompletableFuture<InstallSnapshotReplyProto> reply = new CompletableFuture<>();
      RaftServerProtocolServiceGrpc.newStub(channel)
          .installSnapshot(
              new StreamObserver<>() {
                @Override
                public void onNext(InstallSnapshotReplyProto answer) {
                  reply.complete(answer);
                }

                @Override
                public void onError(Throwable failure) {
                  reply.completeExceptionally(failure);
                }

                @Override
                public void onCompleted() {}
              })
          .onNext(request);
      return reply;
    }

    @Override
    public void close() {
      channel.shutdownNow();
    }
  }
}
