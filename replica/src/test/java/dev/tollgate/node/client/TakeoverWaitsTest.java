package dev.tollgate.node.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.wire.Frame;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class TakeoverWaitsTest {
  private final AtomicBoolean coming = new AtomicBoolean(true);
  private final Queue<Runnable> chores = new ArrayDeque<>();
  private final List<String> continued = new ArrayList<>();
  private final TakeoverWaits waits = new TakeoverWaits(coming::get, Workers.on(chores::add));

  private static ReplyChannel client() {
    return new ReplyChannel(
        new ClientConnection.Link() {
          @Override
          public void send(Frame frame) {}

          @Override
          public void close() {}

          @Override
          public String client() {
            return "client";
          }
        },
        new Traffic("n1", ClientLimits.STANDARD),
        new Complaints("n1", () -> 0));
  }

  private void await(ReplyChannel client, String name) {
    waits.await(client, () -> continued.add(name));
  }

  private void doChores() {
    while (!chores.isEmpty()) {
      chores.remove().run();
    }
  }

  @Test
  void requestDoesNotWaitForANodeThatFollows() {
    coming.set(false);
    await(client(), "request");
    assertEquals(List.of("request"), continued);
  }

  @Test
  void requestsWaitUntilTheNodeLeads() {
    await(client(), "one");
    await(client(), "other");
    waits.leaderMayHaveChanged();
    doChores();
    assertEquals(List.of(), continued);
    coming.set(false);
    waits.leaderMayHaveChanged();
    assertEquals(List.of(), continued, "the caller may hold a monitor of the log");
    doChores();
    assertEquals(List.of("one", "other"), continued.stream().sorted().toList());
    waits.leaderMayHaveChanged();
    doChores();
    assertEquals(2, continued.size());
  }

  @Test
  void connectionHasOneRequestThatWaits() {
    ReplyChannel client = client();
    await(client, "first");
    await(client, "second");
    assertEquals(List.of("second"), continued);
    coming.set(false);
    waits.leaderMayHaveChanged();
    doChores();
    assertEquals(List.of("second", "first"), continued);
  }

  @Test
  void connectionMayWaitAgain() {
    ReplyChannel client = client();
    await(client, "first");
    coming.set(false);
    waits.leaderMayHaveChanged();
    doChores();
    coming.set(true);
    await(client, "second");
    assertEquals(List.of("first"), continued);
  }

  @Test
  void requestOfAClientThatIsGoneIsForgotten() {
    ReplyChannel client = client();
    await(client, "request");
    waits.forget(client);
    coming.set(false);
    waits.leaderMayHaveChanged();
    doChores();
    assertEquals(List.of(), continued);
  }

  @Test
  void leaderThatComesWhileTheRequestIsEnteredIsNotMissed() {
    AtomicBoolean asked = new AtomicBoolean();
    // the node leads after it was asked once, and tells nobody any more
    TakeoverWaits racing =
        new TakeoverWaits(() -> asked.compareAndSet(false, true), Workers.on(chores::add));
    racing.await(client(), () -> continued.add("request"));
    doChores();
    assertEquals(List.of("request"), continued);
  }

  @Test
  void waitIsBounded() throws Exception {
    CountDownLatch over = new CountDownLatch(1);
    TakeoverWaits real = new TakeoverWaits(coming::get, Workers.on(Runnable::run));
    real.await(client(), over::countDown);
    assertTrue(over.await(30, TimeUnit.SECONDS));
  }
}
