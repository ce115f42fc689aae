package dev.tollgate.node.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.RequestId;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.UserName;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class CancellationsTest {
  private static final UserName ANN = new UserName("ANN");
  private static final UserName BOB = new UserName("BOB");

  private final Cancellations cancellations = new Cancellations();
  private final AtomicInteger interruptions = new AtomicInteger();

  private static RequestId request(long session, long sequence) {
    return new RequestId(new SessionId(session), sequence);
  }

  @Test
  void statementUnderWayIsInterrupted() {
    Cancellations.Statement statement = cancellations.begins(request(1, 1));
    statement.interruptBy(interruptions::incrementAndGet);
    cancellations.cancel(request(1, 1), ANN);
    cancellations.cancel(request(1, 1), ANN);
    assertTrue(statement.isCanceled());
    assertEquals(1, interruptions.get());
    assertEquals(0, cancellations.kept());
  }

  @Test
  void cancellationStaysWithAStatementThatHasNotBegun() {
    Cancellations.Statement statement = cancellations.begins(request(1, 1));
    cancellations.cancel(request(1, 1), ANN);
    statement.interruptBy(interruptions::incrementAndGet);
    assertEquals(1, interruptions.get());
  }

  @Test
  void partThatHasEndedIsNotInterrupted() {
    Cancellations.Statement statement = cancellations.begins(request(1, 1));
    statement.interruptBy(interruptions::incrementAndGet);
    statement.goesOn();
    cancellations.cancel(request(1, 1), ANN);
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
    cancellations.cancel(request(1, 1), ANN);
    cancellations.cancel(request(1, 1), ANN);
    assertEquals(List.of(), queue);
    assertEquals(1, interruptions.get());

    Cancellations.Statement entering = cancellations.begins(request(2, 1));
    entering.enqueue(
        () -> {
          cancellations.cancel(request(2, 1), ANN);
          queue.add("b");
        },
        () -> queue.remove("b"),
        interruptions::incrementAndGet);
    assertEquals(List.of(), queue);
    assertEquals(2, interruptions.get());

    Cancellations.Statement begun = cancellations.begins(request(3, 1));
    begun.enqueue(() -> {}, () -> queue.remove("c"), interruptions::incrementAndGet);
    cancellations.cancel(request(3, 1), ANN);
    assertEquals(2, interruptions.get());
  }

  @Test
  void cancellationThatOvertakesItsStatementIsKept() {
    cancellations.cancel(request(1, 2), ANN);
    assertFalse(cancellations.begins(request(1, 1)).isCanceled());
    assertFalse(cancellations.begins(request(2, 2)).isCanceled());
    assertTrue(cancellations.begins(request(1, 2)).isCanceled());
    assertFalse(cancellations.begins(request(1, 3)).isCanceled());
    assertEquals(0, cancellations.kept());
  }

  @Test
  void laterStatementOrTheEndOfTheSessionEndsAKeptCancellation() {
    cancellations.cancel(request(1, 1), ANN);
    cancellations.cancel(request(2, 1), ANN);
    assertFalse(cancellations.begins(request(1, 2)).isCanceled());
    cancellations.sessionEnded(new SessionId(2));
    assertEquals(0, cancellations.kept());
  }

  @Test
  void statementThatWasSentAgainIsNotEndedByTheAnswerToTheFirst() {
    Cancellations.Statement first = cancellations.begins(request(1, 1));
    Cancellations.Statement again = cancellations.begins(request(1, 1));
    cancellations.ends(request(1, 1), first);
    cancellations.cancel(request(1, 1), ANN);
    assertTrue(again.isCanceled());
  }

  @Test
  void keptCancellationsHaveAMaximum() {
    for (long session = 1; session <= Limits.KEPT_CANCELLATIONS + 1; session++) {
      cancellations.cancel(request(session, 1), new UserName("U" + session % 100));
    }
    assertEquals(Limits.KEPT_CANCELLATIONS, cancellations.kept());
    assertFalse(cancellations.begins(request(1, 1)).isCanceled(), "the oldest goes first");
    assertTrue(cancellations.begins(request(2, 1)).isCanceled());
  }

  @Test
  void oneUserPushesOutItsOwnAlone() {
    long most = Limits.KEPT_CANCELLATIONS_PER_USER;
    cancellations.cancel(request(1, 1), BOB);
    for (long session = 2; session <= 3 * most + 1; session++) {
      cancellations.cancel(request(session, 1), ANN);
    }
    assertEquals(1 + most, cancellations.kept());
    assertTrue(cancellations.begins(request(1, 1)).isCanceled(), "that of another user");
    assertFalse(cancellations.begins(request(2 * most + 1, 1)).isCanceled());
    assertTrue(cancellations.begins(request(2 * most + 2, 1)).isCanceled());
    cancellations.sessionEnded(new SessionId(2 * most + 3));
    assertEquals(most - 2, cancellations.kept());
  }

  /** Without users each client is the same one. */
  @Test
  void clusterWithoutUsersHasNoShares() {
    for (long session = 1; session <= Limits.KEPT_CANCELLATIONS; session++) {
      cancellations.cancel(request(session, 1), UserName.ANONYMOUS);
    }
    assertEquals(Limits.KEPT_CANCELLATIONS, cancellations.kept());
  }
}
