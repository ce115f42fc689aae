package dev.tollgate.node.replica;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.store.SqlDatabase;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Who may wait for the state of a replica, and who has to ask. */
class ReplicaLookTest {
  private final SqlDatabase database = new SqlDatabase();
  private final Replica replica = new Replica("r", database);

  @AfterEach
  void close() {
    database.close();
  }

  @Test
  void threadForWhichOthersWaitMayNotLook() {
    assertThrows(
        IllegalStateException.class,
        () -> replica.promptly(() -> replica.look(state -> state.sessions().size())));
    assertThrows(
        IllegalStateException.class,
        () ->
            replica.promptly(
                () -> replica.lookAlone(state -> state.sessions().size(), () -> false)));
    int sessions = replica.look(state -> state.sessions().size());
    assertEquals(0, sessions);
  }

  @Test
  void questionIsAnsweredAtOnceWhileNothingIsApplied() {
    AtomicInteger sessions = new AtomicInteger(-1);
    replica.promptly(() -> replica.ask(state -> sessions.set(state.sessions().size())));
    assertEquals(0, sessions.get());
  }

  @Test
  void queryThatIsToEndDoesNotWait() throws Exception {
    CountDownLatch free = new CountDownLatch(1);
    Thread busy = haveTheState(free);
    assertThrows(
        CancellationException.class,
        () -> replica.look(state -> state.sessions().size(), () -> true));
    assertThrows(
        CancellationException.class,
        () -> replica.lookAlone(state -> state.sessions().size(), () -> true));
    free.countDown();
    busy.join(30_000);
    int sessions = replica.look(state -> state.sessions().size(), () -> true);
    assertEquals(0, sessions);
  }

  /** Returns once a thread has the state for itself, until it is let go. */
  private Thread haveTheState(CountDownLatch free) throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    Thread busy =
        new Thread(
            () ->
                replica.lookAlone(
                    state -> {
                      begun.countDown();
                      try {
                        return free.await(30, TimeUnit.SECONDS);
                      } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                      }
                    },
                    () -> false));
    busy.start();
    assertTrue(begun.await(30, TimeUnit.SECONDS));
    return busy;
  }

  @Test
  void questionIsAnsweredByTheThreadThatHasTheState() throws Exception {
    CountDownLatch free = new CountDownLatch(1);
    Thread busy = haveTheState(free);
    AtomicInteger answers = new AtomicInteger();
    replica.ask(state -> answers.incrementAndGet());
    replica.ask(
        state -> {
          throw new IllegalArgumentException("the next question is answered all the same");
        });
    replica.ask(state -> answers.incrementAndGet());
    assertEquals(0, answers.get());
    free.countDown();
    busy.join(30_000);
    assertEquals(2, answers.get());
  }
}
