package dev.tollgate.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class EntryHoldTest {
  private final EntryHold hold = new EntryHold();
  private final List<CompletableFuture<Void>> proposed = new ArrayList<>();

  private CompletableFuture<Void> propose() {
    return hold.pass(
        () -> {
          proposed.add(new CompletableFuture<>());
          return proposed.get(proposed.size() - 1);
        });
  }

  @Test
  void entriesPassWhileNobodyHoldsThem() {
    CompletableFuture<Void> done = propose();
    proposed.get(0).complete(null);
    assertTrue(done.isDone());
  }

  @Test
  void entryThatIsHeldGoesWhenTheHoldEnds() {
    hold.begin();
    CompletableFuture<Void> done = propose();
    assertEquals(0, proposed.size());
    hold.end();
    assertEquals(1, proposed.size());
    assertFalse(done.isDone());
    proposed.get(0).complete(null);
    assertTrue(done.isDone());
  }

  @Test
  void holdWaitsForWhatWentBefore() throws Exception {
    propose();
    CompletableFuture<Void> drained = hold.begin();
    propose();
    assertFalse(drained.isDone());
    proposed.get(0).completeExceptionally(new IllegalStateException("not leader"));
    drained.get(20, TimeUnit.SECONDS);
    assertEquals(1, proposed.size());
  }

  @Test
  void entryGoesWhenTheLastOfTwoHoldsEnds() {
    hold.begin();
    hold.begin();
    propose();
    hold.end();
    assertEquals(0, proposed.size());
    hold.end();
    assertEquals(1, proposed.size());
  }

  @Test
  void entryThatIsHeldGoesOnceLeadershipIsLost() throws Exception {
    hold.begin();
    CompletableFuture<Void> passed = new CompletableFuture<>();
    CompletableFuture<Void> done =
        hold.pass(
            () -> {
              passed.complete(null);
              return CompletableFuture.failedFuture(new IOException("it does not lead"));
            });
    assertFalse(passed.isDone());
    hold.leadershipLost();
    passed.get(20, TimeUnit.SECONDS);
    assertThrows(ExecutionException.class, () -> done.get(20, TimeUnit.SECONDS));

    hold.begin();
    propose();
    hold.end();
    assertEquals(0, proposed.size(), "the second hold goes on");
    hold.end();
    assertEquals(1, proposed.size());
  }

  @Test
  void oneThatStopsWaitingDoesNotEndTheWaitOfAnother() throws Exception {
    propose();
    CompletableFuture<Void> first = hold.begin();
    CompletableFuture<Void> second = hold.begin();
    first.complete(null);
    assertFalse(second.isDone());
    proposed.get(0).complete(null);
    second.get(20, TimeUnit.SECONDS);
  }

  @Test
  void proposalThatThrowsIsDone() {
    assertThrows(
        IllegalStateException.class,
        () ->
            hold.pass(
                () -> {
                  throw new IllegalStateException("a bug, on purpose");
                }));
    assertTrue(hold.begin().isDone());
  }
}
