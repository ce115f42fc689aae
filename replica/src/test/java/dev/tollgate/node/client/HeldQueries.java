package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.UserName;
import dev.tollgate.log.CommandPipeline;
import dev.tollgate.log.entry.Proposal;
import dev.tollgate.node.replica.Facts;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Keeps queries, or other work, of a node waiting for a thread, so that something can happen before
 * they run.
 */
public final class HeldQueries implements AutoCloseable {
  /** More than a node has threads; the first of them have all, the rest wait. */
  private static final int HOLDING = 100;

  private final CommandPipeline pipeline;
  private final Facts facts;
  private final CountDownLatch holding;
  private final CountDownLatch free = new CountDownLatch(1);

  /** No query that comes after this runs before the end. */
  public HeldQueries(Workers workers, CommandPipeline pipeline, Facts facts) {
    this(Workers.Kind.QUERIES, workers, pipeline, facts);
  }

  /** No work of this kind that comes after this runs before the end. */
  public HeldQueries(Workers.Kind kind, Workers workers, CommandPipeline pipeline, Facts facts) {
    this.pipeline = pipeline;
    this.facts = facts;
    this.holding = new CountDownLatch(kind.threads());
    for (int i = 0; i < HOLDING; i++) {
      workers.run(
          kind,
          UserName.ANONYMOUS,
          this::awaitEnd,
          refused -> {
            throw new IllegalStateException(refused);
          });
    }
    await(holding);
  }

  private void awaitEnd() {
    holding.countDown();
    await(free);
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Rolls back the transaction of a session as the time keeper does; returns once it has ended. */
  public void abort(long session, long transaction) throws Exception {
    SessionId id = new SessionId(session);
    CompletableFuture<Void> ended = new CompletableFuture<>();
    pipeline.submit(
        new Command.AbortTransaction(id, transaction, Command.AbortReason.IDLE),
        new Proposal.Listener() {
          @Override
          public void applied(Outcome outcome) {
            ended.complete(null);
          }

          @Override
          public void unknown() {
            ended.completeExceptionally(new IllegalStateException("it does not lead"));
          }
        });
    ended.get(30, TimeUnit.SECONDS);
    Facts.SessionFacts found = requireNonNull(facts.session(id));
    if (found.inTransaction() || found.lostTransaction() == null) {
      throw new IllegalStateException("the transaction was not rolled back: " + found);
    }
  }

  @Override
  public void close() {
    free.countDown();
  }
}
