package dev.tollgate.node.audit;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.AuditEvent;
import dev.tollgate.core.command.ClientInfo;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.FencingToken;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.LeaseKind;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.LogPosition;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.UserAccount;
import dev.tollgate.core.command.UserName;
import dev.tollgate.log.Supervision;
import dev.tollgate.wire.PasswordVerifier;
import java.io.IOException;
import java.net.InetAddress;
import java.time.Clock;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The trail never waits for its target, and says what it has lost. */
@Timeout(60)
class AuditTrailTest {
  private static final Duration DEADLINE = Duration.ofSeconds(20);
  private static final int ROOM = 100;
  private static final Command NO_COMMAND = new Command.CloseSession(new SessionId(1));

  private final RecordingTarget target = new RecordingTarget();
  private final RecordingTarget activity = new RecordingTarget();
  private static final AuditEvent.Result DONE = AuditEvent.Result.of(new Outcome.Done());
  private static final AuditEvent.Result REFUSED =
      AuditEvent.Result.of(new Outcome.Refused(RefusalCode.RIGHT_MISSING, "no"));

  private final AuditQueue queue = new AuditQueue("n1", ROOM);
  private final AtomicReference<@Nullable Throwable> bug = new AtomicReference<>();
  private @Nullable AuditTrail trail;

  private AuditTrail open(String directory) throws IOException {
    Supervision supervision = new Supervision("n1", bug::set);
    trail = AuditTrail.open("n1", Clock.systemUTC(), () -> 7);
    trail.add(AuditStream.SECURITY, target, directory, queue, supervision);
    trail.add(AuditStream.ACTIVITY, activity, directory, new AuditQueue("n1", ROOM), supervision);
    return trail;
  }

  @AfterEach
  void close() {
    if (trail != null) {
      trail.close();
    }
    assertNull(bug.get());
  }

  private static void apply(AuditTrail trail, long index, int events) {
    trail.applied(
        new LogPosition(index, 0, 1_000 * index),
        NO_COMMAND,
        new Outcome.Done(),
        Collections.nCopies(
            events, new AuditEvent.Administered(AuditEvent.Party.NOBODY, "act", "o", DONE)));
  }

  private void awaitLines(String event, int count) {
    await().atMost(DEADLINE).until(() -> target.lines(event).size() == count);
  }

  @Test
  void eventsBecomeLinesInTheirOrder() throws IOException {
    AuditTrail opened = open("d");
    apply(opened, 3, 2);
    opened.loginFailed("eve\"\n", "10.0.0.9:4", "SCRAM-SHA-256", "refused");
    opened.loginSucceeded("al", "10.0.0.8:4", "SCRAM-SHA-256");
    awaitLines("login", 1);
    List<String> lines = target.lines();
    assertTrue(
        lines.get(0).contains("\"event\":\"audit_started\",\"directory\":\"d\""), lines.get(0));
    assertEquals(
        "{\"time\":\"1970-01-01T00:00:00.003000Z\",\"event\":\"administration\",\"index\":3,"
            + "\"ordinal\":0,\"number\":0,\"node\":\"n1\",\"outcome\":\"done\",\"action\":\"act\","
            + "\"object\":\"o\"}",
        lines.get(1));
    assertTrue(lines.get(2).contains("\"number\":1,"), lines.get(2));
    assertTrue(
        lines
            .get(3)
            .endsWith(
                "\"event\":\"login_failed\",\"node\":\"n1\",\"term\":7,\"outcome\":\"refused\","
                    + "\"user\":\"eve\\\"\\u000a\",\"address\":\"10.0.0.9:4\","
                    + "\"mechanism\":\"SCRAM-SHA-256\"}"),
        lines.get(3));
  }

  @Test
  void applyThreadGoesOnWhileTheTargetHangsAndWhatIsLostIsCounted() throws IOException {
    AuditTrail opened = open("d");
    target.stop();
    apply(opened, 1, 1);
    await().atMost(DEADLINE).until(target::waits);
    for (long index = 2; index <= 500; index++) {
      // returns, or the test ends by its timeout
      apply(opened, index, 1);
    }
    assertEquals(500 - ROOM, opened.lostEvents());
    assertEquals(ROOM, queue.waitingEvents(), "bounded");
    target.goOn();
    awaitLines("audit_lost", 1);
    assertEquals(ROOM, target.lines("administration").size());
    String lost = target.lines("audit_lost").get(0);
    assertTrue(lost.contains("\"lost\":400,\"first_index\":101,\"last_index\":500"), lost);
    apply(opened, 501, 1);
    awaitLines("administration", ROOM + 1);
    assertEquals(1, target.lines("audit_lost").size());
  }

  @Test
  void failedLoginsDoNotDisplaceEventsOfTheLog() throws IOException {
    AuditTrail opened = open("d");
    target.stop();
    apply(opened, 1, 1);
    await().atMost(DEADLINE).until(target::waits);
    for (int i = 0; i < 1_000; i++) {
      opened.loginFailed("eve", "h" + i, "m", "refused");
    }
    assertEquals(ROOM / 2, queue.waitingEvents());
    apply(opened, 2, ROOM / 2);
    target.goOn();
    awaitLines("administration", 1 + ROOM / 2);
  }

