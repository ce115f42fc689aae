package dev.tollgate.log.ratis;

import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedDeque;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;

/**
 * The entries of leaders that are on their way to the disk of this node. Ratis appends them on the
 * thread of the connection that brings them, without a chain
 * (raft.server.log.append-entries.compose.enabled=false). It then forgets an entry that was begun,
 * and would acknowledge one that is sent again although it is not on disk (docs/adr/0025).
 * Thread-safe.
 */
final class UnfinishedAppends {
  private record Range(long first, long last, boolean cuts, CompletableFuture<?> reply) {}

  private final Deque<Range> ranges = new ConcurrentLinkedDeque<>();

  /**
   * True if a request may begin: none of its entries is on its way, and no cut is. A request that
   * may cut the log begins alone, because Ratis 3.3.0 takes what it has synced of entries for
   * synced after it has decided to cut them off, until the cut is made.
   *
   * @param cuts true if the log has the first entry of the request, or another in its place
   */
  boolean admits(AppendEntriesRequestProto request, boolean cuts) {
    forgetDone();
    long first = request.getEntries(0).getIndex();
    long last = first + request.getEntriesCount() - 1;
    return ranges.stream()
        .allMatch(
            range ->
                range.reply().isDone()
                    || !(cuts || range.cuts() || (range.first() <= last && first <= range.last())));
  }

  boolean isEmpty() {
    return ranges.stream().allMatch(range -> range.reply().isDone());
  }

  private void forgetDone() {
    while (!ranges.isEmpty() && ranges.getFirst().reply().isDone()) {
      ranges.removeFirst();
    }
  }

  /**
   * Records that a request was handed to Ratis. Requests are recorded in the order of the log.
   *
   * @param cuts as for {@link #admits}
   * @param reply of Ratis to the request
   */
  void began(AppendEntriesRequestProto request, boolean cuts, CompletableFuture<?> reply) {
    if (!reply.isDone()) {
      long first = request.getEntries(0).getIndex();
      ranges.addLast(new Range(first, first + request.getEntriesCount() - 1, cuts, reply));
    }
  }

  /** Completes once all that was recorded is on disk; exceptionally if an append has failed. */
  CompletableFuture<?> all() {
    return CompletableFuture.allOf(
        ranges.stream().map(Range::reply).toArray(CompletableFuture[]::new));
  }
}
