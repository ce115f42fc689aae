package dev.tollgate.log.ratis;

import dev.tollgate.log.trace.PromiseTrace;
import java.util.List;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.TermIndexProto;
import org.apache.ratis.server.raftlog.RaftLog;

/** The promises in the answers of a node to others. */
final class TracedAnswers {
  private TracedAnswers() {}

  /**
   * @param mark a place before the last look at the term
   */
  static void write(
      PromiseTrace trace,
      long mark,
      RaftLog log,
      AppendEntriesRequestProto request,
      AppendEntriesReplyProto reply) {
    String leader = request.getServerRequest().getRequestorId().toStringUtf8();
    if (reply.getResult() == AppendResult.INCONSISTENCY) {
      trace.lacks(mark, request.getLeaderTerm(), log.getNextIndex() - 1, leader);
    } else if (reply.getResult() == AppendResult.SUCCESS && request.getEntriesCount() > 0) {
      writeEntries(trace, mark, request.getEntriesList());
      trace.acknowledged(mark, request.getLeaderTerm(), reply.getMatchIndex(), leader);
    }
  }

  private static void writeEntries(PromiseTrace trace, long mark, List<LogEntryProto> entries) {
    int first = 0;
    for (int next = 1; next <= entries.size(); next++) {
      long term = entries.get(first).getTerm();
      if (next == entries.size() || entries.get(next).getTerm() != term) {
        trace.appended(mark, term, entries.get(first).getIndex(), entries.get(next - 1).getIndex());
        first = next;
      }
    }
  }

  static void write(
      PromiseTrace trace, RequestVoteRequestProto request, RequestVoteReplyProto reply) {
    if (!request.getPreVote() && reply.getServerReply().getSuccess()) {
      trace.voted(
          request.getCandidateTerm(), request.getServerRequest().getRequestorId().toStringUtf8());
    }
  }

  static void write(PromiseTrace trace, InstallSnapshotRequestProto request) {
    if (request.getSnapshotChunk().getDone()) {
      TermIndexProto last = request.getSnapshotChunk().getTermIndex();
      trace.replaced(last.getTerm(), last.getIndex());
    }
  }
}
