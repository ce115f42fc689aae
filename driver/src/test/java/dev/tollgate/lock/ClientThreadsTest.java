package dev.tollgate.lock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A client may be shared by applications of which one is undeployed later. */
@Timeout(60)
class ClientThreadsTest {
  private static final InheritableThreadLocal<String> INHERITED = new InheritableThreadLocal<>();

  private final ClientThreads threads = new ClientThreads();
  private final ClassLoader application = new URLClassLoader(new URL[0], null);
  private final ClassLoader before = Thread.currentThread().getContextClassLoader();

  @AfterEach
  void close() {
    INHERITED.remove();
    Thread.currentThread().setContextClassLoader(before);
    threads.close();
  }

  private record Seen(@Nullable ClassLoader loader, String inherited) {}

  private Seen seenBy(BiConsumer<ClientThreads, Runnable> start) throws InterruptedException {
    BlockingQueue<Seen> seen = new LinkedBlockingQueue<>();
    start.accept(
        threads,
        () ->
            seen.add(
                new Seen(
                    Thread.currentThread().getContextClassLoader(),
                    String.valueOf(INHERITED.get()))));
    Seen first = seen.poll(30, TimeUnit.SECONDS);
    assertTrue(first != null, "the task did not run");
    return first;
  }

  @Test
  void threadsKeepNothingOfTheirFirstCaller() throws Exception {
    Thread.currentThread().setContextClassLoader(application);
    INHERITED.set("the application's");
    for (BiConsumer<ClientThreads, Runnable> own :
        List.<BiConsumer<ClientThreads, Runnable>>of(
            ClientThreads::runChore, (on, task) -> on.runLater(Duration.ZERO, task))) {
      assertEquals(new Seen(null, "null"), seenBy(own));
    }
    for (BiConsumer<ClientThreads, Runnable> ofCaller :
        List.<BiConsumer<ClientThreads, Runnable>>of(
            ClientThreads::runWaiting,
            ClientThreads::runConnecting,
            (on, task) -> on.listeners().open("a listener").execute(task))) {
      assertEquals(new Seen(application, "null"), seenBy(ofCaller));
    }
    Thread.currentThread().setContextClassLoader(before);
    assertEquals(new Seen(before, "null"), seenBy(ClientThreads::runWaiting));
  }
}
