package dev.tollgate.cli.backup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** When backups are written, on a clock that only this test moves. */
class BackupRoundsTest {
  private static final Instant NOON = Instant.parse("2026-11-24T12:00:00Z");
  private static final BackupSchedule SCHEDULE = new BackupSchedule(Duration.ofHours(6));

  @TempDir private Path folder;
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();
  private final List<Instant> begun = new ArrayList<>();
  private Instant now = NOON;
  private Instant end = NOON;
  private BackupDirectory directory;

  @BeforeEach
  void open() throws IOException {
    directory = BackupDirectory.open(folder, 3, System.err);
  }

  @AfterEach
  void close() throws IOException {
    directory.close();
  }

  private static PrintStream stream(ByteArrayOutputStream bytes) {
    return new PrintStream(bytes, true, StandardCharsets.UTF_8);
  }

  /** Runs the rounds until the clock has reached this hour. */
  private void runUntil(Duration time, BackupSource source) {
    end = NOON.plus(time);
    BackupRounds rounds =
        new BackupRounds(
            directory,
            source,
            SCHEDULE,
            ((InstantSource) () -> now).withZone(ZoneOffset.UTC),
            this::pause,
            stream(out),
            stream(err));
    assertThrows(InterruptedException.class, rounds::run);
  }

  private void pause(Duration time) throws InterruptedException {
    assertTrue(time.compareTo(Duration.ofMinutes(1)) <= 0, "a machine may sleep meanwhile");
    now = now.plus(time);
    if (now.isAfter(end)) {
      throw new InterruptedException();
    }
  }

  private String write(Path part) throws IOException {
    begun.add(now);
    Files.writeString(part, "backup of " + now);
    // it takes a while, which does not shift the next one
    now = now.plusSeconds(90);
    return "all";
  }

  @Test
  void backupsBeginAtFixedTimes() {
    runUntil(Duration.ofHours(19), this::write);
    assertEquals(
        List.of(
            NOON,
            NOON.plus(Duration.ofHours(6)),
            NOON.plus(Duration.ofHours(12)),
            NOON.plus(Duration.ofHours(18))),
        begun);
    assertEquals(4, out.toString(StandardCharsets.UTF_8).lines().count());
    assertEquals("", err.toString(StandardCharsets.UTF_8));
  }

  @Test
  void startWritesNoBackupThatIsNotDue() throws Exception {
    directory.add(this::write, NOON.minus(Duration.ofHours(2)));
    begun.clear();
    now = NOON;
    runUntil(Duration.ofHours(5), this::write);
    assertEquals(List.of(NOON.plus(Duration.ofHours(4))), begun);
  }

  @Test
  void nodeThatIsAwayIsAskedAgainUntilItIsBack() {
    Instant back = NOON.plus(Duration.ofMinutes(20));
    List<Instant> attempts = new ArrayList<>();
    runUntil(
        Duration.ofHours(5),
        part -> {
          attempts.add(now);
          if (now.isBefore(back)) {
            throw new IOException("no node answers");
          }
          return write(part);
        });
    assertEquals(
        List.of(0L, 5L, 15L, 35L, 75L, 155L, 315L, 615L, 915L, 1_215L),
        attempts.stream().map(each -> Duration.between(NOON, each).toSeconds()).toList());
    List<String> lines = err.toString(StandardCharsets.UTF_8).lines().toList();
    assertEquals(9, lines.size());
    assertEquals(
        "tollgate backup: no backup was written: no node answers; the next attempt is in 5 s",
        lines.get(0));
    assertTrue(lines.get(8).endsWith("in 300 s"), lines.get(8));
    assertEquals(1, begun.size());
  }

  @Test
  void clockThatIsSetBackDoesNotStopBackups() {
    runUntil(
        Duration.ofHours(5),
        part -> {
          String said = write(part);
          if (begun.size() == 1) {
            now = now.minus(Duration.ofDays(3));
          }
          return said;
        });
    assertEquals(
        NOON.minus(Duration.ofDays(3)).plusSeconds(90).plus(Duration.ofHours(6)), begun.get(1));
  }

  @ParameterizedTest
  @CsvSource({
    "-7, 0", // overdue
    "-6, 0", "-1, 5", "0, 6", "100, 6", // the clock was wrong when it was written
  })
  void nextIsDueHoursFromNow(int newest, int due) {
    assertEquals(
        NOON.plus(Duration.ofHours(due)),
        SCHEDULE.next(NOON, Optional.of(NOON.plus(Duration.ofHours(newest)))));
  }

  @Test
  void attemptsAreNotRarerThanBackups() {
    assertEquals(Duration.ofMinutes(5), SCHEDULE.pauseAfter(1_000_000));
    assertEquals(
        Duration.ofSeconds(2), new BackupSchedule(Duration.ofSeconds(2)).pauseAfter(1_000));
  }
}
