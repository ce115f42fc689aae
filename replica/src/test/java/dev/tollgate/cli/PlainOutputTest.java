package dev.tollgate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class PlainOutputTest {
  private static String plain(Charset charset, String printed) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    PlainOutput.to(bytes, charset).print(printed);
    return bytes.toString(charset);
  }

  @Test
  void textStaysWhatItIs() {
    String text = "a lock, 'Zürich' \u20ac \ud83d\ude00 \u00a0\u00bf:\tx\ny\n";
    assertEquals(text, plain(StandardCharsets.UTF_8, text));
    assertEquals("Zürich \u00a0\u00bf", plain(StandardCharsets.ISO_8859_1, "Zürich \u00a0\u00bf"));
  }

  @Test
  void whatATerminalObeysIsAQuestionMark() {
    String orders = "\u001b[2J\u001b]0;title\u0007 \r\b\u007f\u009b31m\u0080\u009f";
    String shown = "?[2J?]0;title? ????31m??";
    assertEquals(shown, plain(StandardCharsets.UTF_8, orders));
    assertEquals(shown, plain(StandardCharsets.ISO_8859_1, orders));
  }

  /** U+202E shows what follows backwards, U+200B nothing, U+2028 a line that nobody wrote. */
  @Test
  void whatDisplacesTextIsAQuestionMark() {
    assertEquals(
        "a?b?c?d?e??f",
        plain(StandardCharsets.UTF_8, "a\u202eb\u200bc\u2028d\ue000e\udb40\udc41\u2066f"));
  }

  @Test
  void whatIsNoTextIsAQuestionMark() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    PrintStream out = PlainOutput.to(bytes, StandardCharsets.UTF_8);
    for (int unit : new int[] {'a', 0xE2, 0x80, 'b', 0x9B, 'c', 0xFF, 'd', 0xF0, 0x9F, '\n'}) {
      out.write(unit);
    }
    assertEquals("a?b?c?d?\n", bytes.toString(StandardCharsets.UTF_8));
  }

  @Test
  void characterMayComeInTwoWrites() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    PrintStream out = PlainOutput.to(bytes, StandardCharsets.UTF_8);
    for (byte unit : "ü\u009bé\u001b€".getBytes(StandardCharsets.UTF_8)) {
      out.write(unit);
    }
    assertEquals("ü?é?€", bytes.toString(StandardCharsets.UTF_8));
  }
}
