package dev.tollgate.node.replica;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.StalledError;
import dev.tollgate.store.SqlDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Who may wait for the state of a replica, and who has to ask. */
class StateAccessTest {
  private final SqlDatabase database = new SqlDatabase();
  private final StateAccess state = new Replica("r", database).state();

  @AfterEach
  void close() {
    database.close();
  }

  @Test
  void threadForWhichOthersWaitMayNotLook() {
    assertThrows(
        IllegalStateException.class,
        () -> state.promptly(() -> state.look(now -> now.sessions().size())));
    assertThrows(
        IllegalStateException.class,
        () -> state.promptly(() -> state.lookAlone(now -> now.sessions().size(), () -> false)));
    int sessions = state.look(now -> now.sessions().size());
    assertEquals(0, sessions);
  }

  @Test
  void questionIsAnsweredAtOnceWhileNothingIsApplied() {
    AtomicInteger sessions = new AtomicInteger(-1);
    state.promptly(() -> state.ask(now -> sessions.set(now.sessions().size())));
    assertEquals(0, sessions.get());
  }

  @Test
  void queryThatIsToEndDoesNotWait() throws Exception {
    CountDownLatch free = new CountDownLatch(1);
    Thread busy = haveTheState(free);
    assertThrows(
        CancellationException.class, () -> state.look(now -> now.sessions().size(), () -> true));
    assertThrows(
        CancellationException.class,
        () -> state.lookAlone(now -> now.sessions().size(), () -> true));
    free.countDown();
    busy.join(30_000);
    int sessions = state.look(now -> now.sessions().size(), () -> true);
    assertEquals(0, sessions);
  }

  @Test
  void changeDoesNotWaitForEver() throws Exception {
    CountDownLatch free = new CountDownLatch(1);
    StateAccess impatient = new StateAccess("r", () -> state.look(now -> now), 50);
    Thread busy = haveTheState(impatient, free);
    assertThrows(StalledError.class, () -> impatient.change(() -> {}));
    free.countDown();
    busy.join(30_000);
    impatient.change(() -> {});
  }

  /** Returns once a thread has the state for itself, until it is let go. */
  private Thread haveTheState(CountDownLatch free) throws InterruptedException {
    return haveTheState(state, free);
  }

  private static Thread haveTheState(StateAccess access, CountDownLatch free)
      throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    Thread busy =
        new Thread(
            () ->
                access.lookAlone(
                    now -> {
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

  /** Frames of one client, one after the other, would keep the apply thread waiting. */
  @Test
  void questionDoesNotOvertakeAChangeThatWaits() throws Exception {
    CountDownLatch reading = new CountDownLatch(1);
    CountDownLatch free = new CountDownLatch(1);
    Thread reader =
        new Thread(
            () ->
                state.look(
                    now -> {
                      reading.countDown();
                      try {
                        return free.await(30, TimeUnit.SECONDS);
                      } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                      }
                    }));
    reader.start();
    assertTrue(reading.await(30, TimeUnit.SECONDS));
    List<String> order = Collections.synchronizedList(new ArrayList<>());
    Thread applying = new Thread(() -> state.change(() -> order.add("change")));
    applying.start();
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> applying.getState() == Thread.State.TIMED_WAITING);
    state.ask(now -> order.add("question"));
    assertEquals(List.of(), order);
    free.countDown();
    reader.join(30_000);
    applying.join(30_000);
    assertEquals(List.of("change", "question"), order);
  }

  @Test
  void questionIsAnsweredByTheThreadThatHasTheState() throws Exception {
    CountDownLatch free = new CountDownLatch(1);
    Thread busy = haveTheState(free);
    AtomicInteger answers = new AtomicInteger();
    state.ask(now -> answers.incrementAndGet());
    state.ask(
        now -> {
          throw new IllegalArgumentException("the next question is answered all the same");
        });
    state.ask(now -> answers.incrementAndGet());
    assertEquals(0, answers.get());
    free.countDown();
    busy.join(30_000);
    assertEquals(2, answers.get());
  }
}
