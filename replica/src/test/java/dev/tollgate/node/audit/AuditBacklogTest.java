package dev.tollgate.node.audit;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.tollgate.seal.DataKeys;
import dev.tollgate.seal.TestKeys;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The file that says which lines the syslog server has. */
class AuditBacklogTest {
  private static final String HEADER = "{\"time\":\"t\",\"event\":\"audit_started\"}\n";

  @TempDir Path directory;

  private AuditSettings settings() {
    return new AuditSettings(directory.resolve("audit.log"), AuditSettings.LEAST_BYTES, 3, 2);
  }

  private Path place() {
    return directory.resolve("audit.log.syslog");
  }

  /** Writes three lines, and has them all confirmed. */
  private void write(DataKeys keys) throws IOException {
    try (AuditFile file = new AuditFile(settings(), keys, OwnLog.NONE)) {
      file.open();
      file.append(HEADER, "{\"event\":\"a\"}\n{\"event\":\"b\"}\n");
      AuditBacklog backlog = AuditBacklog.open("n1", settings(), file, () -> {});
      assertEquals(3, backlog.next().lines().size());
      backlog.confirm();
    }
  }

  private int left(DataKeys keys) throws IOException {
    try (AuditFile file = new AuditFile(settings(), keys, OwnLog.NONE)) {
      file.open();
      return AuditBacklog.open("n1", settings(), file, () -> {}).next().lines().size();
    }
  }

  @Test
  void confirmedLinesAreNotSentAgain() throws IOException {
    for (DataKeys keys : List.of(DataKeys.off(), TestKeys.of("k1", "k2"))) {
      write(keys);
      assertEquals(0, left(keys));
      Files.delete(directory.resolve("audit.log"));
      Files.delete(place());
    }
  }

  /** Without the key nobody can have lines left out, even who knows their hashes. */
  @Test
  void placeInTheClearIsNotBelievedOnceThereAreKeys() throws IOException {
    DataKeys keys = TestKeys.of("k1");
    AuditPlace all;
    try (AuditFile file = new AuditFile(settings(), keys, OwnLog.NONE)) {
      file.open();
      file.append(HEADER, "{\"event\":\"a\"}\n{\"event\":\"b\"}\n");
      all = requireNonNull(file.read(null).next());
    }
    Files.writeString(place(), all.text());
    assertEquals(3, left(keys));
    Files.delete(directory.resolve("audit.log"));
    Files.delete(place());
    write(keys);
    assertFalse(Files.readString(place()).contains(all.chain()));
  }

  @Test
  void placeWithinALineOrBeyondTheEndSendsItsFileAgain() throws IOException {
    write(DataKeys.off());
    AuditPlace good = requireNonNull(AuditPlace.parse(Files.readString(place())));
    for (long bytes : new long[] {1, good.bytes() - 1, good.bytes() + 1, 999_999_999}) {
      Files.writeString(place(), new AuditPlace(good.file(), bytes, good.chain()).text());
      assertEquals(3, left(DataKeys.off()), "at byte " + bytes);
    }
    Files.writeString(place(), new AuditPlace("0".repeat(64), 7, good.chain()).text());
    assertEquals(3, left(DataKeys.off()), "another file");
    Files.writeString(place(), new AuditPlace(good.file(), 0, good.chain()).text());
    assertEquals(3, left(DataKeys.off()), "the beginning");
  }
}
