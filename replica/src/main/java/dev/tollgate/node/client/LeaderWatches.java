package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SqlState;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * Requests that wait until this node knows a leader of a later term. There is at most one for each
 * connection, so the limit of connections bounds them. Thread-safe; nothing here waits.
 */
final class LeaderWatches {
  private record Watch(long knownTerm, Consumer<Reply> answer) {}

  private final ClusterInfo cluster;
  private final Workers workers;
  private final Map<ReplyChannel, Watch> waiting = new ConcurrentHashMap<>();

  LeaderWatches(ClusterInfo cluster, Workers workers) {
    this.cluster = requireNonNull(cluster, "cluster");
    this.workers = requireNonNull(workers, "workers");
  }

  void await(Request.AwaitLeader request, ReplyChannel client, Consumer<Reply> answer) {
    Watch watch = new Watch(request.knownTerm(), answer);
    if (waiting.putIfAbsent(client, watch) != null) {
      answer.accept(
          new Reply.Failure(
              SqlState.TOO_MANY,
              "the connection has 1 request that waits for another leader, as many as may be"));
      return;
    }
    Reply.Leader leader = cluster.servingLeader();
    if (leader != null) {
      answerIfLater(leader, client, watch);
    }
  }

  /** Leaves the answers to another thread: the caller may hold a monitor of the log. */
  void leaderMayHaveChanged() {
    if (!waiting.isEmpty()) {
      workers.chore(this::answerAll);
    }
  }

  private void answerAll() {
    Reply.Leader leader = cluster.servingLeader();
    if (leader != null) {
      waiting.forEach((client, watch) -> answerIfLater(leader, client, watch));
    }
  }

  private void answerIfLater(Reply.Leader leader, ReplyChannel client, Watch watch) {
    if (leader.term() > watch.knownTerm && waiting.remove(client, watch)) {
      watch.answer.accept(leader);
    }
  }

  /** The client is gone, with its request. */
  void forget(ReplyChannel gone) {
    waiting.remove(gone);
  }
}
