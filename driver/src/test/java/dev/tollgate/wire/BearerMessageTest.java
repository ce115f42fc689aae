package dev.tollgate.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The message of OAUTHBEARER, as RFC 7628 and others write it; ^ stands for the separator. */
class BearerMessageTest {
  private static final String TOKEN = "vF9dft4qmTc2Nvb3RlckBhbHRhdmlzdGEuY29tCg==";

  private static byte[] bytes(String text) {
    return text.replace('^', '\1').getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void exampleOfTheRfcIsRead() {
    BearerMessage message =
        BearerMessage.read(
            bytes(
                "n,a=user@example.com,^host=server.example.com^port=143^auth=Bearer "
                    + TOKEN
                    + "^^"));
    assertEquals(new BearerMessage("user@example.com", TOKEN), message);
    assertEquals("", BearerMessage.read(bytes("y,,^auth=bearer  " + TOKEN + "^^")).user());
    assertFalse(message.toString().contains(TOKEN));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "jo", "a,b", "=2C", "=", "\u00e4\u0131,=3D"})
  void whatIsWrittenIsRead(String user) {
    BearerMessage message = new BearerMessage(user, TOKEN);
    assertEquals(message, BearerMessage.read(message.toBytes()));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "^^",
        "n,,",
        "n,,^",
        "n,,^^",
        "n,,^auth=Bearer x",
        "n,,^auth=Bearer x^",
        "n,^auth=Bearer x^^",
        "p=tls-unique,,^auth=Bearer x^^",
        "n,a=,^auth=Bearer x^^",
        "n,b=x,^auth=Bearer x^^",
        "n,a=x,y,^auth=Bearer x^^",
        "n,a=x=,^auth=Bearer x^^",
        "n,a=x=2c,^auth=Bearer x^^",
        "n,,^auth=Basic x^^",
        "n,,^auth=Bearer ^^",
        "n,,^auth=Bearer x y^^",
        "n,,^auth=Bearer x\"^^",
        "n,,^auth=Bearer x^auth=Bearer x^^",
        "n,,^auth=Bearer x^^^",
        "n,,^=y^auth=Bearer x^^",
        "n,,^y^auth=Bearer x^^",
      })
  void brokenMessageIsRefused(String text) {
    assertThrows(IllegalArgumentException.class, () -> BearerMessage.read(bytes(text)));
  }

  @Test
  void lengthIsBounded() {
    String longest = "x".repeat(BearerMessage.MOST_TOKEN_CHARS);
    byte[] message = new BearerMessage("", longest).toBytes();
    assertEquals(longest, BearerMessage.read(message).token());
    assertTrue(message.length < BearerMessage.MOST_BYTES);
    assertTrue(BearerMessage.MOST_BYTES < Protocol.MAX_TOKEN_FRAME_BYTES);
    assertThrows(IllegalArgumentException.class, () -> new BearerMessage("", longest + "x"));
    assertThrows(
        IllegalArgumentException.class,
        () -> BearerMessage.read(new byte[BearerMessage.MOST_BYTES + 1]));
  }

  /** Any bytes are a message or none; a message is never made of a changed token's rest. */
  @Test
  void changedMessagesAreReadOrRefused() {
    long seed = Long.getLong("tollgate.seed", System.nanoTime());
    Random random = new Random(seed);
    byte[] message = new BearerMessage("jo", TOKEN).toBytes();
    for (int i = 0; i < 20_000; i++) {
      byte[] changed = message.clone();
      for (int change = 1 + random.nextInt(3); change > 0; change--) {
        changed[random.nextInt(changed.length)] =
            (byte) (random.nextBoolean() ? random.nextInt(4) : random.nextInt(256));
      }
      try {
        BearerMessage read = BearerMessage.read(changed);
        assertEquals(read, BearerMessage.read(read.toBytes()), "seed " + seed);
      } catch (IllegalArgumentException e) {
        assertFalse(String.valueOf(e.getMessage()).contains(TOKEN), "seed " + seed);
      }
    }
  }
}
