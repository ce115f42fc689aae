package dev.tollgate.log;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The group as one of its nodes sees it.
 *
 * @param leaderId the leader of this term, or null if none is known
 * @param members every node of the group
 */
public record LogStatus(
    String nodeId,
    Role role,
    @Nullable String leaderId,
    long term,
    long lastAppliedIndex,
    long commitIndex,
    List<Member> members) {
  /** Entries that a node that has caught up may lack: a busy cluster commits some all the time. */
  public static final long CAUGHT_UP_ENTRIES = 64;

  public LogStatus {
    members = List.copyOf(members);
  }

  /** Up to where the leader knows the log to be committed, as this node heard; -1 if it did not. */
  public long leaderCommitIndex() {
    for (Member member : members) {
      if (member.nodeId().equals(leaderId)) {
        return member.commitIndex();
      }
    }
    return -1;
  }

  /** A node whose log cannot be asked. */
  public static LogStatus of(String nodeId, Role role) {
    return new LogStatus(nodeId, role, null, 0, 0, 0, List.of());
  }

  /** The role of a node in the group. */
  public enum Role {
    LEADER,
    FOLLOWER,
    CANDIDATE,
    STARTING,
    STOPPED
  }

  /**
   * A node of the group.
   *
   * @param raftAddress where the other nodes reach that node
   * @param commitIndex up to where that node knows the log to be committed, as this node heard; -1
   *     if it did not
   * @param silentMillis for how long this node has not heard from that node; null if it does not
   *     listen to it. Leaders hear all followers, followers only their leader.
   */
  public record Member(
      String nodeId, String raftAddress, long commitIndex, @Nullable Long silentMillis) {
    public Member(String nodeId, String raftAddress, long commitIndex) {
      this(nodeId, raftAddress, commitIndex, null);
    }
  }
}
