package dev.tollgate.node;

import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RandomSeed;
import dev.tollgate.log.CommandPipeline;
import dev.tollgate.log.entry.Proposal;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Keeps the thread that applies the entries of a leader busy, as a large snapshot does. */
final class BusyReplica {
  private final CountDownLatch free = new CountDownLatch(1);

  /** Returns once nothing is applied any more, until the end. */
  BusyReplica(CommandPipeline leader) throws Exception {
    CompletableFuture<Void> busy = new CompletableFuture<>();
    leader.submit(
        new Command.SeedRandom(new RandomSeed(1, 2)),
        new Proposal.Listener() {
          @Override
          public void applied(Outcome outcome) {
            busy.complete(null);
            try {
              free.await();
            } catch (InterruptedException e) {
              throw new IllegalStateException(e);
            }
          }

          @Override
          public void unknown() {
            busy.completeExceptionally(new IllegalStateException("it does not lead"));
          }
        });
    busy.get(30, TimeUnit.SECONDS);
  }

  void end() {
    free.countDown();
  }
}
