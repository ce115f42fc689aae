package dev.tollgate.node.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.h2.util.json.JSONObject;
import org.h2.util.json.JSONString;
import org.h2.util.json.JSONStringSource;
import org.h2.util.json.JSONValueTarget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** No text of a client breaks out of its string or its line. */
class JsonLineTest {
  private static String read(String line, String key) {
    assertTrue(line.endsWith("}\n"), line);
    assertEquals(1, line.lines().count(), line);
    JSONObject object = (JSONObject) JSONStringSource.parse(line, new JSONValueTarget());
    return ((JSONString) object.getFirst(key)).getString();
  }

  @Test
  void lineIsTimeInMicrosecondsAndMembersInOrder() {
    assertEquals(
        "{\"time\":\"2026-11-24T11:05:22.000042Z\",\"event\":\"e\",\"n\":-1,\"t\":\"v\"}\n",
        new JsonLine(1_795_518_322_000_042L, "e")
            .number("n", -1L)
            .number("absent", null)
            .text("t", "v")
            .text("absent", null)
            .toString());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\",\"event\":\"lock_granted",
        "\\",
        "\\\",",
        "a\nb",
        "a\r\nb",
        "a\u0000b",
        "a\u001b[2Jb",
        "a\u0085b\u2028c\u2029d",
        "a\u202eb\u2066c\ufeffd",
        "</script>'--",
        "\ud83d\ude00 \u00e4 \u4e2d"
      })
  void textStaysWithinItsString(String text) {
    String line = new JsonLine(0, "e").text("t", text).text("after", "x").toString();
    assertEquals(text, read(line, "t"));
    assertEquals("x", read(line, "after"));
    assertEquals("e", read(line, "event"));
    line.trim()
        .codePoints()
        .forEach(
            point ->
                assertTrue(
                    !Character.isISOControl(point) && Character.getType(point) != Character.FORMAT,
                    line));
  }

  @Test
  void loneSurrogateIsEscaped() {
    String line = new JsonLine(0, "e").text("t", "a\ud800b").toString();
    assertTrue(line.contains("\"a\\ud800b\""), line);
  }

  @Test
  void longTextIsCutAndItsLengthIsSaid() {
    String line = new JsonLine(0, "e").text("t", "x".repeat(1_000_000)).toString();
    assertTrue(line.length() < 700, "length " + line.length());
    assertTrue(read(line, "t").endsWith("xx... (1000000 characters)"), line);
    String torn = "x".repeat(JsonLine.TEXT_CHARS - 1) + "\ud83d\ude00";
    assertTrue(
        read(new JsonLine(0, "e").text("t", torn).toString(), "t").startsWith("xxx"), "not torn");
  }

  @Test
  void randomTextsSurvive() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    for (int i = 0; i < 20_000; i++) {
      StringBuilder text = new StringBuilder();
      for (int n = random.nextInt(20); n > 0; n--) {
        int point = random.nextInt(random.nextBoolean() ? 0x80 : 0x11_0000);
        if (point < 0xd800 || point > 0xdfff) {
          text.appendCodePoint(point);
        }
      }
      String line = new JsonLine(i, "e").text("t", text.toString()).toString();
      assertEquals(text.toString(), read(line, "t"), () -> "seed " + seed);
    }
  }
}
