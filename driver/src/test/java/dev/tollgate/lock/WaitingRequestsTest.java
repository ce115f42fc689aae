package dev.tollgate.lock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class WaitingRequestsTest {
  private static final Duration HOUR = Duration.ofHours(1);

  private final ClientThreads threads = new ClientThreads();
  private final WaitingRequests waits = new WaitingRequests(threads);

  @AfterEach
  void close() {
    waits.close();
    threads.close();
  }

  /** Is asked this often before it wants to be left alone for an hour. */
  private final class Asked implements WaitingRequests.Wait {
    private final CountDownLatch questions;

    Asked(int questions) {
      this.questions = new CountDownLatch(questions);
    }

    @Override
    public void leave() {
      waits.end(this);
    }

    @Override
    public Duration endIfDue(long nowNanos) {
      questions.countDown();
      return questions.getCount() == 0 ? HOUR : Duration.ofMillis(1);
    }

    boolean isDone() throws InterruptedException {
      return questions.await(30, TimeUnit.SECONDS);
    }
  }

  @Test
  void requestBeyondTheLimitIsRefusedByItsName() {
    List<Asked> begun = new ArrayList<>();
    for (int i = 0; i < LockLimits.WAITING_REQUESTS; i++) {
      begun.add(new Asked(1));
      waits.begin(begun.get(i), HOUR);
    }
    LockException refused =
        assertThrows(LockException.class, () -> waits.begin(new Asked(1), HOUR));
    assertEquals("53300", refused.sqlState());
    assertTrue(refused.getMessage().contains("LockLimits.WAITING_REQUESTS"), refused::getMessage);
    assertEquals(LockLimits.WAITING_REQUESTS, waits.count());
    waits.end(begun.get(0));
    waits.end(begun.get(0));
    waits.begin(begun.get(0), HOUR);
    assertThrows(LockException.class, () -> waits.begin(new Asked(1), HOUR));
  }

  @Test
  void waitIsAskedWhenItsTimeIsOverAndAsOftenAsItWants() throws Exception {
    Asked late = new Asked(1);
    waits.begin(late, HOUR);
    Asked soon = new Asked(3);
    waits.begin(soon, Duration.ofMillis(1));
    assertTrue(soon.isDone());
    assertTrue(late.isDone(), "a round asks all");
  }

  @Test
  void hastenedWaitIsAskedAtOnce() throws Exception {
    Asked wait = new Asked(2);
    waits.begin(wait, HOUR);
    waits.hasten();
    assertTrue(wait.isDone());
  }

  /** Its caller can leave only when it is asked the third time after the client was closed. */
  @Test
  void waitIsAskedUntilItHasEndedThoughTheClientIsClosed() throws Exception {
    CountDownLatch ended = new CountDownLatch(1);
    WaitingRequests.Wait stubborn =
        new WaitingRequests.Wait() {
          private int asked;

          @Override
          public void leave() {
            waits.hasten();
          }

          @Override
          public Duration endIfDue(long nowNanos) {
            if (++asked == 2) {
              throw new IllegalStateException("planted");
            }
            if (asked == 3) {
              waits.end(this);
              ended.countDown();
            }
            return Duration.ofMillis(1);
          }
        };
    waits.begin(stubborn, HOUR);
    waits.close();
    assertTrue(ended.await(30, TimeUnit.SECONDS));
    assertEquals(0, waits.count());
    assertThrows(IllegalStateException.class, () -> waits.begin(new Asked(1), HOUR));
    assertEquals(0, waits.count());
  }

  @Test
  void roundThatIsDueEarlierStays() throws Exception {
    Asked first = new Asked(1);
    waits.begin(first, Duration.ofMillis(200));
    waits.end(first);
    Asked second = new Asked(1);
    waits.begin(second, HOUR);
    assertTrue(second.isDone(), "asked in the round of the first");
  }
}
