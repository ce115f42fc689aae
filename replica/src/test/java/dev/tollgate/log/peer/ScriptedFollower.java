package dev.tollgate.log.peer;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcReplyProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;

/** A node that votes for every candidate, and has the entries that the test lets it have. */
public final class ScriptedFollower implements AutoCloseable {
  private final TestNode node;

  /** The last entry that it has. */
  private long last = -1;

  private final Map<AppendEntriesRequestProto, CompletableFuture<AppendEntriesReplyProto>> waiting =
      new LinkedHashMap<>();
  private int heartbeats;
  private boolean votes = true;
  private boolean preVotes = true;
  private boolean appends = true;
  private UnaryOperator<AppendEntriesReplyProto> changes = UnaryOperator.identity();

  public ScriptedFollower(String id, Path directory) throws IOException {
    node = new TestNode(id, directory, 1_000);
    node.voter = this::vote;
    node.appends = this::append;
  }

  public String id() {
    return node.id;
  }

  public String address() {
    return node.address;
  }

  public synchronized long last() {
    return last;
  }

  /** Returns how many heartbeats have come. */
  public synchronized int heartbeats() {
    return heartbeats;
  }

  /** Has it refuse its vote, or grant it again. */
  public synchronized void votes(boolean does) {
    votes = does;
  }

  /** Has it refuse pre-votes, without which the term does not rise, or grant them again. */
  public synchronized void preVotes(boolean does) {
    preVotes = does;
  }

  /** Has it keep entries waiting, or go on; it answers heartbeats meanwhile. */
  public synchronized void appendsEntries(boolean does) {
    appends = does;
    if (does) {
      waiting.forEach((request, reply) -> reply.complete(appended(request)));
      waiting.clear();
    }
  }

  /** Has it change all its answers. */
  public synchronized void changeAnswers(UnaryOperator<AppendEntriesReplyProto> changed) {
    changes = changed;
  }

  /** Has it lose all entries after this one. */
  public synchronized void forgetAfter(long index) {
    last = index;
  }

  /** Has it say that it has lost what it is asked for, or that it has not. */
  public void saysThatItLost(boolean does) {
    node.lost = does;
  }

  /** The entries about which its leader has asked whether they are lost. */
  public List<Long> asked() {
    return List.copyOf(node.asked);
  }

  private synchronized RequestVoteReplyProto vote(RequestVoteRequestProto request) {
    return RequestVoteReplyProto.newBuilder()
        .setServerReply(
            reply(request.getServerRequest()).setSuccess(request.getPreVote() ? preVotes : votes))
        .setTerm(request.getCandidateTerm())
        .build();
  }

  private static RaftRpcReplyProto.Builder reply(RaftRpcRequestProto asked) {
    return RaftRpcReplyProto.newBuilder()
        .setRequestorId(asked.getRequestorId())
        .setReplyId(asked.getReplyId())
        .setRaftGroupId(asked.getRaftGroupId())
        .setCallId(asked.getCallId());
  }

  private synchronized CompletableFuture<AppendEntriesReplyProto> append(
      AppendEntriesRequestProto request) {
    int count = request.getEntriesCount();
    heartbeats += count == 0 ? 1 : 0;
    if (count > 0 && !appends) {
      return waiting.computeIfAbsent(request, waits -> new CompletableFuture<>());
    }
    return CompletableFuture.completedFuture(appended(request));
  }

  private AppendEntriesReplyProto appended(AppendEntriesRequestProto request) {
    int count = request.getEntriesCount();
    boolean fits = !request.hasPreviousLog() || request.getPreviousLog().getIndex() <= last;
    if (fits && count > 0) {
      last = Math.max(last, request.getEntries(count - 1).getIndex());
    }
    return changes.apply(
        AppendEntriesReplyProto.newBuilder()
            .setServerReply(reply(request.getServerRequest()).setSuccess(fits))
            .setTerm(request.getLeaderTerm())
            .setResult(fits ? AppendResult.SUCCESS : AppendResult.INCONSISTENCY)
            .setMatchIndex(fits && count > 0 ? last : -1)
            .setNextIndex(last + 1)
            .build());
  }

  @Override
  public void close() throws IOException {
    node.close();
  }
}