  @Test
  void failedLoginsBeyondTheFirstHaveOneLine() throws IOException {
    AuditTrail opened = open("d");
    for (int i = 0; i < 1_000; i++) {
      opened.loginFailed("eve", "h", "m", "refused");
    }
    opened.close();
    assertEquals(Limits.AUDITED_REPEATS, target.lines("login_failed").size());
    List<String> sums = target.lines("login_failures");
    assertEquals(1, sums.size());
    String rest = "\"count\":" + (1_000 - Limits.AUDITED_REPEATS);
    assertTrue(sums.get(0).contains(rest), sums.get(0));
  }

  private static AuditEvent grant() {
    return new AuditEvent.LockGranted(
        AuditEvent.Party.NOBODY,
        new LockName("job"),
        LockMode.EXCLUSIVE,
        new FencingToken(1),
        new LeaseId(1),
        LeaseKind.OWN,
        AuditEvent.GrantWay.AT_ONCE);
  }

  private static AuditEvent created(@Nullable Long session, AuditEvent.Result result) {
    SessionId id = session == null ? null : new SessionId(session);
    return new AuditEvent.Administered(
        new AuditEvent.Party(id, "EVE", null), "create_user", "EVE2", result);
  }

  @Test
  void whatUsersDoAtWillIsInFilesOfItsOwn() throws IOException {
    AuditTrail opened = open("d");
    opened.applied(
        new LogPosition(1, 0, 5),
        NO_COMMAND,
        new Outcome.Done(),
        List.of(grant(), created(7L, REFUSED), created(7L, DONE), created(null, REFUSED)));
    awaitLines("administration", 2);
    opened.close();
    assertEquals(
        List.of("2 done", "3 refused_right_missing"),
        target.lines("administration").stream().map(AuditTrailTest::numberAndOutcome).toList());
    assertEquals(List.of(), target.lines("lock_granted"));
    assertEquals(
        List.of("0 granted"),
        activity.lines("lock_granted").stream().map(AuditTrailTest::numberAndOutcome).toList());
    assertEquals(
        List.of("1 refused_right_missing"),
        activity.lines("administration").stream().map(AuditTrailTest::numberAndOutcome).toList());
  }

  private static String numberAndOutcome(String line) {
    return line.replaceFirst(".*\"number\":(\\d+).*\"outcome\":\"(\\w+)\".*", "$1 $2");
  }

  @Test
  void accessesThatAreRefusedHaveLinesUntilTheyAreMany() throws IOException {
    AuditTrail opened = open("d");
    Actor eve = new Actor("EVE", new SessionId(9), new ClientInfo("h", "app", "1"), "10.0.0.9");
    for (int i = 0; i < 1_000; i++) {
      opened.accessRefused(eve, "x".repeat(10_000));
    }
    opened.close();
    assertEquals(Limits.AUDITED_REPEATS, target.lines("access_refused").size());
    String line = target.lines("access_refused").get(0);
    assertTrue(line.contains("\"user\":\"EVE\",\"session\":9,\"address\":\"10.0.0.9\""), line);
    assertTrue(line.length() < 2 * Limits.AUDITED_REASON_CHARS, line);
    String rest = "\"user\":\"EVE\",\"count\":" + (1_000 - Limits.AUDITED_REPEATS);
    assertTrue(target.lines("accesses_refused").get(0).contains(rest));
  }

  /** A customer of a provider has a whole /64, so its addresses count together. */
  @Test
  void pagesThatAreRefusedCountByNetwork() throws IOException {
    AuditTrail opened = open("d");
    for (int i = 0; i < 40; i++) {
      opened.pageRefused(InetAddress.getByName("2001:db8:0:1::" + i), null, "GET /", "no");
    }
    opened.close();
    assertEquals(Limits.AUDITED_REPEATS, target.lines("page_refused").size());
    assertTrue(
        target.lines("page_refused").get(1).contains("\"address\":\"2001:db8:0:1:0:0:0:1\""));
    String rest = "\"address\":\"20010db800000001/64\",\"count\":" + (40 - Limits.AUDITED_REPEATS);
    assertTrue(target.lines("pages_refused").toString().contains(rest));
  }

  @Test
  void nodesThatAreRefusedHaveLinesWithinTheirShare() throws IOException {
    AuditTrail opened = open("d");
    InetAddress from = InetAddress.getByName("10.0.0.7");
    for (int i = 0; i < 40; i++) {
      opened.nodeRefused(from, "n" + "x".repeat(1_000), "SENDER_REMOVED");
    }
    opened.close();
    List<String> lines = target.lines("node_refused");
    assertEquals(Limits.AUDITED_REPEATS, lines.size());
    assertTrue(lines.get(0).contains("\"reason\":\"SENDER_REMOVED\""), lines.get(0));
    assertTrue(lines.get(0).contains("\"address\":\"10.0.0.7\""), lines.get(0));
    assertTrue(lines.get(0).length() < 1_000, lines.get(0));
    assertTrue(
        target
            .lines("nodes_refused")
            .toString()
            .contains("\"count\":" + (40 - Limits.AUDITED_REPEATS)));
  }

