package dev.tollgate.log.ratis;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * The entries that this node has proposed and that Ratis has not answered. Thread-safe.
 *
 * <p>When this node loses leadership, Ratis 3.3.0 (PendingRequests.RequestMap) may lose an answer:
 * if an entry is applied at that moment, its request is removed, and then an exception prevents the
 * answer. The command pipeline would wait for that answer forever, also as the next leader. So the
 * loss of leadership ends the wait for all entries.
 */
final class UnansweredEntries {
  private final AtomicLong proposed = new AtomicLong();
  private final Map<Long, CompletableFuture<Void>> unanswered = new ConcurrentHashMap<>();

  /** Proposes an entry; the result is the answer of Ratis, or ends with the loss of leadership. */
  CompletableFuture<Void> propose(Supplier<CompletableFuture<Void>> proposal) {
    CompletableFuture<Void> answer = new CompletableFuture<>();
    long number = proposed.incrementAndGet();
    unanswered.put(number, answer);
    var unused =
        proposal
            .get()
            .whenComplete(
                (applied, failure) -> {
                  unanswered.remove(number);
                  if (failure == null) {
                    answer.complete(null);
                  } else {
                    answer.completeExceptionally(failure);
                  }
                });
    return answer;
  }

  /** Call after Ratis has answered what it did not lose. */
  void lostLeadership() {
    unanswered
        .values()
        .forEach(
            answer ->
                answer.completeExceptionally(
                    new IOException(
                        "this node lost leadership, and Ratis did not say what became of an"
                            + " entry")));
    unanswered.values().removeIf(CompletableFuture::isDone);
  }
}
