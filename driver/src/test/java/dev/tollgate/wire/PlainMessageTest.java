package dev.tollgate.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The message of PLAIN, as RFC 4616 has it; ^ stands for the separator. */
class PlainMessageTest {
  private static byte[] bytes(String text) {
    return text.replace('^', '\0').getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void whatIsWrittenIsRead() {
    PlainMessage message = new PlainMessage("j\u00f6,=", "hunter\u00b2 2");
    assertEquals(message, PlainMessage.read(message.toBytes()));
    assertEquals(new PlainMessage("jo", "secret"), PlainMessage.read(bytes("^jo^secret")));
    assertEquals(new PlainMessage("jo", "secret"), PlainMessage.read(bytes("jo^jo^secret")));
    assertFalse(message.toString().contains("hunter"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "jo", "^jo", "^jo^", "^^secret", "mo^jo^secret", "^jo^sec^ret", "^^"})
  void whatIsNoMessageIsRefusedWithoutAWordOfIt(String text) {
    IllegalArgumentException refused =
        assertThrows(IllegalArgumentException.class, () -> PlainMessage.read(bytes(text)));
    assertFalse(refused.getMessage().contains("sec"), refused.getMessage());
  }

  @Test
  void lengthIsBounded() {
    String longest = "\u00e4".repeat(PlainMessage.MOST_PASSWORD_BYTES / 2);
    assertTrue(PlainMessage.isPassword(longest));
    assertFalse(PlainMessage.isPassword(longest + "a"));
    byte[] message = bytes("^jo^" + "x".repeat(PlainMessage.MOST_BYTES));
    assertThrows(IllegalArgumentException.class, () -> PlainMessage.read(message));
    byte[] notUtf8 = {0, 'j', 0, (byte) 0xff};
    assertThrows(IllegalArgumentException.class, () -> PlainMessage.read(notUtf8));
  }
}
