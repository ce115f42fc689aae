package dev.tollgate.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Strings as bytes: every one comes back as it was, and no two are alike. */
class StrictUtf8Test {
  private static final int ROUNDS = 200_000;

  /** What encoders and decoders stumble over. */
  private static final String[] PIECES = {
    "\ud83d",
    "\ude00",
    "\ud800",
    "\udbff",
    "\udc00",
    "\udfff",
    "\ud83d\ude00",
    "\u0000",
    "a",
    "?",
    "\u007f",
    "\u0080",
    "\u07ff",
    "\u0800",
    "\ud7ff",
    "\ue000",
    "\ufeff",
    "\ufffd",
    "\uffff"
  };

  @Test
  void randomTextsComeBackAndNoTwoHaveEqualBytes() {
    long seed = Long.getLong("tollgate.seed", System.nanoTime());
    Random random = new Random(seed);
    Map<String, String> textOf = new HashMap<>();
    for (int i = 0; i < ROUNDS; i++) {
      StringBuilder text = new StringBuilder();
      for (int n = random.nextInt(5); n > 0; n--) {
        text.append(PIECES[random.nextInt(PIECES.length)]);
      }
      String expected = text.toString();
      byte[] bytes = written(expected);
      assertEquals(expected, new WireReader(bytes).string(), "tollgate.seed=" + seed);
      String other = textOf.putIfAbsent(HexFormat.of().formatHex(bytes), expected);
      assertTrue(other == null || other.equals(expected), "tollgate.seed=" + seed);
    }
  }

  /** So that what is read is also what is written: bytes can be compared in place of texts. */
  @Test
  void randomBytesAreRefusedOrWrittenAgainAsTheyWere() {
    long seed = Long.getLong("tollgate.seed", System.nanoTime());
    Random random = new Random(seed);
    int read = 0;
    for (int i = 0; i < ROUNDS; i++) {
      byte[] body = new byte[random.nextInt(10)];
      for (int k = 0; k < body.length; k++) {
        body[k] = (byte) (random.nextInt(3) == 0 ? 0xed : 0x80 + random.nextInt(0x80));
      }
      byte[] bytes = new WireWriter().bytes(body).toByteArray();
      try {
        assertArrayEquals(bytes, written(new WireReader(bytes).string()), "tollgate.seed=" + seed);
        read++;
      } catch (WireFormatException e) {
        assertTrue(body.length > 0, "the empty text is a text");
      }
    }
    assertTrue(read > ROUNDS / 20, "most of these bytes are no text: " + read);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "abc", "\u0000", "\u00fc\u4e2d", "\ud83d\ude00", "a\udbff\udfff?"})
  void wellFormedTextIsUtf8AsInEarlierVersions(String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    assertArrayEquals(new WireWriter().bytes(utf8).toByteArray(), written(text));
  }

  @Test
  void unpairedSurrogateHasTheThreeBytesOfItsNumber() {
    byte[] expected = HexFormat.of().parseHex("0000000761eda0bdedb88f");
    assertArrayEquals(
        HexFormat.of().parseHex("0000000461eda0bd"), written("a\ud83d"), "a high one at the end");
    assertArrayEquals(
        HexFormat.of().parseHex("00000007edb88feda0bd61"), written("\ude0f\ud83da"), "two");
    assertThrows(WireFormatException.class, () -> new WireReader(expected).string(), "a pair");
  }

  @ParameterizedTest
  @CsvSource({
    "a pair as two surrogates, eda0bdedb880",
    "a surrogate cut off, eda0",
    "a surrogate without its last byte, eda061",
    "a zero in two bytes, c080",
    "a slash in two bytes, c0af",
    "a letter in three bytes, e08181",
    "beyond U+10FFFF, f4908080",
    "four bytes of a surrogate, f08da0bd",
    "a continuation alone, 80",
    "a surrogate and then a continuation, eda0bd80",
    "Latin-1, fc",
  })
  void whatNoTextIsWrittenAsIsRefused(String what, String hex) {
    byte[] bytes = new WireWriter().bytes(HexFormat.of().parseHex(hex)).toByteArray();
    assertThrows(WireFormatException.class, () -> new WireReader(bytes).string(), what);
  }

  private static byte[] written(String text) {
    return new WireWriter().string(text).toByteArray();
  }
}
