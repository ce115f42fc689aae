package dev.tollgate.node.slow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.CapturedLines;
import dev.tollgate.core.ClusterState;
import dev.tollgate.core.Lock;
import dev.tollgate.core.command.ClientInfo;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.log.Supervision;
import dev.tollgate.log.entry.EntryBytes;
import dev.tollgate.node.replica.Replica;
import dev.tollgate.store.SqlDatabase;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Holds and waits that last too long are listed, and logged once. Time passes as the test says. */
class StuckWatchTest {
  private static final Duration HOLD = Duration.ofMinutes(60);
  private static final Duration WAIT = Duration.ofMinutes(10);

  /** The time of the log and of the node, in seconds since 1970. */
  private long seconds = 1_000_000;

  private int looks;
  private boolean leading = true;
  private long lookTakesSeconds;
  private long sequence;
  private long logIndex;

  private final CapturedLines lines = new CapturedLines(StuckWatch.class);
  private final SqlDatabase database = new SqlDatabase();
  private final Replica replica = new Replica("n1", database);
  private final SlowSettings settings = new SlowSettings(Duration.ZERO, Duration.ZERO, HOLD, WAIT);
  private final SlowLog slow =
      new SlowLog(
          "n1",
          settings,
          ((InstantSource) () -> Instant.ofEpochSecond(seconds)).withZone(ZoneOffset.UTC),
          this::nanos);
  private final StuckWatch watch = watch(slow);

  private StuckWatch watch(SlowLog log) {
    return new StuckWatch(
        "n1", log, () -> leading, this::locks, new Supervision("n1", replica::failed), this::nanos);
  }

  private long nanos() {
    return Duration.ofSeconds(seconds).toNanos();
  }

  private List<Lock> locks() {
    looks++;
    seconds += lookTakesSeconds;
    return copy();
  }

  private List<Lock> copy() {
    return replica.state().lookAlone(ClusterState::copyLocks, () -> false);
  }

  @AfterEach
  void close() {
    watch.close();
    lines.close();
    database.close();
  }

  private void apply(Command command) {
    logIndex++;
    replica.apply(logIndex, EntryBytes.of(seconds * 1_000_000, List.of(command), List.of()));
  }

  private SessionId open() {
    apply(new Command.OpenSession(new ClientInfo("a", "h", "p"), 1, 10_000, 10_000));
    return replica
        .state()
        .look(
            state -> {
              List<SessionId> ids = new ArrayList<>();
              state.sessions().forEach(session -> ids.add(session.id()));
              return ids.get(ids.size() - 1);
            });
  }

  private void acquire(SessionId session, String lock) {
    apply(
        new Command.Perform(
            session,
            ++sequence,
            new Operation.AcquireLock(new LockName(lock), null, LockMode.EXCLUSIVE, 3_600_000)));
  }

  private void release(SessionId session, String lock) {
    apply(
        new Command.Perform(
            session, ++sequence, new Operation.ReleaseLock(new LockName(lock), null, 0)));
  }

  /** Lets time pass, with a tick each second. */
  private void pass(long more) {
    for (long i = 0; i < more; i++) {
      seconds++;
      watch.tick();
    }
  }

  @Test
  void holdIsLoggedOnceWhenItIsTooLong() {
    SessionId holder = open();
    acquire(holder, "nightly");
    pass(HOLD.toSeconds() - 1);
    assertEquals(List.of(), lines.warnings());
    pass(2 * HOLD.toSeconds());
    assertEquals(
        List.of(
            "n1: lock 'nightly' has been held for 3600 s by lease 1 of session 1 under token 1,"
                + " longer than --hold-warning, and 0 requests wait for it; view"
                + " TOLLGATE.STUCK_LOCKS names the holder"),
        lines.warnings());
    release(holder, "nightly");
    acquire(holder, "nightly");
    pass(HOLD.toSeconds() + 1);
    assertEquals(2, lines.warnings().size(), "another hold");
    assertEquals(2, watch.longHolds());
    assertEquals(0, watch.longWaits());
    assertTrue(lines.warnings().get(1).contains("under token 2"), lines.warnings().get(1));
  }

  @Test
  void eachOfManyHoldsIsLoggedInItsTime() {
    SessionId holder = open();
    for (int i = 0; i < 5; i++) {
      acquire(holder, "l" + i);
      pass(60);
    }
    pass(HOLD.toSeconds() - 5 * 60 - 1);
    for (int i = 0; i < 5; i++) {
      assertEquals(i, lines.warnings().size());
      pass(60);
    }
    assertEquals(5, lines.warnings().size());
  }

