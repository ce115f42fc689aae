package dev.tollgate.node.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tollgate.wire.Reply;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How long a statement took, without the time for which its client wanted to wait. */
class TimedAnswerTest {
  private long nanos = Long.MAX_VALUE - 5;
  private final List<Reply> replies = new ArrayList<>();
  private final List<TimedAnswer.Time> times = new ArrayList<>();
  private final TimedAnswer answer =
      new TimedAnswer(replies::add, () -> nanos, (reply, time) -> times.add(time));

  @Test
  void statementTakesUntilItsAnswer() {
    nanos += 100;
    answer.accept(new Reply.Ok());
    assertEquals(List.of(new TimedAnswer.Time(100, 0, 100, false)), times);
    assertEquals(1, replies.size());
  }

  @Test
  void clientIsAnsweredWhateverTheListenerDoes() {
    TimedAnswer faulty =
        new TimedAnswer(
            replies::add,
            () -> nanos,
            (reply, time) -> {
              throw new IllegalStateException("a bug, on purpose");
            });
    assertThrows(IllegalStateException.class, () -> faulty.accept(new Reply.Ok()));
    assertEquals(1, replies.size());
  }

  @Test
  void waitForALockIsNoWork() {
    answer.planned();
    nanos += 100;
    answer.waits(true);
    nanos += 10_000;
    answer.waitsNoMore();
    nanos += 7;
    answer.accept(new Reply.Ok());
    assertEquals(List.of(new TimedAnswer.Time(10_107, 10_000, 107, true)), times);
  }

  @Test
  void waitForARowIsWorkOfTheStatement() {
    answer.waits(false);
    nanos += 10_000;
    answer.waitsNoMore();
    answer.waitsNoMore();
    answer.accept(new Reply.Ok());
    assertEquals(List.of(new TimedAnswer.Time(10_000, 10_000, 10_000, false)), times);
  }

  @Test
  void waitsOfAStatementAddUp() {
    for (int i = 0; i < 2; i++) {
      answer.waits(true);
      nanos += 1_000;
      answer.waitsNoMore();
    }
    answer.waits(false);
    nanos += 20;
    answer.waitsNoMore();
    answer.accept(new Reply.Ok());
    assertEquals(List.of(new TimedAnswer.Time(2_020, 2_020, 20, false)), times);
  }

  @Test
  void listenerIsToldBeforeTheClient() {
    List<String> told = new ArrayList<>();
    new TimedAnswer(reply -> told.add("client"), () -> nanos, (reply, time) -> told.add("listener"))
        .accept(new Reply.Ok());
    assertEquals(List.of("listener", "client"), told);
  }
}
