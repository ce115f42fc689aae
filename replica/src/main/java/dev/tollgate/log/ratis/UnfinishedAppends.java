package dev.tollgate.log.ratis;

import static dev.tollgate.log.ratis.RatisInternals.field;
import static dev.tollgate.log.ratis.RatisInternals.method;
import static java.util.Objects.requireNonNull;

import java.lang.reflect.Method;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.server.RaftServer;

/** The entries of leaders that are on their way to the disk of this node. Thread-safe. */
sealed interface UnfinishedAppends {
  /** True if one of the entries of a request is on its way. */
  boolean anyOf(AppendEntriesRequestProto request);

  /**
   * Records that a request was handed to Ratis. Requests are recorded in the order of the log.
   *
   * @param reply of Ratis to the request
   * @return fails if this append does
   */
  CompletableFuture<?> began(AppendEntriesRequestProto request, CompletableFuture<?> reply);

  /** Completes once all that was recorded is on disk; exceptionally if an append has failed. */
  CompletableFuture<?> all();

  /**
   * Those that Ratis appends on the thread of the connection that brings them, without a chain
   * (raft.server.log.append-entries.compose.enabled=false). It then forgets an entry that was
   * begun, and would acknowledge one that is sent again although it is not on disk (docs/adr/0025).
   */
  final class Tracked implements UnfinishedAppends {
    private record Range(long first, long last, CompletableFuture<?> reply) {}

    private final Deque<Range> ranges = new ConcurrentLinkedDeque<>();

    @Override
    public boolean anyOf(AppendEntriesRequestProto request) {
      forgetDone();
      long first = request.getEntries(0).getIndex();
      long last = first + request.getEntriesCount() - 1;
      return ranges.stream()
          .anyMatch(
              range -> range.first() <= last && first <= range.last() && !range.reply().isDone());
    }

    private void forgetDone() {
      while (!ranges.isEmpty() && ranges.getFirst().reply().isDone()) {
        ranges.removeFirst();
      }
    }

    @Override
    public CompletableFuture<?> began(
        AppendEntriesRequestProto request, CompletableFuture<?> reply) {
      if (!reply.isDone()) {
        long first = request.getEntries(0).getIndex();
        ranges.addLast(new Range(first, first + request.getEntriesCount() - 1, reply));
      }
      return reply;
    }

    @Override
    public CompletableFuture<?> all() {
      return CompletableFuture.allOf(
          ranges.stream().map(Range::reply).toArray(CompletableFuture[]::new));
    }
  }

  /**
   * Those that Ratis appends one after the other (NavigableIndices): it begins an append when the
   * one before is on disk. If one fails, Ratis carries out none that follows, and answers the
   * leader with the same failure forever. If one never ends, all others wait.
   *
   * <p>While an entry is being appended, Ratis takes any request with an entry at its index for the
   * same append. It acknowledges the whole request when that one append is done, also entries that
   * follow, or entries of another term, which it drops.
   */
  final class Chained implements UnfinishedAppends {
    private final Object chain;
    private final Method getTerm;
    private final AtomicReference<CompletableFuture<Void>> last;

    private Chained(Object chain, Method getTerm, AtomicReference<CompletableFuture<Void>> last) {
      this.chain = chain;
      this.getTerm = getTerm;
      this.last = last;
    }

    /**
     * @throws IllegalStateException if this Ratis is not the version that this class was written
     *     for
     */
    @SuppressWarnings("unchecked") // as declared in NavigableIndices
    static Chained of(RaftServer.Division owner) {
      try {
        Object chain = field(owner.getClass(), "appendLogTermIndices").get(owner);
        return new Chained(
            chain,
            method(chain.getClass(), "getTerm", long.class),
            (AtomicReference<CompletableFuture<Void>>)
                field(chain.getClass(), "future").get(chain));
      } catch (ReflectiveOperationException | ClassCastException e) {
        throw FollowerAppends.foreign(e);
      }
    }

    @Override
    public boolean anyOf(AppendEntriesRequestProto request) {
      try {
        for (LogEntryProto entry : request.getEntriesList()) {
          if (getTerm.invoke(chain, entry.getIndex()) != null) {
            return true;
          }
        }
        return false;
      } catch (ReflectiveOperationException e) {
        throw FollowerAppends.foreign(e);
      }
    }

    @Override
    public CompletableFuture<?> began(
        AppendEntriesRequestProto request, CompletableFuture<?> reply) {
      return all();
    }

    @Override
    public CompletableFuture<?> all() {
      return requireNonNull(last.get(), "last");
    }
  }
}
