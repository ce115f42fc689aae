package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Requests for the leader that came to this node while it takes leadership over. They wait until it
 * leads, so clients connect to the next leader while it is elected, and are not sent to and fro.
 * Each connection has one such request at most. Thread-safe.
 */
final class TakeoverWaits {
  private final BooleanSupplier coming;
  private final Workers workers;
  private final Map<ReplyChannel, CompletableFuture<Void>> waiting = new ConcurrentHashMap<>();

  /**
   * @param coming whether this node takes leadership over, and does not lead yet; must not block
   */
  TakeoverWaits(BooleanSupplier coming, Workers workers) {
    this.coming = requireNonNull(coming, "coming");
    this.workers = requireNonNull(workers, "workers");
  }

  /**
   * Continues when this node leads, or is not likely to any more: at once unless it takes
   * leadership over.
   *
   * @param then asks whether this node leads; called by any thread, must not wait
   */
  void await(ReplyChannel client, Runnable then) {
    CompletableFuture<Void> over = new CompletableFuture<>();
    if (!coming.getAsBoolean() || waiting.putIfAbsent(client, over) != null) {
      then.run();
      return;
    }
    var unused =
        over.completeOnTimeout(null, ClientLimits.TAKEOVER_MILLIS, TimeUnit.MILLISECONDS)
            .thenRunAsync(
                () -> {
                  waiting.remove(client, over);
                  then.run();
                },
                workers::chore);
    if (!coming.getAsBoolean()) {
      over.complete(null);
    }
  }

  /** Leaves the answers to other threads: the caller may hold a monitor of the log. */
  void leaderMayHaveChanged() {
    if (!waiting.isEmpty() && !coming.getAsBoolean()) {
      waiting.values().forEach(over -> over.complete(null));
    }
  }

  /** The client is gone, with its request. */
  void forget(ReplyChannel gone) {
    CompletableFuture<Void> over = waiting.remove(gone);
    if (over != null) {
      over.cancel(/* mayInterruptIfRunning= */ false);
    }
  }
}
