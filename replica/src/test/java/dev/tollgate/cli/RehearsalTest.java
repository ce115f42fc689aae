package dev.tollgate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** A throw-away cluster works in this process for a bounded time, and nothing of it is left. */
@Timeout(120)
class RehearsalTest {
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final Logger LOGS = (Logger) LoggerFactory.getLogger("dev.tollgate");

  @TempDir private Path directory;

  private final ListAppender<ILoggingEvent> logged = new ListAppender<>();
  private final Level usual = LOGS.getLevel();

  @BeforeEach
  void listen() {
    logged.start();
    LOGS.setLevel(Level.INFO);
    LOGS.addAppender(logged);
  }

  @AfterEach
  void listenNoMore() {
    LOGS.detachAppender(logged);
    LOGS.setLevel(usual);
  }

  private List<String> left() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.map(Path::toString).toList();
    }
  }

  /**
   * Threads of nodes and of the driver; those of Ratis have the name of their node. Threads that
   * were there before are left out: idle ones of earlier tests may end at any time.
   */
  private static Set<String> threadsSince(Set<Thread> before) {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> !before.contains(thread))
        .map(Thread::getName)
        .filter(name -> name.contains("tollgate") || name.contains("rehearsal"))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  @Test
  void nothingIsLeftOfIt() throws Exception {
    Set<Thread> before = Thread.getAllStackTraces().keySet();
    Rehearsal rehearsal = new Rehearsal(directory, LONG, 60, System::nanoTime);
    assertTrue(rehearsal.runBefore("n1"));
    assertEquals(List.of(), left());
    assertEquals(Level.INFO, LOGS.getLevel());
    assertEquals(1, logged.list.size(), logged.list::toString);
    assertTrue(
        logged
            .list
            .get(0)
            .getFormattedMessage()
            .matches("n1: rehearsed for \\d+ ms with 6\\d lock cycles and [1-9] changes.*"),
        logged.list::toString);
    Awaitility.await()
        .atMost(LONG)
        .untilAsserted(() -> assertEquals(Set.of(), threadsSince(before)));
  }

  @Test
  void itEndsWhenItsTimeIsOver() throws Exception {
    AtomicLong readings = new AtomicLong();
    // a second passes whenever the time is asked for
    Rehearsal rehearsal =
        new Rehearsal(
            directory,
            Duration.ofSeconds(200),
            Long.MAX_VALUE,
            () -> Duration.ofSeconds(readings.getAndIncrement()).toNanos());
    long cycles = rehearsal.run();
    assertTrue(cycles > 0 && cycles < 200, cycles + " cycles");
    // each of the clients asks once more
    assertTrue(readings.get() <= 210, readings + " readings");
    assertEquals(List.of(), left());
  }

  @Test
  void timeThatIsOverBeforeItBeginsStartsNoNode() throws Exception {
    AtomicLong readings = new AtomicLong();
    Rehearsal rehearsal =
        new Rehearsal(
            directory,
            Duration.ofSeconds(1),
            1,
            () -> Duration.ofHours(readings.getAndIncrement()).toNanos());
    assertEquals(0, rehearsal.run());
    assertEquals(List.of(), logged.list);
    assertEquals(List.of(), left());
  }

  @Test
  void stoppedRehearsalEndsAndTheNodeDoesNotStart() throws Exception {
    Rehearsal rehearsal = new Rehearsal(directory, LONG, Long.MAX_VALUE, System::nanoTime);
    Thread stopping =
        new Thread(
            () -> {
              Awaitility.await().atMost(LONG).until(() -> !left().isEmpty());
              rehearsal.stop();
            });
    stopping.start();
    assertFalse(rehearsal.runBefore("n1"));
    stopping.join();
    assertEquals(List.of(), left());
  }

  @Test
  void failedRehearsalIsLoggedWithItsCauseAndTheNodeStarts() throws Exception {
    Path missing = directory.resolve("missing");
    assertTrue(new Rehearsal(missing, LONG, 1, System::nanoTime).runBefore("n1"));
    assertEquals(1, logged.list.size(), logged.list::toString);
    ILoggingEvent event = logged.list.get(0);
    assertEquals(Level.WARN, event.getLevel());
    assertTrue(event.getFormattedMessage().startsWith("n1: starts without a complete rehearsal"));
    assertTrue(event.getThrowableProxy().getMessage().contains("missing"));
    assertEquals(Level.INFO, LOGS.getLevel());
  }

  @Test
  void brokenProcessIsNotHidden() {
    Rehearsal rehearsal =
        new Rehearsal(
            directory,
            LONG,
            1,
            () -> {
              throw new NoClassDefFoundError("lost");
            });
    assertThrows(NoClassDefFoundError.class, () -> rehearsal.runBefore("n1"));
  }
}
