package dev.tollgate.node.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.RequestId;
import dev.tollgate.core.command.SessionId;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class CancellationsTest {
  private final Cancellations cancellations = new Cancellations();
  private final AtomicInteger interruptions = new AtomicInteger();

  private static RequestId request(long session, long sequence) {
    return new RequestId(new SessionId(session), sequence);
  }

  @Test
  void statementUnderWayIsInterrupted() {
    Cancellations.Statement statement = cancellations.begins(request(1, 1));
    statement.interruptBy(interruptions::incrementAndGet);
    cancellations.cancel(request(1, 1));
    cancellations.cancel(request(1, 1));
    assertTrue(statement.isCanceled());
    assertEquals(1, interruptions.get());
    assertEquals(0, cancellations.kept());
  }

  @Test
  void cancellationStaysWithAStatementThatHasNotBegun() {
    Cancellations.Statement statement = cancellations.begins(request(1, 1));
    cancellations.cancel(request(1, 1));
    statement.interruptBy(interruptions::incrementAndGet);
    assertEquals(1, interruptions.get());
  }

  @Test
  void partThatHasEndedIsNotInterrupted() {
    Cancellations.Statement statement = cancellations.begins(request(1, 1));
    statement.interruptBy(interruptions::incrementAndGet);
    statement.goesOn();
    cancellations.cancel(request(1, 1));
    assertEquals(0, interruptions.get());
    assertTrue(statement.isCanceled());
  }

  /** However a cancellation meets the entry into a queue, exactly one of the two happens. */
  @Test
  void canceledStatementLeavesItsQueueOnce() {
    List<String> queue = new ArrayList<>();
    Cancellations.Statement waiting = cancellations.begins(request(1, 1));
    waiting.enqueue(() -> queue.add("a"), () -> queue.remove("a"), interruptions::incrementAndGet);
    assertEquals(List.of("a"), queue);
    cancellations.cancel(request(1, 1));
    cancellations.cancel(request(1, 1));
    assertEquals(List.of(), queue);
    assertEquals(1, interruptions.get());

    Cancellations.Statement entering = cancellations.begins(request(2, 1));
    entering.enqueue(
        () -> {
          cancellations.cancel(request(2, 1));
          queue.add("b");
        },
        () -> queue.remove("b"),
        interruptions::incrementAndGet);
    assertEquals(List.of(), queue);
    assertEquals(2, interruptions.get());

    Cancellations.Statement begun = cancellations.begins(request(3, 1));
    begun.enqueue(() -> {}, () -> queue.remove("c"), interruptions::incrementAndGet);
    cancellations.cancel(request(3, 1));
    assertEquals(2, interruptions.get());
  }

  @Test
  void cancellationThatOvertakesItsStatementIsKept() {
    cancellations.cancel(request(1, 2));
    assertFalse(cancellations.begins(request(1, 1)).isCanceled());
    assertFalse(cancellations.begins(request(2, 2)).isCanceled());
    assertTrue(cancellations.begins(request(1, 2)).isCanceled());
    assertFalse(cancellations.begins(request(1, 3)).isCanceled());
    assertEquals(0, cancellations.kept());
  }

  @Test
  void laterStatementOrTheEndOfTheSessionEndsAKeptCancellation() {
    cancellations.cancel(request(1, 1));
    cancellations.cancel(request(2, 1));
    assertFalse(cancellations.begins(request(1, 2)).isCanceled());
    cancellations.sessionEnded(new SessionId(2));
    assertEquals(0, cancellations.kept());
  }

  @Test
  void statementThatWasSentAgainIsNotEndedByTheAnswerToTheFirst() {
    Cancellations.Statement first = cancellations.begins(request(1, 1));
    Cancellations.Statement again = cancellations.begins(request(1, 1));
    cancellations.ends(request(1, 1), first);
    cancellations.cancel(request(1, 1));
    assertTrue(again.isCanceled());
  }

  @Test
  void keptCancellationsHaveAMaximum() {
    for (long session = 1; session <= Limits.KEPT_CANCELLATIONS + 1; session++) {
      cancellations.cancel(request(session, 1));
    }
    assertEquals(Limits.KEPT_CANCELLATIONS, cancellations.kept());
    assertFalse(cancellations.begins(request(1, 1)).isCanceled(), "the oldest goes first");
    assertTrue(cancellations.begins(request(2, 1)).isCanceled());
  }
}
