package dev.tollgate.log.ratis;

import static dev.tollgate.log.ratis.RatisInternals.field;
import static dev.tollgate.log.ratis.RatisInternals.method;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.ratis.proto.RaftProtos.RaftRpcReplyProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.util.LifeCycle;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The votes of a node that joins. Ratis 3.3.0 (RaftServerImpl.requestVote) refuses them until a
 * leader has taken the node for a member. But a leader that was alone needs the node as soon as its
 * own log says that the node is a member. If the node ended before it had that entry, the leader
 * would have to be elected with the vote of the node, for ever.
 *
 * <p>So the node votes by the rule of Raft, which does not ask who is a member: for a candidate
 * whose log has all that this node has, once in a term, and the vote is on disk before the answer.
 * A node without an entry does not vote, as no candidate counts that. Voting begins no elections at
 * this node. Ratis offers no way to vote for it, so this class reaches into it.
 */
final class JoiningVotes {
  private static final Logger LOG = LoggerFactory.getLogger(JoiningVotes.class);

  private final RaftServer.Division division;
  private final AtomicBoolean started;
  private final Object state;
  private final Method lastEntry;
  private final Method votedFor;
  private final Method updateCurrentTerm;
  private final Method grantVote;
  private final Method persistMetadata;

  /**
   * @throws IllegalStateException if this Ratis is not the version that this class was written for
   */
  JoiningVotes(RaftServer.Division division) {
    this.division = division;
    try {
      started = (AtomicBoolean) field(division.getClass(), "startComplete").get(division);
      state = field(division.getClass(), "state").get(division);
      lastEntry = method(state.getClass(), "getLastEntry");
      votedFor = method(state.getClass(), "getVotedFor");
      updateCurrentTerm = method(state.getClass(), "updateCurrentTerm", long.class);
      grantVote = method(state.getClass(), "grantVote", RaftPeerId.class);
      persistMetadata = method(state.getClass(), "persistMetadata");
    } catch (ReflectiveOperationException | ClassCastException e) {
      throw foreign(e);
    }
  }

  private static IllegalStateException foreign(Exception cause) {
    return new IllegalStateException(
        "this Ratis votes otherwise than the one that Tollgate was written for", cause);
  }

  /**
   * Answers a candidate, if this node joins.
   *
   * @return null if Ratis is to answer
   * @throws IOException if the vote cannot be written; this node fails then
   */
  @Nullable RequestVoteReplyProto vote(RequestVoteRequestProto request) throws IOException {
    synchronized (division) {
      TermIndex last = isJoining(request) ? (TermIndex) call(lastEntry) : null;
      if (last == null) {
        return null;
      }
      boolean granted = isGranted(request, last);
      if (!request.getPreVote()) {
        boolean later = Boolean.TRUE.equals(call(updateCurrentTerm, request.getCandidateTerm()));
        if (granted) {
          call(grantVote, candidate(request));
        }
        if (later || granted) {
          call(persistMetadata);
        }
      }
      LOG.info(
          "{}: joins, and {} {} of {} in term {}, whose log ends with {}; its own ends with {}",
          division.getId(),
          granted ? "grants" : "refuses",
          request.getPreVote() ? "the pre-vote" : "the vote",
          candidate(request),
          request.getCandidateTerm(),
          TermIndex.valueOf(request.getCandidateLastEntry()),
          last);
      return reply(request, granted, last);
    }
  }

  /** True between the start of a node that is not a member by its log, and its first leader. */
  private boolean isJoining(RequestVoteRequestProto request) {
    return started.get()
        && division.getInfo().getLifeCycleState() == LifeCycle.State.STARTING
        && request
            .getServerRequest()
            .getRaftGroupId()
            .getId()
            .equals(division.getGroup().getGroupId().toByteString());
  }

  private boolean isGranted(RequestVoteRequestProto request, TermIndex last) throws IOException {
    if (division.getRaftConf().getPeer(candidate(request)) == null
        || !request.hasCandidateLastEntry()
        || last.compareTo(TermIndex.valueOf(request.getCandidateLastEntry())) > 0) {
      return false;
    }
    long term = division.getInfo().getCurrentTerm();
    if (request.getPreVote() || request.getCandidateTerm() > term) {
      return true;
    }
    Object before = call(votedFor);
    return request.getCandidateTerm() == term
        && (before == null || before.equals(candidate(request)));
  }

  private static RaftPeerId candidate(RequestVoteRequestProto request) {
    return RaftPeerId.valueOf(request.getServerRequest().getRequestorId());
  }

  private RequestVoteReplyProto reply(
      RequestVoteRequestProto request, boolean granted, TermIndex last) {
    RaftRpcRequestProto asked = request.getServerRequest();
    return RequestVoteReplyProto.newBuilder()
        .setServerReply(
            RaftRpcReplyProto.newBuilder()
                .setRequestorId(asked.getRequestorId())
                .setReplyId(asked.getReplyId())
                .setRaftGroupId(asked.getRaftGroupId())
                .setCallId(asked.getCallId())
                .setSuccess(granted))
        .setTerm(division.getInfo().getCurrentTerm())
        .setLastEntry(last.toProto())
        .build();
  }

  private @Nullable Object call(Method method, Object... arguments) throws IOException {
    try {
      return method.invoke(state, arguments);
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof IOException failure) {
        throw failure;
      }
      throw new IllegalStateException(method + " failed", e.getCause());
    } catch (ReflectiveOperationException e) {
      throw foreign(e);
    }
  }
}
