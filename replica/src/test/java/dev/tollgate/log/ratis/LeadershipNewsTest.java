package dev.tollgate.log.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.tollgate.log.LogConsumer;
import dev.tollgate.log.entry.Entry;
import dev.tollgate.snapshot.SnapshotReader;
import dev.tollgate.snapshot.StateCopy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Schedules in which "leads" and "does not lead" overtake each other, step by step. */
class LeadershipNewsTest {
  private final AtomicLong leadingTerm = new AtomicLong(LeadershipNews.NONE);
  private final Listener consumer = new Listener();
  private final LeadershipNews news = new LeadershipNews(consumer, leadingTerm::get);

  private static final class Listener implements LogConsumer {
    final List<String> heard = new ArrayList<>();
    final List<Throwable> failures = new ArrayList<>();

    /** What happens while the consumer hears that it leads. */
    Runnable whileStarting = () -> {};

    @Override
    public void startedLeading(long term) {
      whileStarting.run();
      heard.add("leads in " + term);
    }

    @Override
    public void stoppedLeading() {
      heard.add("does not lead");
    }

    @Override
    public void failed(Throwable cause) {
      failures.add(cause);
    }

    @Override
    public void apply(long logIndex, Entry entry) {}

    @Override
    public @Nullable StateCopy beginCopy(boolean insistent) {
      return null;
    }

    @Override
    public void snapshotNeedsGap(boolean needed) {}

    @Override
    public void restore(SnapshotReader snapshot) {}
  }

  @Test
  void consumerHearsWhatIsTrue() {
    lead(1);
    lose();
    lead(4);
    assertEquals(List.of("leads in 1", "does not lead", "leads in 4"), consumer.heard);
  }

  /** Ratis decided to say "leads" when it was true, and says it after "does not lead". */
  @Test
  void leadershipThatIsLostBeforeItIsToldIsNotTold() {
    leadingTerm.set(1);
    lose();
    news.changed();
    assertEquals(List.of(), consumer.heard);
  }

  /** The thread that says so holds a monitor for which the consumer may be waiting. */
  @Test
  void leadershipThatIsLostWhileItIsToldIsTakenBackAfterwardsAndNobodyWaits()
      throws InterruptedException {
    Thread loser = new Thread(this::lose, "loser");
    consumer.whileStarting =
        () -> {
          loser.start();
          try {
            loser.join(20_000);
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
          assertFalse(loser.isAlive(), "the loser waits");
        };
    lead(1);
    loser.join();
    assertEquals(List.of("leads in 1", "does not lead"), consumer.heard);
  }

  @Test
  void leadershipThatIsLostAndWonAgainWhileItIsToldIsToldAgain() {
    consumer.whileStarting =
        () -> {
          consumer.whileStarting = () -> {};
          lose();
          lead(3);
        };
    lead(1);
    assertEquals(List.of("leads in 1", "does not lead", "leads in 3"), consumer.heard);
  }

  @Test
  void consumerThatFailsToBeginIsFailed() {
    consumer.whileStarting =
        () -> {
          throw new IllegalStateException("a bug, on purpose");
        };
    lead(1);
    assertEquals(1, consumer.failures.size());
  }

  private void lead(long term) {
    leadingTerm.set(term);
    news.changed();
  }

  private void lose() {
    leadingTerm.set(LeadershipNews.NONE);
    news.changed();
  }
}
