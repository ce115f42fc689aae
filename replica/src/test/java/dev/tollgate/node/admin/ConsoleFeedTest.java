package dev.tollgate.node.admin;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.UserName;
import dev.tollgate.log.Supervision;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Looks at the state for several pages at once, with an eye that counts. */
@Timeout(30)
class ConsoleFeedTest {
  private static final Duration LONG = Duration.ofSeconds(10);
  private static final UserName ANN = new UserName("ANN");
  private static final UserName BOB = new UserName("BOB");

  private final AtomicInteger looks = new AtomicInteger();
  private final AtomicInteger failures = new AtomicInteger();
  private volatile boolean failing;
  private ConsoleFeed<Integer> feed;

  private void start(Duration every, int watchers) {
    ConsoleLimits limits = new ConsoleLimits(watchers, every, LONG, LONG, LONG, LONG);
    feed =
        new ConsoleFeed<>(
            "n1",
            (viewers, ended) -> {
              int number = looks.incrementAndGet();
              if (failing) {
                throw new IllegalStateException("planted");
              }
              return number;
            },
            limits,
            new Supervision("n1", bug -> failures.incrementAndGet()),
            bug -> failures.incrementAndGet());
  }

  @AfterEach
  void stop() {
    if (feed != null) {
      feed.close();
    }
  }

  private static ConsoleFeed.Seen<Integer> next(ConsoleFeed<Integer>.Watch watch, long after)
      throws InterruptedException {
    ConsoleFeed.Seen<Integer> seen = watch.next(after, System.nanoTime(), LONG);
    assertNotNull(seen);
    return seen;
  }

  @Test
  void oneLookServesAllPages() throws Exception {
    Duration every = Duration.ofMillis(50);
    start(every, 8);
    List<ConsoleFeed<Integer>.Watch> watches = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      watches.add(feed.watch(i % 2 == 0 ? ANN : BOB));
    }
    long begin = System.nanoTime();
    long[] seen = new long[watches.size()];
    for (int round = 0; round < 4; round++) {
      for (int i = 0; i < seen.length; i++) {
        seen[i] = next(watches.get(i), seen[i]).number();
      }
    }
    long most = Duration.ofNanos(System.nanoTime() - begin).toMillis() / every.toMillis() + 2;
    assertTrue(looks.get() <= most, looks + " looks, of which there may be " + most);
  }

  @Test
  void oneUserLeavesRoomForOthers() {
    start(Duration.ofMillis(50), 4);
    for (int i = 0; i < 3; i++) {
      assertNotNull(feed.watch(ANN), "page " + i);
    }
    assertFalse(feed.hasRoomFor(ANN));
    assertNull(feed.watch(ANN));
    assertTrue(feed.hasRoomFor(BOB));
    assertNotNull(feed.watch(BOB));
  }

  @Test
  void pageThatTakesNoPicturesGetsTheNewestAndNothingIsKeptForIt() throws Exception {
    start(Duration.ofMillis(1), 2);
    try (ConsoleFeed<Integer>.Watch slow = feed.watch(ANN);
        ConsoleFeed<Integer>.Watch fast = feed.watch(BOB)) {
      long first = next(slow, 0).number();
      long newest = first;
      while (newest < first + 20) {
        newest = next(fast, newest).number();
      }
      assertTrue(next(slow, first).number() >= newest);
    }
  }

  @Test
  void pageThatRestsGetsNoPictureBefore() throws Exception {
    start(Duration.ofMillis(1), 2);
    try (ConsoleFeed<Integer>.Watch watch = feed.watch(ANN)) {
      long notBefore = System.nanoTime() + Duration.ofMillis(200).toNanos();
      assertNotNull(watch.next(0, notBefore, LONG));
      assertTrue(System.nanoTime() >= notBefore);
      assertNull(watch.next(0, System.nanoTime() + LONG.toNanos(), Duration.ofMillis(20)));
    }
  }

  @Test
  void furtherPageIsRefusedUntilOneIsClosed() {
    start(Duration.ofMillis(50), 1);
    ConsoleFeed<Integer>.Watch first = feed.watch(ANN);
    assertNull(feed.watch(ANN));
    first.close();
    assertNotNull(feed.watch(ANN));
  }

  @Test
  void nobodyIsLookedForOnceAllPagesAreClosed() throws Exception {
    start(Duration.ofMillis(1), 1);
    try (ConsoleFeed<Integer>.Watch watch = feed.watch(ANN)) {
      next(watch, 0);
    }
    AtomicInteger before = new AtomicInteger(-1);
    await().atMost(LONG).until(() -> before.getAndSet(looks.get()) == looks.get());
    int looked = looks.get();
    await().during(Duration.ofMillis(50)).atMost(LONG).until(() -> looks.get() == looked);
    try (ConsoleFeed<Integer>.Watch again = feed.watch(ANN)) {
      assertTrue(next(again, 0).picture() > looked, "a page gets no picture from before");
    }
  }

  @Test
  void lookThatFailsIsReportedAndFollowedByAnother() throws Exception {
    failing = true;
    start(Duration.ofMillis(1), 1);
    try (ConsoleFeed<Integer>.Watch watch = feed.watch(ANN)) {
      await().atMost(LONG).until(() -> failures.get() > 1);
      failing = false;
      next(watch, 0);
    }
  }

  @Test
  void pauseIsAMultipleOfTheWorkAndHasAMaximum() {
    Duration second = Duration.ofSeconds(1);
    assertEquals(second, ConsoleFeed.pause(Duration.ofMillis(10), second));
    assertEquals(Duration.ofSeconds(4), ConsoleFeed.pause(Duration.ofMillis(200), second));
    assertEquals(ConsoleLimits.LONGEST_PAUSE, ConsoleFeed.pause(Duration.ofMinutes(1), second));
  }

  @Test
  void closeEndsTheWait() throws Exception {
    failing = true;
    start(Duration.ofMillis(1), 1);
    ConsoleFeed<Integer>.Watch watch = feed.watch(ANN);
    FutureTask<ConsoleFeed.Seen<Integer>> waiting =
        new FutureTask<>(() -> watch.next(0, System.nanoTime(), Duration.ofMinutes(5)));
    Thread page = new Thread(waiting, "page");
    page.setDaemon(true);
    page.start();
    await().atMost(LONG).until(() -> page.getState() == Thread.State.TIMED_WAITING);
    feed.close();
    assertNull(waiting.get(LONG.toSeconds(), TimeUnit.SECONDS));
    assertNull(feed.watch(ANN));
  }
}
