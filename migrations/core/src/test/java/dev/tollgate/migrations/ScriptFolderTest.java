package dev.tollgate.migrations;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class ScriptFolderTest {
  @TempDir private Path folder;

  private void write(String name, String text) throws IOException {
    Path file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }

  private List<Script> read(String... placeholders) throws MigrationException {
    return ScriptFolder.read(
        folder,
        placeholders.length == 0 ? Map.of() : Map.of(placeholders[0], placeholders[1]),
        Dialect.OTHER);
  }

  @Test
  void scriptsAreFoundInAllFoldersAndSorted() throws Exception {
    write("R__b_view.sql", "SELECT 1");
    write("R__a.sql", "SELECT 1");
    write("later/more/V1.10__last_one.sql", "SELECT 1");
    write("V1.9__x.sql", "SELECT 1");
    write("V1__x__y.sql", "SELECT 1");
    write("readme.md", "no script");
    List<Script> scripts = read();
    assertEquals(
        List.of("x  y", "x", "last one", "a", "b view"),
        scripts.stream().map(Script::description).toList());
    assertEquals("later/more/V1.10__last_one.sql", scripts.get(2).path());
    assertTrue(scripts.get(3).isRepeatable());
  }

  @Test
  void checksumIsTheCrcOfTheLines() throws Exception {
    write("V1__x.sql", "SELECT 1;\nSELECT 2;\n");
    write("V2__x.sql", "\uFEFFSELECT 1;\r\nSELECT 2;");
    CRC32 crc = new CRC32();
    crc.update("SELECT 1;SELECT 2;".getBytes(StandardCharsets.UTF_8));
    for (Script script : read()) {
      assertEquals((int) crc.getValue(), script.checksum(), script.path());
    }
  }

  @Test
  void placeholdersAreReplacedWithinStatements() throws Exception {
    write("V1__x.sql", "-- ${unknown}\nINSERT INTO ${name}\nVALUES ('${name}');");
    assertEquals(
        new SqlStatement(
            2,
            "INSERT INTO $1\nVALUES ('$1')",
            "INSERT INTO ${name}\nVALUES ('${name}')",
            Dialect.OTHER),
        read("name", "$1").get(0).statements().get(0));
    MigrationException missing = assertThrows(MigrationException.class, this::read);
    assertEquals("V1__x.sql:2: no value for ${name}", missing.getMessage());
    write("V1__x.sql", "-- tollgate: placeholders=off\nSELECT '${name}'");
    assertEquals("SELECT '${name}'", read().get(0).statements().get(0).sql());
  }

  /** The values are a part of what a repeatable script does. */
  @Test
  void valueOfAPlaceholderCountsInRepeatableScriptsOnly() throws Exception {
    write("R__x.sql", "SELECT ${n}");
    write("V1__x.sql", "SELECT ${n}");
    List<Script> one = read("n", "1");
    List<Script> two = read("n", "2");
    assertEquals(one.get(0).checksum(), two.get(0).checksum());
    assertNotEquals(one.get(1).checksum(), two.get(1).checksum());
    assertEquals(
        StatementChecksum.ofEach(one.get(0).statements())[1],
        StatementChecksum.ofEach(two.get(0).statements())[1]);
    assertNotEquals(
        StatementChecksum.ofEach(one.get(1).statements())[1],
        StatementChecksum.ofEach(two.get(1).statements())[1]);
  }

  @Test
  void scriptSaysThatItRunsOutsideATransaction() throws Exception {
    write("V1__x.sql", "SELECT 1");
    write("V2__x.sql", "-- note\n-- tollgate: transaction=off\nSELECT 1");
    assertTrue(read().get(0).inTransaction());
    assertFalse(read().get(1).inTransaction());
  }

  @Test
  void repeatableScriptsOfOneNameAreRefused() throws Exception {
    write("a/R__x.sql", "SELECT 1");
    write("b/R__x.sql", "SELECT 1");
    MigrationException twice = assertThrows(MigrationException.class, this::read);
    assertEquals("name x is there twice: a/R__x.sql and b/R__x.sql", twice.getMessage());
  }

  @Test
  void linksAreFollowed() throws Exception {
    write("releases/7/V1__x.sql", "SELECT 1");
    write("releases/8/V2__x.sql", "SELECT 1");
    Path current =
        Files.createSymbolicLink(folder.resolve("current"), folder.resolve("releases/7"));
    Files.createSymbolicLink(folder.resolve("releases/7/more"), folder.resolve("releases/8"));
    assertEquals(
        List.of("V1__x.sql", "more/V2__x.sql"),
        ScriptFolder.read(current, Map.of(), Dialect.OTHER).stream().map(Script::path).toList());
  }

  /** Kubernetes links each file of a ConfigMap into a hidden folder, and that folder to another. */
  @Test
  void mountedConfigMapIsRead() throws Exception {
    write("..2026_11_28_10_00_00.1/V1__x.sql", "SELECT 1");
    Files.createSymbolicLink(folder.resolve("..data"), Path.of("..2026_11_28_10_00_00.1"));
    Files.createSymbolicLink(folder.resolve("V1__x.sql"), Path.of("..data/V1__x.sql"));
    assertEquals(List.of("V1__x.sql"), read().stream().map(Script::path).toList());
    assertEquals(
        List.of("V1__x.sql"),
        ScriptFolder.read(folder.resolve("..data"), Map.of(), Dialect.OTHER).stream()
            .map(Script::path)
            .toList());
  }

  @Test
  void linkToAFolderAroundItIsRefused() throws Exception {
    write("a/V1__x.sql", "SELECT 1");
    Files.createSymbolicLink(folder.resolve("a/b"), folder);
    MigrationException loop = assertThrows(MigrationException.class, this::read);
    assertTrue(loop.getMessage().contains("is a link to a folder around it"), loop.getMessage());
  }

  @Test
  void linkThatLeadsNowhereIsRefused() throws Exception {
    write("V1__x.sql", "SELECT 1");
    Files.createSymbolicLink(folder.resolve("V2__x.sql"), folder.resolve("gone.sql"));
    MigrationException dead = assertThrows(MigrationException.class, this::read);
    assertTrue(
        dead.getMessage()
            .endsWith(
                "V2__x.sql is a link to a file that is not there: correct or remove the link"),
        dead.getMessage());
  }

  @Test
  void endingInCapitalsIsRefused() throws Exception {
    write("V1__x.SQL", "SELECT 1");
    MigrationException wrong = assertThrows(MigrationException.class, this::read);
    assertTrue(wrong.getMessage().startsWith("V1__x.SQL: the name is none of"), wrong.getMessage());
  }

  @Test
  void neitherPlaceholdersNorLineEndsChangeWhatIsDone() throws Exception {
    write("V1__x.sql", "SELECT 1,\n  '${at}'");
    write("V2__x.sql", "SELECT 1,\r\n  '${at}'");
    long[] one = StatementChecksum.ofEach(read("at", "1").get(0).statements());
    assertArrayEquals(one, StatementChecksum.ofEach(read("at", "2").get(0).statements()));
    assertArrayEquals(one, StatementChecksum.ofEach(read("at", "1").get(1).statements()));
  }

  @Test
  void indentedOptionCounts() throws Exception {
    write("V1__x.sql", "  -- tollgate: transaction=off\n  SELECT 1");
    assertFalse(read().get(0).inTransaction());
  }

  /** 110,000 statements; that many took an hour when the lines were counted from the start. */
  @Test
  @Timeout(60)
  void longScriptIsReadInTimeOfItsLength() throws Exception {
    StringBuilder script = new StringBuilder();
    for (int i = 0; i < 110_000; i++) {
      script.append("INSERT INTO t VALUES (").append(i).append(", 'some text');\n");
    }
    write("V1__x.sql", script.toString());
    Script read = read().get(0);
    assertEquals(110_000, read.statements().get(109_999).line());
    assertEquals(110_001, StatementChecksum.ofEach(read.statements()).length);
  }
}
