package dev.tollgate.node.client;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Has the state of a node for itself, as an entry does that takes long to apply. */
public final class BusyApply implements AutoCloseable {
  private final CountDownLatch free = new CountDownLatch(1);

  /** Returns once nobody else can look at the state, until this is closed. */
  public BusyApply(ClientService node) throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    Thread applies =
        new Thread(
            () ->
                node.replica()
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
