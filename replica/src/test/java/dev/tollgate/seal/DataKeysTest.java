package dev.tollgate.seal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which keys a node has, and when it takes others. */
class DataKeysTest {
  private static final String KEY = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";
  private static final String OTHER_KEY = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDI=";

  @TempDir Path directory;

  private static KeyRing parse(String text) throws IOException {
    return KeyRing.parse(text.getBytes(StandardCharsets.UTF_8), "the file");
  }

  @Test
  void firstLineSealsAndAllOpen() throws IOException {
    KeyRing ring = parse("# rotated in May\n\n may " + KEY + "\r\napril\t" + OTHER_KEY);
    assertEquals("may", ring.first().id());
    assertEquals("[may, april]", ring.toString());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "# nothing\n",
        KEY,
        "k1 " + KEY + "=",
        "k1 " + KEY + " more",
        "k1 MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5",
        "k1 0123456789abcdef0123456789abcdef",
        "k/1 " + KEY,
        "k1 " + KEY + "\nk1 " + OTHER_KEY,
        "k1 " + KEY + "\nk2 " + KEY,
        "a23456789012345678901234567890123 " + KEY
      })
  void whatIsNoListOfKeysIsRefusedWithoutAWordOfIt(String text) {
    String why = assertThrows(IOException.class, () -> parse(text)).getMessage();
    assertTrue(why.startsWith("the file"), why);
    assertFalse(why.contains("MDEyMzQ1"), why);
    assertFalse(why.contains("0123456789abcdef"), why);
  }

  @Test
  void numberAndSizeOfKeysAreBounded() {
    StringBuilder many = new StringBuilder();
    for (int i = 0; i <= KeyRing.MOST_KEYS; i++) {
      many.append("k").append(i).append(' ').append(new String(new char[] {(char) ('A' + i)}));
      many.append(KEY.substring(1)).append('\n');
    }
    assertTrue(
        assertThrows(IOException.class, () -> parse(many.toString()))
            .getMessage()
            .contains("more"));
    assertTrue(
        assertThrows(IOException.class, () -> parse("#".repeat(KeyRing.MOST_BYTES + 1)))
            .getMessage()
            .contains("more than"));
  }

  @Test
  void anotherFirstKeySealsAfterAReload() throws IOException {
    TestKeys source = TestKeys.source("k1");
    DataKeys keys = DataKeys.read(source);
    byte[] old = EntrySeal.seal(keys, "", 1, 1, new byte[] {7}).bytes();
    assertEquals(DataKeys.Reload.SAME, keys.reload(Set.of("k1")));
    source.become("k2", "k1");
    assertEquals(DataKeys.Reload.CHANGED, keys.reload(Set.of("k1")));
    assertEquals("k2", EntrySeal.seal(keys, "", 1, 2, new byte[0]).keyId());
    assertEquals(7, EntrySeal.open(keys, "", 1, 1, old)[0]);
  }

  @Test
  void keyThatFilesNeedStays() throws IOException {
    TestKeys source = TestKeys.source("k2", "k1");
    DataKeys keys = DataKeys.read(source);
    source.become("k2");
    String why = assertThrows(IOException.class, () -> keys.reload(Set.of("k1"))).getMessage();
    assertTrue(why.contains("lacks the key 'k1'"), why);
    assertEquals(List.of("k2", "k1"), keys.ids());
    assertEquals(DataKeys.Reload.CHANGED, keys.reload(Set.of("k2")));
    assertEquals(List.of("k2"), keys.ids());
  }

  @Test
  void keyOfAFileIsReadAgain() throws IOException {
    Path file = Files.writeString(directory.resolve("keys"), "k1 " + KEY);
    DataKeys keys = DataKeys.read(new KeyFile(file));
    Files.writeString(file, "k1 " + OTHER_KEY);
    assertTrue(
        assertThrows(IOException.class, () -> keys.reload(Set.of()))
            .getMessage()
            .contains("another key under the name 'k1'"));
    Files.delete(file);
    assertThrows(IOException.class, () -> keys.reload(Set.of()));
    assertEquals(List.of("k1"), keys.ids());
  }

  private static String command(String line) {
    return assertThrows(
            IOException.class, () -> new KeyCommand(line, Duration.ofMillis(500)).read())
        .getMessage();
  }

  @Test
  void commandPrintsKeys() throws IOException {
    KeySource source = new KeyCommand("printf 'k1 %s\\n' " + KEY, KeyCommand.WITHIN);
    assertEquals(List.of("k1"), DataKeys.read(source).ids());
  }

  @Test
  void commandThatFailsOrDoesNotEndGivesNoKeys() {
    assertTrue(command("exit 3").contains("status 3"));
    assertTrue(command("sleep 60").contains("has not ended within"));
    assertFalse(command("false " + KEY).contains(KEY));
  }

  @Test
  void commandThatPrintsWithoutEndIsStopped() throws IOException {
    byte[] printed = new KeyCommand("yes", KeyCommand.WITHIN).read();
    assertEquals(KeyRing.MOST_BYTES + 1, printed.length);
  }
}