  @Test
  void waitIsLoggedOnceForItsLock() {
    SessionId holder = open();
    acquire(holder, "nightly");
    SessionId first = open();
    acquire(first, "nightly");
    pass(60);
    SessionId second = open();
    acquire(second, "nightly");
    pass(WAIT.toSeconds() - 60 - 1);
    assertEquals(List.of(), lines.warnings());
    pass(60);
    String line =
        "n1: session 2 has waited for lock 'nightly' for 600 s, longer than --wait-warning, with 1"
            + " other requests behind it; session 1 holds it under token 1";
    assertEquals(List.of(line), lines.warnings());
    pass(WAIT.toSeconds());
    release(holder, "nightly");
    pass(10);
    assertEquals(List.of(line), lines.warnings(), "the second has waited for long all the while");
    release(first, "nightly");
    acquire(first, "nightly");
    pass(WAIT.toSeconds() + 1);
    assertEquals(2, watch.longWaits());
    assertEquals(2, lines.warnings().size(), "nobody had waited for long in between");
  }

  @Test
  void lookComesWhenItCanFindSomething() {
    acquire(open(), "nightly");
    pass(1);
    assertEquals(1, looks);
    pass(WAIT.toSeconds() - 1);
    assertEquals(1, looks);
    pass(HOLD.toSeconds());
    assertTrue(looks <= 9, looks + " looks");
    assertEquals(1, lines.warnings().size());
  }

  @Test
  void looksTakeAThousandthOfTheTime() {
    SessionId holder = open();
    for (int i = 0; i < 30; i++) {
      acquire(holder, "l" + i);
      pass(1);
    }
    lookTakesSeconds = 2;
    pass(HOLD.toSeconds() + 100);
    int before = looks;
    pass(1_800);
    assertTrue(looks <= before + 1, looks - before + " looks of 2 s in 1800 s");
  }

  @Test
  void onlyTheLeaderLogs() {
    acquire(open(), "nightly");
    leading = false;
    pass(2 * HOLD.toSeconds());
    assertEquals(0, looks);
    leading = true;
    pass(1);
    assertEquals(1, lines.warnings().size());
    leading = false;
    pass(10);
    leading = true;
    pass(10);
    assertEquals(1, lines.warnings().size(), "this node has logged that hold");
  }

  @Test
  void linesAreLimitedAndStayLines() {
    SessionId holder = open();
    for (int i = 0; i < 100; i++) {
      acquire(holder, "new\nline" + i);
    }
    pass(HOLD.toSeconds() + 1);
    assertEquals(20, lines.warnings().size());
    assertEquals(100, watch.longHolds(), "the count has no limit");
    assertTrue(lines.warnings().get(0).contains("lock 'new?line0' has"), lines.warnings().get(0));
  }

  @Test
  void longestAreListedFirst() {
    SessionId holder = open();
    acquire(holder, "old");
    seconds += 100;
    acquire(holder, "young");
    SessionId waiter = open();
    acquire(waiter, "young");
    seconds += HOLD.toSeconds() - 1;
    List<StuckLock> holds = new StuckLocks(settings, slow.nowMicros()).holds(copy(), lock -> true);
    assertEquals(List.of("old"), holds.stream().map(hold -> hold.lock().value()).toList());
    seconds += 1;
    StuckLocks stuck = new StuckLocks(settings, slow.nowMicros());
    holds = stuck.holds(copy(), lock -> true);
    assertEquals(List.of("old", "young"), holds.stream().map(hold -> hold.lock().value()).toList());
    assertEquals(1, holds.get(1).waiters());
    assertEquals(
        1,
        stuck.holds(copy(), lock -> lock.name().value().equals("young")).size(),
        "what is shown");
    List<StuckLock> waits = stuck.waits(copy(), lock -> true);
    assertEquals(1, waits.size());
    assertEquals(waiter, waits.get(0).session());
    assertNull(waits.get(0).token());
    assertEquals(
        List.of(), new StuckLocks(SlowSettings.OFF, slow.nowMicros()).holds(copy(), lock -> true));
  }

  @Test
  void listIsLimited() {
    SessionId holder = open();
    for (int i = 0; i < StuckLocks.LISTED + 10; i++) {
      acquire(holder, "l" + i);
      seconds++;
    }
    seconds += HOLD.toSeconds();
    List<StuckLock> holds = new StuckLocks(settings, slow.nowMicros()).holds(copy(), lock -> true);
    assertEquals(StuckLocks.LISTED, holds.size());
    assertEquals("l0", holds.get(0).lock().value());
    assertEquals("l999", holds.get(StuckLocks.LISTED - 1).lock().value());
  }
}
