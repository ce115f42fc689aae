package dev.tollgate.log;

import java.util.concurrent.CompletableFuture;

/**
 * Changes which nodes belong to the group, and which node leads it. Only the leader can do that.
 *
 * <p>A returned future completes exceptionally with a {@link NotLeadingException} if this node does
 * not lead. It does so with a {@link MembershipException} if the change cannot be made or would be
 * dangerous. Thread-safe; nothing blocks.
 */
public interface Membership {
  /**
   * Adds a node that was started with an empty log, one node at a time. The new node receives all
   * that the others have, and counts from then on.
   *
   * @param raftAddress host:port at which the other nodes reach the new node
   * @return completes once the new node belongs to the group, at once if it already did
   */
  CompletableFuture<Void> add(String nodeId, String raftAddress);

  /**
   * Removes a node. A leader that is to be removed first hands leadership over, and then no longer
   * leads.
   *
   * @return completes once the node does not belong to the group, also if it was removed before
   */
  CompletableFuture<Void> remove(String nodeId);

  /** Makes a node the leader. */
  CompletableFuture<Void> transferLeadership(String nodeId);

  /**
   * Makes the member that is furthest in the log the leader, if a node is the leader.
   *
   * @param nodeId the node that is not to be the leader
   */
  CompletableFuture<Void> replaceLeader(String nodeId);

  /**
   * Hands leadership over before this node stops, so that clients do not have to wait for an
   * election. Does nothing if this node does not lead, or if the remaining nodes could not elect a
   * leader.
   *
   * @return completes once another node leads, or exceptionally if none takes over soon
   */
  CompletableFuture<Void> resign();

  /** Returns the membership of a node that cannot have other members. */
  static Membership fixed(String why) {
    return new Membership() {
      @Override
      public CompletableFuture<Void> add(String nodeId, String raftAddress) {
        return refused();
      }

      @Override
      public CompletableFuture<Void> remove(String nodeId) {
        return refused();
      }

      @Override
      public CompletableFuture<Void> transferLeadership(String nodeId) {
        return refused();
      }

      @Override
      public CompletableFuture<Void> replaceLeader(String nodeId) {
        return refused();
      }

      @Override
      public CompletableFuture<Void> resign() {
        return CompletableFuture.completedFuture(null);
      }

      private CompletableFuture<Void> refused() {
        return CompletableFuture.failedFuture(new MembershipException(why));
      }
    };
  }
}
