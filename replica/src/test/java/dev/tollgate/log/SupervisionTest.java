package dev.tollgate.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

class SupervisionTest {
  private final List<Throwable> failures = new CopyOnWriteArrayList<>();
  private final Supervision supervision = new Supervision("n1", failures::add);

  @Test
  void threadThatThrowsEndsTheNode() throws InterruptedException {
    Thread thread = supervision.thread("the keeper", SupervisionTest::fail);
    thread.start();
    thread.join(20_000);
    assertEquals(1, failures.size());
    String message = failures.get(0).getMessage();
    assertTrue(message.startsWith("the keeper of node n1 failed: "), message);
  }

  @Test
  void taskOfAnExecutorThatThrowsEndsTheNode() throws InterruptedException {
    Thread thread = supervision.threads("the writer").newThread(SupervisionTest::fail);
    thread.start();
    thread.join(20_000);
    assertEquals(1, failures.size());
  }

  @Test
  void threadOfALibraryThatThrowsEndsTheNode() throws InterruptedException {
    Thread thread = new Thread(supervision.group("raft"), SupervisionTest::fail, "election");
    thread.start();
    thread.join(20_000);
    assertEquals(1, failures.size());
    String message = failures.get(0).getMessage();
    assertTrue(message.startsWith("election of node n1 failed: "), message);
  }

  @Test
  void callbackThatThrowsEndsTheNode() {
    supervision.watch(
        "the callback", CompletableFuture.completedFuture(1).thenRun(SupervisionTest::fail));
    assertEquals(1, failures.size());
  }

  @Test
  void repeatedWorkSurvivesAnExceptionButNoError() {
    supervision.repeated("the look", SupervisionTest::fail).run();
    assertEquals(List.of(), failures);
    supervision
        .repeated(
            "the look",
            () -> {
              throw new NoClassDefFoundError("on purpose");
            })
        .run();
    assertEquals(1, failures.size());
  }

  /** The replica explains that one by itself. */
  @Test
  void lackOfMemoryIsPassedOnAsItIs() {
    OutOfMemoryError error = new OutOfMemoryError("on purpose");
    supervision.failed("the keeper", error);
    assertSame(error, failures.get(0));
  }

  private static void fail() {
    throw new IllegalStateException("a bug, on purpose");
  }
}
