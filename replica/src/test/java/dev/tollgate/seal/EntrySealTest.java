package dev.tollgate.seal;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Set;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The bytes of sealed entries. */
class EntrySealTest {
  private static final byte[] PLAIN = "a row".getBytes(StandardCharsets.US_ASCII);

  private static final String HERE = "here";

  private DataKeys keys;

  @BeforeEach
  void readKeys() throws IOException {
    keys = TestKeys.of("k1");
  }

  private byte[] sealed() {
    return EntrySeal.seal(keys, HERE, 3, 8, PLAIN).bytes();
  }

  /** RFC 5869, A.3: the first 32 bytes; a salt of zeros stands for none. */
  @Test
  void keysAreDerivedAsTheRfcSays() {
    byte[] secret = new byte[22];
    Arrays.fill(secret, (byte) 0x0b);
    assertEquals(
        "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d",
        hex(Hkdf.derive(secret, new byte[Hkdf.KEY_BYTES], "")));
  }

  private static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }

  @Test
  void whatWasSealedIsOpened() throws IOException {
    byte[] sealed = sealed();
    assertTrue(EntrySeal.isSealed(ByteBuffer.wrap(sealed)));
    assertFalse(EntrySeal.isSealed(ByteBuffer.wrap(PLAIN)));
    assertArrayEquals(PLAIN, EntrySeal.open(keys, HERE, 3, 8, sealed));
    assertArrayEquals(PLAIN, EntrySeal.open(TestKeys.of("k2", "k1"), HERE, 3, 8, sealed));
    assertTrue(sealed.length <= PLAIN.length + EntrySeal.MOST_ADDED_BYTES);
  }

  @Test
  void entryOfAnotherPlaceIsRefused() {
    byte[] sealed = sealed();
    assertThrows(AlteredException.class, () -> EntrySeal.open(keys, HERE, 3, 9, sealed));
    assertThrows(AlteredException.class, () -> EntrySeal.open(keys, HERE, 4, 8, sealed));
    assertThrows(AlteredException.class, () -> EntrySeal.open(keys, "there", 3, 8, sealed));
  }

  @Test
  void everyChangedBitIsNoticed() {
    byte[] sealed = sealed();
    for (int place = 0; place < sealed.length; place++) {
      byte[] changed = sealed.clone();
      changed[place] ^= 1;
      assertThrows(
          IOException.class, () -> EntrySeal.open(keys, HERE, 3, 8, changed), "byte " + place);
    }
    for (int length = 0; length < sealed.length; length++) {
      byte[] cut = Arrays.copyOf(sealed, length);
      assertThrows(AlteredException.class, () -> EntrySeal.open(keys, HERE, 3, 8, cut));
    }
  }

  @Test
  void missingAndWrongKeysAreToldApart() throws IOException {
    byte[] sealed = sealed();
    DataKeys other = TestKeys.of("k2");
    DataKeys impostor = TestKeys.impostor("k1");
    assertTrue(refusal(DataKeys.off(), sealed).contains("--data-key-file"));
    assertTrue(refusal(other, sealed).contains("none of the data keys [k2]"));
    assertTrue(refusal(impostor, sealed).contains("another data key 'k1'"));
  }

  private static String refusal(DataKeys keys, byte[] sealed) {
    return assertThrows(KeyMissingException.class, () -> EntrySeal.open(keys, HERE, 3, 8, sealed))
        .getMessage();
  }

  /** With salt and count of each entry, which are the nonce and the key. */
  @Test
  void noNonceComesTwiceAlsoAfterARestart() throws IOException {
    Set<String> nonces = new HashSet<>();
    for (int start = 0; start < 3; start++) {
      keys = TestKeys.of("k1");
      for (int i = 0; i < 100; i++) {
        byte[] sealed = sealed();
        nonces.add(hex(Arrays.copyOfRange(sealed, 9, 9 + DataKeys.SALT_BYTES + Long.BYTES)));
      }
    }
    assertEquals(300, nonces.size());
  }

  @Test
  void nobodyNeedsTheSecretOfADerivedKey() {
    DataKey key = new DataKey("k1", new byte[DataKey.BYTES]);
    assertFalse(
        key.derive(new byte[16], "a").equals(new SecretKeySpec(new byte[DataKey.BYTES], "AES")));
    assertFalse(key.derive(new byte[16], "a").equals(key.derive(new byte[16], "b")));
  }
}
