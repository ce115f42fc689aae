package dev.tollgate.lock;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ListenerLanesTest {
  /** The limit of threads of the process is reached: what the system says then is an Error. */
  @Test
  void listenerIsToldOnceAThreadCanBeStarted() throws Exception {
    ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
    AtomicInteger refusals = new AtomicInteger(2);
    CountDownLatch told = new CountDownLatch(2);
    try (ListenerLanes lanes =
        new ListenerLanes(
            work -> {
              if (refusals.getAndDecrement() > 0) {
                throw new OutOfMemoryError("unable to create native thread");
              }
              return new Thread(work);
            },
            Duration.ofSeconds(1),
            timer)) {
      ListenerLane lane = lanes.open("a listener");
      lane.execute(told::countDown);
      lane.execute(told::countDown);
      assertTrue(told.await(20, TimeUnit.SECONDS), "calls that wait: " + told.getCount());
      lane.end();
    } finally {
      timer.shutdownNow();
    }
  }
}
