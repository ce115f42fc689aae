package dev.tollgate.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class BudgetTest {
  private static final Duration TEN = Duration.ofSeconds(10);

  private final Client.ManualClock clock = new Client.ManualClock();
  private final LeaderNews news = new LeaderNews();
  private final Timekeeping environment = new Timekeeping(clock, Timing.STANDARD);

  private Budget budget(Duration limit) {
    return new Budget(environment, TEN, limit, () -> false);
  }

  @Test
  void itEndsWhenNoNodeWasHealthyForTooLong() {
    Budget budget = budget(Duration.ZERO);
    clock.advance(Duration.ofSeconds(9));
    assertFalse(budget.spent());
    assertEquals(Duration.ofSeconds(1), budget.within(TEN));
    clock.advance(Duration.ofSeconds(1));
    assertTrue(budget.spent());
    assertEquals(Duration.ZERO, budget.within(TEN));
    assertFalse(budget.pause(news, 0));
  }

  @Test
  void aSignOfLifeRenewsIt() {
    Budget budget = budget(Duration.ZERO);
    for (int i = 0; i < 100; i++) {
      clock.advance(Duration.ofSeconds(9));
      budget.healthy();
    }
    assertFalse(budget.spent());
    clock.advance(TEN);
    assertTrue(budget.spent());
  }

  @Test
  void theLimitHoldsWhateverTheNodesSay() {
    Budget budget = budget(Duration.ofSeconds(12));
    clock.advance(Duration.ofSeconds(8));
    budget.healthy();
    assertEquals(Duration.ofSeconds(4), budget.within(TEN));
    assertEquals(Duration.ofSeconds(4), budget.withinLimit(TEN));
    clock.advance(Duration.ofSeconds(4));
    assertTrue(budget.spent());
    assertTrue(budget.limitReached());
    assertEquals(Duration.ZERO, budget.withinLimit(TEN));
  }

  @Test
  void withoutALimitAHealthyNodeMayTakeItsTime() {
    Budget budget = budget(Duration.ZERO);
    assertEquals(Duration.ofDays(1), budget.withinLimit(Duration.ofDays(1)));
    assertFalse(budget.limitReached());
  }

  @Test
  void pausesGrowAndBeginAgainAfterASignOfLife() {
    Budget budget = budget(Duration.ZERO);
    assertTrue(pauseMillis(budget) < 10, "none the first time");
    long early = pauseMillis(budget);
    for (int i = 0; i < 4; i++) {
      assertTrue(budget.pause(news, 0));
    }
    long late = pauseMillis(budget);
    assertTrue(early >= 10 && late >= 200, early + ", " + late);
    budget.healthy();
    assertTrue(pauseMillis(budget) < 10);
  }

  private long pauseMillis(Budget budget) {
    long start = System.nanoTime();
    assertTrue(budget.pause(news, 0));
    return (System.nanoTime() - start) / 1_000_000;
  }

  @Test
  void newsOfALaterLeaderEndAPause() throws InterruptedException {
    Budget budget = budget(Duration.ZERO);
    for (int i = 0; i < 6; i++) {
      assertTrue(budget.pause(news, 0));
    }
    Thread pausing = Thread.currentThread();
    Thread leader =
        new Thread(
            () -> {
              while (pausing.getState() != Thread.State.TIMED_WAITING) {
                Thread.onSpinWait();
              }
              news.learn(new LeaderNews.Leader(7, "n2", "b:1"));
            });
    leader.start();
    long whileNewsCome = pauseMillis(budget);
    leader.join();
    assertTrue(whileNewsCome < 150, "it lasted " + whileNewsCome + " ms");
    assertTrue(pauseMillis(budget) < 150, "the news came before the pause");
    long start = System.nanoTime();
    assertTrue(budget.pause(news, 7));
    assertTrue(System.nanoTime() - start >= 200_000_000, "that leader was known before");
  }

  @Test
  void itEndsWhenNobodyWaitsAnyMore() {
    AtomicBoolean withdrawn = new AtomicBoolean();
    Budget budget = new Budget(environment, TEN, Duration.ZERO, withdrawn::get);
    assertFalse(budget.spent());
    withdrawn.set(true);
    assertTrue(budget.spent());
  }

  @Test
  void anInterruptEndsNoPauseAndIsNotLost() {
    Budget budget = budget(Duration.ZERO);
    for (int i = 0; i < 6; i++) {
      assertTrue(budget.pause(news, 0));
    }
    Thread.currentThread().interrupt();
    long interrupted = pauseMillis(budget);
    assertTrue(Thread.interrupted());
    assertTrue(interrupted >= 200, "it lasted " + interrupted + " ms");
  }
}
