package dev.tollgate.node.slow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.CapturedLines;
import dev.tollgate.core.command.ClientInfo;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.UserName;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is slow is kept and logged, in limited number. */
class SlowLogTest {
  private static final long NOW_MICROS = 5_000_000;
  private static final SessionId SESSION = new SessionId(17);

  private final CapturedLines lines = new CapturedLines(SlowLog.class);
  private final Clock clock = Clock.fixed(Instant.ofEpochMilli(NOW_MICROS / 1_000), ZoneOffset.UTC);
  private long nanos = Long.MAX_VALUE - 5;
  private final SlowLog log = new SlowLog("n1", SlowSettings.STANDARD, clock, () -> nanos);
  private final ApplyWatch watch = new ApplyWatch(log, () -> nanos);

  @AfterEach
  void close() {
    lines.close();
  }

  private void statement(long tookMillis) {
    log.statement(
        () ->
            new SlowStatement(
                NOW_MICROS,
                tookMillis,
                30,
                "DONE",
                "0000beef",
                "SELECT ?",
                SESSION,
                UserName.ANONYMOUS,
                new ClientInfo("app", "host", "process")));
  }

  @Test
  void lineNamesSessionAndFormAndNoText() {
    statement(1_234);
    assertEquals(1, log.statements().size());
    assertEquals(
        "n1: a statement of session 17 took 1234 ms, 30 ms of them waiting, and ended with DONE;"
            + " view TOLLGATE.SLOW_STATEMENTS of this node has it as form 0000beef",
        lines.warnings().get(0));
  }

  @Test
  void floodIsRecordedAndLoggedInPart() {
    for (int i = 0; i < 1_000; i++) {
      statement(i);
    }
    assertEquals(SlowLog.RECORDS_AT_ONCE, log.statements().size(), "further ones cost nothing");
    assertEquals(SlowLog.LINES_AT_ONCE, lines.warnings().size());
    nanos += SlowLog.RECORD_PERIOD.toNanos();
    statement(5_000);
    assertEquals(5_000, log.statements().get(SlowLog.RECORDS_AT_ONCE).tookMillis());
    assertEquals(SlowLog.LINES_AT_ONCE, lines.warnings().size(), "there is no room for a line yet");
    nanos += TimeUnit.SECONDS.toNanos(1);
    statement(6_000);
    assertTrue(
        lines.warnings().get(SlowLog.LINES_AT_ONCE).endsWith("(and 981 such lines were left out)"),
        lines.warnings().get(SlowLog.LINES_AT_ONCE));
  }

  @Test
  void latestStatementsAreKept() {
    for (int i = 0; i < SlowLog.KEPT + 7; i++) {
      nanos += SlowLog.RECORD_PERIOD.toNanos();
      statement(i);
    }
    assertEquals(SlowLog.KEPT, log.statements().size());
    assertEquals(7, log.statements().get(0).tookMillis());
    assertEquals(SlowLog.KEPT + 6, log.statements().get(SlowLog.KEPT - 1).tookMillis());
  }

  private static Command perform(Operation operation) {
    return new Command.Perform(SESSION, 1, operation);
  }

  /** Each command takes as many milliseconds as are given. */
  private void apply(long stampMicros, long... millis) {
    watch.begins();
    for (int i = 0; i < millis.length; i++) {
      nanos += TimeUnit.MILLISECONDS.toNanos(millis[i]);
      watch.applied(
          i == 0
              ? perform(new Operation.SetLockTimeout(1))
              : i == 1 ? perform(new Operation.SetSchema("S")) : new Command.CloseSession(SESSION));
    }
    watch.ends(4711, stampMicros);
  }

  @Test
  void slowEntryIsRecordedWithItsSlowestCommand() {
    apply(NOW_MICROS, 100, 350, 49);
    assertTrue(log.applies().isEmpty(), "499 ms are quick enough");
    apply(NOW_MICROS, 100, 350, 50);
    assertEquals(
        new SlowApply(NOW_MICROS, 4711, 500, 3, 1, "SetSchema", 350, SESSION),
        log.applies().get(0));
    assertEquals(
        "n1: applying log entry 4711 with 3 commands took 500 ms, 350 ms of them its command 1,"
            + " SetSchema of session 17",
        lines.warnings().get(0));
    apply(NOW_MICROS, 1, 1, 600);
    assertEquals(
        new SlowApply(NOW_MICROS, 4711, 602, 3, 2, "CloseSession", 600, null),
        log.applies().get(1));
    assertTrue(lines.warnings().get(1).endsWith("its command 2, CloseSession"));
  }

  @Test
  void entriesFromBeforeTheStartAreNotRecorded() {
    apply(NOW_MICROS - 1, 10_000);
    assertTrue(log.applies().isEmpty());
    apply(NOW_MICROS, 10_000);
    assertEquals(1, log.applies().size());
  }

  @Test
  void entryWithoutCommandsIsNeverSlow() {
    apply(NOW_MICROS);
    assertTrue(log.applies().isEmpty());
  }

  @Test
  void floodOfSlowEntriesIsKeptInPart() {
    for (int i = 0; i < 300; i++) {
      apply(NOW_MICROS, 500 + i);
    }
    assertEquals(SlowLog.KEPT, log.applies().size());
    assertEquals(799, log.applies().get(SlowLog.KEPT - 1).tookMillis());
  }

  @Test
  void nothingIsSlowIfThatIsOff() {
    SlowLog off = SlowLog.off();
    assertEquals(Long.MAX_VALUE, off.statementNanos());
    ApplyWatch blind = new ApplyWatch(off, () -> nanos);
    blind.begins();
    nanos += Duration.ofDays(1).toNanos();
    blind.applied(perform(new Operation.SetLockTimeout(1)));
    blind.ends(1, Long.MAX_VALUE);
    assertTrue(off.applies().isEmpty());
    assertFalse(log.statementNanos() == off.statementNanos());
  }
}
