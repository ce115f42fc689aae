package dev.tollgate.node.slow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.CapturedLines;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.RandomSeed;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.log.Supervision;
import java.time.Clock;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** An entry that is under way for long is logged, seldom enough. */
class ApplyAlarmTest {
  private static final List<Command> COMMANDS =
      List.of(
          new Command.SeedRandom(new RandomSeed(1, 2)),
          new Command.Perform(new SessionId(17), 1, new Operation.SetLockTimeout(1)));

  private final CapturedLines lines = new CapturedLines(ApplyAlarm.class);
  private long nanos = Long.MAX_VALUE - 5;
  private final ApplyWatch watch =
      new ApplyWatch(
          new SlowLog("n1", SlowSettings.OFF, Clock.systemUTC(), () -> nanos), () -> nanos);
  private final ApplyAlarm alarm =
      new ApplyAlarm("n1", watch, new Supervision("n1", failure -> {}));

  @AfterEach
  void close() {
    alarm.close();
    lines.close();
  }

  private void pass(long seconds) {
    nanos += TimeUnit.SECONDS.toNanos(seconds);
    alarm.tick();
  }

  @Test
  void lineNamesTheEntryAndWhatItDoes() {
    watch.enters(4_711, COMMANDS);
    pass(9);
    assertEquals(List.of(), lines.warnings());
    watch.begins();
    watch.applied(COMMANDS.get(0));
    pass(1);
    assertEquals(
        List.of(
            "n1: log entry 4711 has been under way for 10000 ms: SetLockTimeout of session 17. What"
                + " follows waits, and the node is not ready"),
        lines.warnings());
  }

  @Test
  void entryIsLoggedAgainWhenItHasLastedTwiceAsLong() {
    watch.enters(1, COMMANDS);
    pass(10);
    pass(9);
    assertEquals(1, lines.warnings().size());
    pass(1);
    assertEquals(2, lines.warnings().size());
    watch.leaves();
    assertNull(watch.underWay());
    pass(100);
    watch.enters(2, COMMANDS);
    pass(10);
    assertEquals(3, lines.warnings().size());
    assertTrue(lines.warnings().get(2).contains("log entry 2 "), lines.warnings().get(2));
  }

  @Test
  void nodeIsLateLongBeforeItIsStalled() {
    watch.enters(1, List.of());
    pass(10);
    assertEquals("no command", watch.late().kind());
    assertNull(watch.stalled());
    pass(600);
    assertEquals(610_000, watch.stalled().millis());
  }
}
