package dev.tollgate.log.ratis;

import static java.util.stream.Collectors.toCollection;

import java.io.IOException;
import java.util.Collection;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.ratis.proto.RaftProtos.RaftRpcReplyProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.ReadIndexReplyProto;
import org.apache.ratis.proto.RaftProtos.ReadIndexRequestProto;
import org.apache.ratis.proto.grpc.RaftServerProtocolServiceGrpc;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftConfiguration;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerRpc;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.io.grpc.Metadata;
import org.apache.ratis.thirdparty.io.grpc.ServerCall;
import org.apache.ratis.thirdparty.io.grpc.ServerCallHandler;
import org.apache.ratis.thirdparty.io.grpc.ServerInterceptor;
import org.apache.ratis.thirdparty.io.grpc.stub.ServerCalls;
import org.jspecify.annotations.Nullable;

/**
 * The leadership of a node in a Ratis group, and how this node asks the others for their terms. It
 * uses the message by which a Ratis follower asks its leader for a read index; Tollgate has no
 * other use for that message. The message goes from node to node over the channel for entries, does
 * not block, and has a deadline. Here the leader asks, and the index in a follower's reply is its
 * term.
 *
 * <p>A node of a version that does not know this replies without success. Then an entry has to be
 * the proof.
 */
final class RatisLeadership implements LeadershipRounds.Group {
  private final RaftServer server;
  private final RaftGroupId group;
  private final @Nullable RaftServerRpc rpc;
  private final long patienceMillis;

  /**
   * @param rpc null for a node that stays alone
   * @param patienceMillis how long to wait for a reply
   */
  RatisLeadership(
      RaftServer server, RaftGroupId group, @Nullable RaftServerRpc rpc, long patienceMillis) {
    this.server = server;
    this.group = group;
    this.rpc = rpc;
    this.patienceMillis = patienceMillis;
  }

  @Override
  public LeadershipRounds.@Nullable Leadership leadership() {
    RaftServer.Division division;
    try {
      division = server.getDivision(group);
    } catch (IOException e) {
      // the node has left its group, or is closing
      return null;
    }
    DivisionInfo info = division.getInfo();
    // the term only rises, and leadership ends before the term rises
    long term = info.getCurrentTerm();
    RaftConfiguration members = division.getRaftConf();
    Collection<RaftPeer> voters = members.getCurrentPeers();
    boolean changing = !members.getPreviousPeers().isEmpty();
    boolean votes = voters.stream().anyMatch(peer -> peer.getId().equals(server.getId()));
    long committed = division.getRaftLog().getLastCommittedIndex();
    if (changing || !votes || !info.isLeaderReady() || info.getCurrentTerm() != term) {
      return null;
    }
    SortedSet<String> followers =
        voters.stream()
            .map(RaftPeer::getId)
            .filter(id -> !id.equals(server.getId()))
            .map(RaftPeerId::toString)
            .collect(toCollection(TreeSet::new));
    return new LeadershipRounds.Leadership(term, members.getLogEntryIndex(), followers, committed);
  }

  @Override
  public CompletableFuture<Long> termOf(String nodeId) {
    if (rpc == null) {
      return CompletableFuture.failedFuture(new IOException("this node has no way to " + nodeId));
    }
    ReadIndexRequestProto question =
        ReadIndexRequestProto.newBuilder()
            .setServerRequest(
                RaftRpcRequestProto.newBuilder()
                    .setRequestorId(server.getId().toByteString())
                    .setReplyId(RaftPeerId.valueOf(nodeId).toByteString()))
            .build();
    try {
      return rpc.async()
          .readIndexAsync(question)
          .orTimeout(patienceMillis, TimeUnit.MILLISECONDS)
          .thenCompose(RatisLeadership::term);
    } catch (IOException | RuntimeException e) {
      // Ratis does not know the node, or no longer knows it
      return CompletableFuture.failedFuture(e);
    }
  }

  private static CompletableFuture<Long> term(ReadIndexReplyProto answer) {
    return answer.getServerReply().getSuccess()
        ? CompletableFuture.completedFuture(answer.getReadIndex())
        : CompletableFuture.failedFuture(new IOException("the node does not say its term"));
  }

  /**
   * Returns what answers the leader of a server's group.
   *
   * @param term the term that the server is in, from any thread
   */
  static ServerInterceptor answers(LongSupplier term, RaftPeerId self) {
    return new Answers(self.toByteString(), term);
  }

  /** Answers in place of Ratis. */
  private static final class Answers implements ServerInterceptor {
    private static final String METHOD =
        RaftServerProtocolServiceGrpc.getReadIndexMethod().getFullMethodName();

    private final ByteString self;
    private final LongSupplier term;
    private final ServerCallHandler<ReadIndexRequestProto, ReadIndexReplyProto> handler =
        ServerCalls.asyncUnaryCall(
            (question, answer) -> {
              answer.onNext(answerTo(question.getServerRequest()));
              answer.onCompleted();
            });

    Answers(ByteString self, LongSupplier term) {
      this.self = self;
      this.term = term;
    }

    /** Checks the receiver of the question: the address may have been another node's before. */
    private ReadIndexReplyProto answerTo(RaftRpcRequestProto question) {
      return ReadIndexReplyProto.newBuilder()
          .setServerReply(
              RaftRpcReplyProto.newBuilder().setSuccess(question.getReplyId().equals(self)))
          .setReadIndex(term.getAsLong())
          .build();
    }

    @Override
    @SuppressWarnings("unchecked") // the types are those of the method
    public <Q, A> ServerCall.Listener<Q> interceptCall(
        ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
      return call.getMethodDescriptor().getFullMethodName().equals(METHOD)
          ? ((ServerCallHandler<Q, A>) handler).startCall(call, headers)
          : next.startCall(call, headers);
    }
  }
}
