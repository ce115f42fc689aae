package dev.tollgate.log.ratis;

import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;

/**
 * Makes a follower commit only entries that its log shares with the leader's. Section 5.3 of the
 * Raft paper: a request tells a follower no more of what the leader has committed than the request
 * proves. That is up to its last entry, or up to the entry before if it has none.
 *
 * <p>A request that names no entry before its own begins with index 0 of the log, or proves
 * nothing. Ratis 3.3.0 counts one entry more than the request has. A follower with entries of an
 * overruled term then commits one of these. It may apply what no other node has, and refuses the
 * leader's entry forever.
 */
final class ComparedCommits {
  private static final long NONE = -1;

  private ComparedCommits() {}

  /** Returns the request, with no more committed than it proves. */
  static AppendEntriesRequestProto of(AppendEntriesRequestProto request) {
    if (request.hasPreviousLog()) {
      return request;
    }
    int entries = request.getEntriesCount();
    long compared = entries == 0 ? NONE : request.getEntries(entries - 1).getIndex();
    return request.getLeaderCommit() <= compared
        ? request
        : request.toBuilder().setLeaderCommit(compared).build();
  }
}
