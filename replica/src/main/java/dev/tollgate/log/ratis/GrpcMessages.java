package dev.tollgate.log.ratis;

import dev.tollgate.log.peer.PeerService;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcReplyProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.ReadIndexReplyProto;
import org.apache.ratis.proto.RaftProtos.ReadIndexRequestProto;
import org.apache.ratis.proto.grpc.RaftServerProtocolServiceGrpc;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.io.grpc.ForwardingServerCall;
import org.apache.ratis.thirdparty.io.grpc.ForwardingServerCallListener;
import org.apache.ratis.thirdparty.io.grpc.Metadata;
import org.apache.ratis.thirdparty.io.grpc.ServerCall;
import org.apache.ratis.thirdparty.io.grpc.ServerCallHandler;
import org.apache.ratis.thirdparty.io.grpc.ServerInterceptor;
import org.apache.ratis.thirdparty.io.grpc.Status;
import org.apache.ratis.thirdparty.io.grpc.StatusRuntimeException;
import org.apache.ratis.thirdparty.io.grpc.stub.ServerCalls;

/**
 * Hands what a leader sends over gRPC to a {@link PeerService} before Ratis gets it. A request that
 * has to wait does so in the thread that serves only its call; heartbeats have another call.
 *
 * <p>A leader asks for the term by the message by which a Ratis follower asks its leader for a read
 * index; Tollgate has no other use for that message. The index in the reply is the term.
 */
final class GrpcMessages {
  private static final String TERM_METHOD =
      RaftServerProtocolServiceGrpc.getReadIndexMethod().getFullMethodName();

  private GrpcMessages() {}

  static ServerInterceptor to(PeerService service) {
    return new ServerInterceptor() {
      @Override
      public <Q, A> ServerCall.Listener<Q> interceptCall(
          ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
        return new ForwardingServerCallListener.SimpleForwardingServerCallListener<>(
            next.startCall(withApplied(call, service), headers)) {
          @Override
          @SuppressWarnings("unchecked") // the message keeps its type
          public void onMessage(Q message) {
            if (message instanceof AppendEntriesRequestProto request) {
              append(request);
            } else if (message instanceof InstallSnapshotRequestProto request) {
              install(request);
            } else {
              super.onMessage(message);
            }
          }

          @SuppressWarnings("unchecked") // the message keeps its type
          private void install(InstallSnapshotRequestProto request) {
            try {
              var unused =
                  service.installSnapshot(
                      request,
                      checked -> {
                        super.onMessage((Q) checked);
                        return checked;
                      });
            } catch (IOException e) {
              throw unavailable(e);
            }
          }

          @SuppressWarnings("unchecked") // the message keeps its type
          private void append(AppendEntriesRequestProto request) {
            try {
              service.append(
                  request,
                  call::isCancelled,
                  checked -> {
                    super.onMessage((Q) checked);
                    return CompletableFuture.completedFuture(null);
                  });
            } catch (IOException e) {
              throw unavailable(e);
            }
          }

          private StatusRuntimeException unavailable(IOException e) {
            return Status.UNAVAILABLE
                .withDescription(e.getMessage())
                .withCause(e)
                .asRuntimeException();
          }
        };
      }
    };
  }

  private static <Q, A> ServerCall<Q, A> withApplied(ServerCall<Q, A> call, PeerService service) {
    return new ForwardingServerCall.SimpleForwardingServerCall<>(call) {
      @Override
      @SuppressWarnings("unchecked") // the message keeps its type
      public void sendMessage(A message) {
        super.sendMessage(
            message instanceof AppendEntriesReplyProto reply
                ? (A) service.withApplied(reply)
                : message);
      }
    };
  }

  /** Returns what answers a leader that asks for the term, in place of Ratis. */
  static ServerInterceptor terms(PeerService service, RaftPeerId self) {
    return new Terms(service, self.toByteString());
  }

  private static final class Terms implements ServerInterceptor {
    private final PeerService service;
    private final ByteString self;
    private final ServerCallHandler<ReadIndexRequestProto, ReadIndexReplyProto> handler =
        ServerCalls.asyncUnaryCall(
            (question, answer) -> {
              answer.onNext(answerTo(question.getServerRequest()));
              answer.onCompleted();
            });

    Terms(PeerService service, ByteString self) {
      this.service = service;
      this.self = self;
    }

    /** Checks the receiver of the question: the address may have been another node's before. */
    private ReadIndexReplyProto answerTo(RaftRpcRequestProto question) {
      return ReadIndexReplyProto.newBuilder()
          .setServerReply(
              RaftRpcReplyProto.newBuilder().setSuccess(question.getReplyId().equals(self)))
          .setReadIndex(service.term())
          .build();
    }

    @Override
    @SuppressWarnings("unchecked") // the types are those of the method
    public <Q, A> ServerCall.Listener<Q> interceptCall(
        ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
      return call.getMethodDescriptor().getFullMethodName().equals(TERM_METHOD)
          ? ((ServerCallHandler<Q, A>) handler).startCall(call, headers)
          : next.startCall(call, headers);
    }
  }
}