  @Test
  void manyLoginsOfAUserAreActivity() throws IOException {
    AuditTrail opened = open("d");
    for (int i = 0; i < 40; i++) {
      opened.loginSucceeded("AL", "h", "m");
    }
    opened.close();
    assertEquals(Limits.AUDITED_REPEATS, target.lines("login").size());
    assertEquals(40 - Limits.AUDITED_REPEATS, activity.lines("login").size());
    assertEquals(1, target.lines("logins").size());
  }

  @Test
  void firstAdministratorHasALine() throws IOException {
    AuditTrail opened = open("d");
    UserAccount root =
        new UserAccount(
            new UserName("ROOT"),
            /* administrator= */ true,
            List.of(
                PasswordVerifier.of("secret-1", new byte[16], PasswordVerifier.MIN_ITERATIONS)
                    .text()));
    opened.applied(
        new LogPosition(1, 0, 5),
        new Command.CreateFirstUser(root),
        new Outcome.Answered(true),
        List.of());
    awaitLines("administration", 1);
    String line = target.lines("administration").get(0);
    assertTrue(line.contains("\"outcome\":\"done\",\"action\":\"create_user\""), line);
    assertTrue(line.contains("ROOT admin"), line);
  }

  @Test
  void entryThatIsOlderThanTheTimeOfTheLogHasTheTimeOfTheNode() throws IOException {
    AuditTrail opened = open("d");
    opened.applied(
        new LogPosition(1, 0, 0), NO_COMMAND, new Outcome.Done(), List.of(created(null, DONE)));
    awaitLines("administration", 1);
    String line = target.lines("administration").get(0);
    assertFalse(line.contains("1970"), line);
    assertTrue(line.contains("\"node\":\"n1\",\"time_of\":\"node\""), line);
  }

  @Test
  void eventsOfACommandAreTakenAsAWholeHoweverManyTheyAre() throws IOException {
    AuditTrail opened = open("d");
    apply(opened, 1, 10 * ROOM);
    awaitLines("administration", 10 * ROOM);
    assertEquals(0, opened.lostEvents());
  }

  @Test
  void fullDiskDelaysLinesAndLosesNone() throws IOException {
    AuditTrail opened = open("d");
    target.failWith(new IOException("No space left on device"));
    apply(opened, 1, 3);
    opened.loginFailed("eve", "h", "m", "refused");
    await().during(Duration.ofMillis(100)).until(() -> target.lines("administration").isEmpty());
    target.failWith(null);
    awaitLines("login_failed", 1);
    assertEquals(3, target.lines("administration").size());
  }

  @Test
  void closingWritesWhatWaits() throws IOException {
    AuditTrail opened = open("d");
    apply(opened, 1, ROOM);
    opened.close();
    assertEquals(ROOM, target.lines("administration").size());
  }

  @Test
  void replayWritesNoLineTwice() throws IOException {
    target.found = new AuditTarget.Progress("d", new AuditPosition(5, 0, 1));
    AuditTrail opened = open("d");
    for (long index = 4; index <= 6; index++) {
      apply(opened, index, 3);
    }
    awaitLines("administration", 4);
    assertTrue(
        target.lines("administration").get(0).contains("\"index\":5,\"ordinal\":0,\"number\":2"));
    assertTrue(target.lines("administration").get(1).contains("\"index\":6,"));
  }

  @Test
  void linesOfAnotherDirectoryDoNotCount() throws IOException {
    target.found = new AuditTarget.Progress("another", new AuditPosition(5, 0, 1));
    AuditTrail opened = open("d");
    apply(opened, 1, 1);
    awaitLines("administration", 1);
  }

  @Test
  void snapshotThatCoversMoreThanTheLinesLeavesAGapThatIsSaid() throws IOException {
    target.found = new AuditTarget.Progress("d", new AuditPosition(5, 0, 1));
    AuditTrail opened = open("d");
    opened.restored(new LogPosition(9, 3, 1));
    apply(opened, 9, 1);
    apply(opened, 10, 1);
    awaitLines("administration", 1);
    assertTrue(
        target.lines("audit_gap").get(0).contains("\"index\":9,\"after_index\":5,"),
        target.lines().toString());
  }

  @Test
  void snapshotThatThisNodeHasBegunLeavesNoGap() throws IOException {
    AuditTrail opened = open("d");
    opened.copied(new LogPosition(9, 3, 1));
    awaitLines("snapshot_begun", 1);
    opened.restored(new LogPosition(9, 3, 1));
    apply(opened, 10, 1);
    awaitLines("administration", 1);
    assertEquals(List.of(), target.lines("audit_gap"));
  }

  @Test
  void trailThatIsOffTakesNothing() {
    assertFalse(AuditTrail.off().isOn());
    apply(AuditTrail.off(), 1, 1);
    AuditTrail.off().loginFailed("u", "a", "m", "refused");
    AuditTrail.off().close();
    assertEquals(0, AuditTrail.off().lostEvents());
  }
}
