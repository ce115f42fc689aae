package dev.tollgate.log;

import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Who belongs to the group, and who leads it. Only the leader can change that.
 *
 * <p>What is returned completes exceptionally with a {@link NotLeadingException} where this node
 * does not lead, with a {@link MembershipException} if the change cannot be made or would be
 * dangerous. Thread-safe; nothing blocks.
 */
public interface Membership {
  /**
   * Adds a node that has been started with an empty log, one at a time. It gets all that the others
   * have, and counts from then on.
   *
   * @param raftAddress host:port at which the other nodes reach it
   * @return completes once it belongs to the group, at once if it did
   */
  CompletableFuture<Void> add(String nodeId, String raftAddress);

  /**
   * Removes a node. A leader that is to be removed hands its leadership over first, and then no
   * longer leads.
   *
   * @return completes once it does not belong to the group, also if it was removed before
   */
  CompletableFuture<Void> remove(String nodeId);

  /**
   * Makes another node the leader.
   *
   * @param nodeId null for whichever of the others is furthest in the log
   */
  CompletableFuture<Void> transferLeadership(@Nullable String nodeId);

  /**
   * Hands leadership over before this node stops, so that clients do not have to wait for an
   * election. Nothing happens if this node does not lead, or if the nodes that are left could not
   * elect a leader.
   *
   * @return completes once another node leads, or exceptionally if none takes over soon
   */
  CompletableFuture<Void> resign();

  /** That of a node that cannot have others. */
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
      public CompletableFuture<Void> transferLeadership(@Nullable String nodeId) {
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
