package dev.tollgate.node;

import dev.tollgate.node.replica.Replica;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Has the state of a node for itself, as an entry does that takes long to apply. */
final class BusyApply implements AutoCloseable {
  private final CountDownLatch free = new CountDownLatch(1);

  /** Returns once nobody else can look at the state, until this is closed. */
  BusyApply(Replica replica) throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    Thread applies =
        new Thread(
            () ->
                replica
                    .state()
                    .lookAlone(
                        state -> {
                          begun.countDown();
                          return awaitEnd();
                        },
                        () -> false),
            "busy-apply");
    applies.setDaemon(true);
    applies.start();
    if (!begun.await(30, TimeUnit.SECONDS)) {
      throw new IllegalStateException("the state is not free");
    }
  }

  private boolean awaitEnd() {
    try {
      free.await();
      return true;
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    free.countDown();
  }
}
