package dev.tollgate.node.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.seal.DataKeys;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whoever changes audit files is found out, but for whole lines at the end of all. */
class AuditCheckTest {
  private static final String HEADER = "{\"time\":\"t\",\"event\":\"audit_continued\"}\n";

  @TempDir Path directory;

  private Path first;
  private Path second;
  private Path third;
  private List<Path> all;
  private String hash;

  /** Three files of three lines. */
  @BeforeEach
  void writeFiles() throws IOException {
    third = directory.resolve("audit.log");
    second = directory.resolve("audit.log.1");
    first = directory.resolve("audit.log.2");
    all = List.of(first, second, third);
    try (AuditFile file = file()) {
      file.open();
      for (int number = 0; number < 5; number++) {
        hash = file.append(HEADER, line(number));
      }
    }
    // a restart
    try (AuditFile file = file()) {
      file.open();
      hash = file.append(HEADER, line(5));
    }
  }

  private AuditFile file() {
    return new AuditFile(
        new AuditSettings(third, AuditSettings.LEAST_BYTES, 9, 2), DataKeys.off(), OwnLog.NONE);
  }

  private static String line(int number) {
    return "{\"time\":\"t\",\"number\":" + number + ",\"é\":\"" + "x".repeat(7_000) + "\"}\n";
  }

  private static AuditCheck.Found check(List<Path> files) throws IOException {
    List<AuditCheck.Found> found = new AuditCheck(null, DataKeys.off()).check(files);
    assertEquals(1, found.size());
    return found.get(0);
  }

  private static void edit(Path file, UnaryOperator<List<String>> change) throws IOException {
    Files.write(file, change.apply(new ArrayList<>(Files.readAllLines(file))));
  }

  private void assertFault(Path file, long line, String meaning) throws IOException {
    AuditCheck.Fault fault = check(all).fault();
    assertNotNull(fault);
    assertEquals(file, fault.file());
    assertEquals(line, fault.line());
    assertTrue(fault.meaning().contains(meaning), fault.meaning());
  }

  @Test
  void filesOfANodeFitInAnyOrder() throws IOException {
    AuditCheck.Found found = check(List.of(third, first, second));
    assertEquals(new AuditCheck.Found(all, 9, null, hash, null, 0), found);
  }

  @Test
  void alteredLineIsNamed() throws IOException {
    edit(
        second,
        lines -> {
          lines.set(1, lines.get(1).replace("\"number\":2", "\"number\":7"));
          return lines;
        });
    assertFault(second, 2, "the line was altered, or lines before it were removed, added or moved");
    assertEquals(4, check(all).lines());
  }

  @Test
  void altererWhoMakesTheHashAnewIsFoundOutByTheNextLine() throws IOException {
    edit(
        second,
        lines -> {
          String forged =
              lines.get(1).replaceFirst(",\"chain\".*", "}\n").replace("r\":2", "r\":7");
          AuditChain before = new AuditChain(linkOf(lines.get(0)).chain());
          lines.set(1, before.extend(forged, /* begins= */ false).lines().trim());
          return lines;
        });
    assertFault(second, 3, "the line was altered, or lines before it were removed");
  }

  private static AuditChain.Link linkOf(String line) {
    AuditChain.Link link = AuditChain.read(line.getBytes(StandardCharsets.UTF_8));
    assertNotNull(link);
    return link;
  }

  @Test
  void removedLineIsFoundOut() throws IOException {
    edit(
        second,
        lines -> {
          lines.remove(1);
          return lines;
        });
    assertFault(second, 2, "removed");
  }

  @Test
  void removedBeginningIsFoundOut() throws IOException {
    edit(
        first,
        lines -> {
          lines.remove(0);
          return lines;
        });
    assertFault(first, 1, "the lines before it in this file were removed");
  }

  @Test
  void removedEndOfAFileBeforeAnotherIsFoundOut() throws IOException {
    edit(
        first,
        lines -> {
          lines.remove(2);
          return lines;
        });
    assertFault(second, 1, "the last lines of the file before were removed or altered");
  }

  @Test
  void missingFileIsFoundOut() throws IOException {
    AuditCheck.Fault fault = check(List.of(first, third)).fault();
    assertNotNull(fault);
    assertTrue(fault.meaning().contains("a file between the two is missing"), fault.meaning());
  }

  @Test
  void deletedOldestFileIsTold() throws IOException {
    AuditCheck.Found found = check(List.of(second, third));
    assertNull(found.fault());
    assertEquals(check(List.of(first)).last(), found.before());
  }

  @Test
  void lineWithoutHashIsNoLineOfANode() throws IOException {
    Files.writeString(third, "{\"time\":\"t\"}\n", StandardOpenOption.APPEND);
    assertFault(third, 4, "the line has no hash");
  }

  @Test
  void tornLastLineIsNoFault() throws IOException {
    Files.writeString(third, "{\"time\":\"t\",\"ev", StandardOpenOption.APPEND);
    AuditCheck.Found found = check(all);
    assertNull(found.fault());
    assertEquals(15, found.tornBytes());
  }

  @Test
  void tornLineBeforeAnotherFileIsAFault() throws IOException {
    Files.writeString(second, "{\"time\":\"t\",\"ev", StandardOpenOption.APPEND);
    assertFault(second, 4, "the line has no end");
  }

  /** Nothing in the files can tell: another place has to know the hash. */
  @Test
  void endThatIsCutOffIsFoundOutByAHashFromElsewhere() throws IOException {
    assertTrue(contains(hash));
    edit(
        third,
        lines -> {
          lines.remove(2);
          return lines;
        });
    assertNull(check(all).fault());
    assertFalse(contains(hash));
  }

  private boolean contains(@Nullable String wanted) throws IOException {
    AuditCheck check = new AuditCheck(wanted, DataKeys.off());
    check.check(all);
    return check.hasWanted();
  }

  @Test
  void activityIsAnotherChain() throws IOException {
    Path activity = directory.resolve("audit.log.activity");
    try (AuditFile file =
        new AuditFile(
            new AuditSettings(third, AuditSettings.LEAST_BYTES, 9, 2).ofActivity(),
            DataKeys.off(),
            OwnLog.NONE)) {
      file.open();
      file.append(HEADER, line(0));
    }
    List<Path> files = new ArrayList<>(all);
    files.add(activity);
    List<AuditCheck.Found> found = new AuditCheck(null, DataKeys.off()).check(files);
    assertEquals(List.of(all, List.of(activity)), found.stream().map(one -> one.files()).toList());
    found.forEach(one -> assertNull(one.fault()));
  }
}
