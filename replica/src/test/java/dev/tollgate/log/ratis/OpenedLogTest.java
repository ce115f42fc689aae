package dev.tollgate.log.ratis;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tollgate.log.entry.CorruptLogException;
import java.nio.file.Path;
import org.apache.ratis.server.protocol.TermIndex;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A log that Ratis has opened is the one that was checked. */
class OpenedLogTest {
  private static final TermIndex LAST = TermIndex.valueOf(2, 7);
  private static final long NONE = -1;

  private static void assertSame(
      @Nullable TermIndex logged,
      @Nullable TermIndex covered,
      @Nullable TermIndex last,
      long snapshot) {
    assertDoesNotThrow(
        () -> new OpenedLog(Path.of("log"), logged, covered).require(last, snapshot));
  }

  private static void assertOther(
      @Nullable TermIndex logged,
      @Nullable TermIndex covered,
      @Nullable TermIndex last,
      long snapshot) {
    assertThrows(
        CorruptLogException.class,
        () -> new OpenedLog(Path.of("log"), logged, covered).require(last, snapshot));
  }

  @Test
  void logEndsWithTheEntryThatWasCheckedLast() {
    assertSame(null, null, null, NONE);
    assertSame(LAST, null, LAST, NONE);
    assertOther(LAST, null, null, NONE);
    assertOther(LAST, null, TermIndex.valueOf(2, 6), NONE);
    assertOther(LAST, null, TermIndex.valueOf(1, 7), NONE);
    assertOther(null, null, LAST, NONE);
  }

  @Test
  void logGoesOnAfterTheSnapshotThatWasRestored() {
    assertSame(LAST, TermIndex.valueOf(1, 5), LAST, 5);
    assertSame(LAST, LAST, LAST, 7);
    assertSame(LAST, TermIndex.valueOf(2, 9), null, 9);
    assertSame(null, LAST, null, 7);
    assertOther(LAST, TermIndex.valueOf(1, 5), LAST, NONE);
    assertOther(LAST, TermIndex.valueOf(1, 5), LAST, 6);
    assertOther(LAST, TermIndex.valueOf(1, 5), null, 5);
  }
}
