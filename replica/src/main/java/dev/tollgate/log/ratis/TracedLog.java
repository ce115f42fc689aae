package dev.tollgate.log.ratis;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.trace.PromiseTrace;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftConfiguration;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.storage.RaftStorageMetadata;

/** The promises that follow from the log of a node and from its leadership. */
final class TracedLog {
  private final PromiseTrace trace;

  TracedLog(PromiseTrace trace) {
    this.trace = requireNonNull(trace, "trace");
  }

  PromiseTrace trace() {
    return trace;
  }

  /**
   * @param last the last entry that was read and synced
   */
  void restarted(RaftStorageMetadata kept, long last) {
    trace.restarted(kept.getTerm(), kept.getVotedFor().toString(), last, last);
  }

  void cut(RaftServer.Division division, long first) {
    trace.cut(division.getInfo().getCurrentTerm(), first);
  }

  void leads(RaftServer.Division division) {
    RaftConfiguration members = division.getRaftConf();
    trace.leads(
        division.getInfo().getCurrentTerm(),
        last(division),
        members.getCurrentPeers(),
        members.getPreviousPeers(),
        RaftPeer::getId);
  }

  void follows(RaftServer.Division division) {
    trace.follows(last(division));
  }

  private static long last(RaftServer.Division division) {
    return division.getRaftLog().getNextIndex() - 1;
  }

  /** A node applies an entry: if it leads, clients are about to hear of that. */
  void committed(RaftServer.Division division, long index) {
    DivisionInfo info = division.getInfo();
    long term = info.getCurrentTerm();
    RaftConfiguration members = division.getRaftConf();
    if (info.isLeaderReady() && info.getCurrentTerm() == term) {
      trace.committed(
          term, index, members.getCurrentPeers(), members.getPreviousPeers(), RaftPeer::getId);
    }
  }
}
