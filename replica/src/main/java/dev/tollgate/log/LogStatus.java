package dev.tollgate.log;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The group as one of its nodes sees it.
 *
 * @param leaderId the leader of this term, or null if none is known
 * @param lastAppliedIndex up to where this node has applied the log
 * @param commitIndex up to where this node knows the log to be committed
 * @param leaderCommitIndex up to where the leader knows the log to be committed, as this node
 *     heard; -1 if it did not
 * @param members every node of the group
 */
public record LogStatus(
    String nodeId,
    Role role,
    @Nullable String leaderId,
    long term,
    long lastAppliedIndex,
    long commitIndex,
    long leaderCommitIndex,
    List<Member> members) {
  /** Entries that a node that has caught up may lack: a busy cluster commits some all the time. */
  public static final long CAUGHT_UP_ENTRIES = 64;

  public LogStatus {
    members = List.copyOf(members);
  }

  /** The group as its leader sees it, or a node that has not heard of its leader. */
  public LogStatus(
      String nodeId,
      Role role,
      @Nullable String leaderId,
      long term,
      long lastAppliedIndex,
      long commitIndex,
      List<Member> members) {
    this(
        nodeId,
        role,
        leaderId,
        term,
        lastAppliedIndex,
        commitIndex,
        nodeId.equals(leaderId) ? commitIndex : -1,
        members);
  }

  /** Up to where the log is committed, as far as this node knows. */
  public long knownCommitIndex() {
    long known = Math.max(commitIndex, leaderCommitIndex);
    for (Member member : members) {
      known = Math.max(known, member.appliedIndex());
    }
    return known;
  }

  /** What keeps a node whose disk hangs from serving. */
  public static String describeHungDisk(long millis) {
    return "the disk of the node has not synced its log for " + millis + " ms";
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
   * @param appliedIndex up to where that node has applied the log, as this node heard; -1 if it did
   *     not. A leader hears it of all followers, followers of each other, and nobody of the leader.
   * @param silentMillis for how long this node has not heard from that node; null if it does not
   *     listen to it. Leaders hear all followers, followers only their leader.
   * @param lostEntries true if this node leads, and that node lacks entries that it has
   *     acknowledged
   */
  public record Member(
      String nodeId,
      String raftAddress,
      long appliedIndex,
      @Nullable Long silentMillis,
      boolean lostEntries) {
    public Member(
        String nodeId, String raftAddress, long appliedIndex, @Nullable Long silentMillis) {
      this(nodeId, raftAddress, appliedIndex, silentMillis, /* lostEntries= */ false);
    }

    public Member(String nodeId, String raftAddress, long appliedIndex) {
      this(nodeId, raftAddress, appliedIndex, null);
    }
  }
}
