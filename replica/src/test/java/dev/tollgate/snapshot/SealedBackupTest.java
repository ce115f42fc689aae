package dev.tollgate.snapshot;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.seal.Chunks;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The bytes of encrypted backups, whole and damaged. */
class SealedBackupTest {
  private static final int CHUNK = Chunks.CHUNK_BYTES;
  private static final int SEALED_CHUNK = CHUNK + Chunks.TAG_BYTES;
  private static final int HEADER = SealedFormat.HEADER_BYTES;

  private static final byte[] SALT = bytes(SealedFormat.SALT_BYTES);

  /** Keeps the key of the salt, so that most tests need not derive one. */
  private static Passphrase right;

  @TempDir Path directory;

  @BeforeAll
  static void deriveKey() throws IOException {
    right = passphrase("right");
    right.key(SALT, SealedFormat.ITERATIONS);
  }

  private static Passphrase passphrase(String text) throws IOException {
    return Passphrase.of(text.toCharArray(), "the test");
  }

  private static byte[] bytes(int length) {
    byte[] bytes = new byte[length];
    new Random(length).nextBytes(bytes);
    return bytes;
  }

  private static byte[] seal(byte[] plain) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    SealedOutput sealed = new SealedOutput(out, right, SALT);
    sealed.write(plain, 0, plain.length / 3);
    sealed.write(plain, plain.length / 3, plain.length - plain.length / 3);
    sealed.finish();
    return out.toByteArray();
  }

  private static byte[] open(byte[] sealed, Passphrase passphrase) throws IOException {
    try (InputStream in = SealedFormat.open(new ByteArrayInputStream(sealed), passphrase)) {
      return in.readAllBytes();
    }
  }

  private static String refusal(byte[] sealed) {
    return assertThrows(CorruptSnapshotException.class, () -> open(sealed, right)).getMessage();
  }

  private static byte[] join(byte[]... parts) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      out.writeBytes(part);
    }
    return out.toByteArray();
  }

  private static byte[] chunk(byte[] sealed, int number) {
    int begin = HEADER + number * SEALED_CHUNK;
    return Arrays.copyOfRange(sealed, begin, Math.min(sealed.length, begin + SEALED_CHUNK));
  }

  private static byte[] header(byte[] sealed) {
    return Arrays.copyOf(sealed, HEADER);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 77})
  void whatWasSealedIsOpened(int length) throws IOException {
    byte[] plain = bytes(length);
    byte[] sealed = seal(plain);
    assertArrayEquals(plain, open(sealed, right));
    int chunks = Math.max(1, (length + CHUNK - 1) / CHUNK);
    assertEquals(HEADER + length + chunks * Chunks.TAG_BYTES, sealed.length);
  }

  @Test
  void twoFilesOfOnePassphraseHaveNothingInCommon() throws IOException {
    byte[] plain = bytes(1_000);
    byte[] first = seal(plain);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    SealedOutput sealed = new SealedOutput(out, passphrase("right"));
    sealed.write(plain);
    sealed.finish();
    byte[] second = out.toByteArray();
    assertFalse(Arrays.equals(chunk(first, 0), chunk(second, 0)));
    assertTrue(
        assertThrows(
                CorruptSnapshotException.class,
                () -> open(join(header(second), chunk(first, 0)), passphrase("right")))
            .getMessage()
            .contains("the passphrase is wrong"));
  }

  @Test
  void wrongPassphraseIsSaid() throws IOException {
    byte[] sealed = seal(bytes(10));
    String message =
        assertThrows(CorruptSnapshotException.class, () -> open(sealed, passphrase("wrong")))
            .getMessage();
    assertTrue(message.startsWith("the passphrase is wrong, or"), message);
  }

  @Test
  void everyFlippedBitIsNoticed() throws IOException {
    byte[] sealed = seal(bytes(CHUNK + 10));
    int[] places = {
      4,
      6,
      7,
      8,
      11,
      12,
      15,
      16,
      HEADER - 1,
      HEADER,
      HEADER + CHUNK,
      HEADER + SEALED_CHUNK - 1,
      HEADER + SEALED_CHUNK,
      sealed.length - 1
    };
    for (int place : places) {
      byte[] damaged = sealed.clone();
      // the lowest bit of the first byte of the iterations would be a number whose key takes long
      damaged[place] ^= 2;
      refusal(damaged);
    }
  }

  @Test
  void cutOffEndIsNoticedWhereverItIs() throws IOException {
    byte[] sealed = seal(bytes(2 * CHUNK));
    for (int length :
        new int[] {
          0,
          HEADER - 1,
          HEADER,
          HEADER + 15,
          HEADER + SEALED_CHUNK - 1,
          HEADER + SEALED_CHUNK,
          HEADER + SEALED_CHUNK + 1,
          sealed.length - 1
        }) {
      refusal(Arrays.copyOf(sealed, length));
    }
    assertTrue(
        refusal(Arrays.copyOf(sealed, HEADER + SEALED_CHUNK + 100)).contains("in its mebibyte 2"));
  }

  @Test
  void chunksCannotBeExchangedLeftOutRepeatedOrAppended() throws IOException {
    byte[] sealed = seal(bytes(3 * CHUNK));
    byte[] head = header(sealed);
    byte[] first = chunk(sealed, 0);
    byte[] second = chunk(sealed, 1);
    byte[] third = chunk(sealed, 2);
    assertArrayEquals(sealed, join(head, first, second, third));
    refusal(join(head, second, first, third));
    refusal(join(head, first, third));
    refusal(join(head, first, first, second, third));
    refusal(join(head, first, second, third, third));
    refusal(join(sealed, new byte[1]));
  }

  @Test
  void headerThatWouldKeepTheReaderBusyIsRefusedAtOnce() throws IOException {
    byte[] sealed = seal(bytes(10));
    sealed[8] = 0x7f;
    assertTrue(refusal(sealed).contains("the header"), "iterations by the billion");
    sealed = seal(bytes(10));
    Arrays.fill(sealed, 8, 12, (byte) 0);
    assertTrue(refusal(sealed).contains("the header"), "no iterations");
  }

  @Test
  void laterVersionIsNamed() throws IOException {
    byte[] sealed = seal(bytes(10));
    sealed[5] = 2;
    assertTrue(
        assertThrows(UnknownVersionException.class, () -> open(sealed, right))
            .getMessage()
            .contains("of version 2"));
  }

  private Passphrase inFile(String text) throws IOException {
    Path file = directory.resolve("passphrase");
    Files.write(file, text.getBytes(StandardCharsets.UTF_8));
    return Passphrase.read(file);
  }

  @ParameterizedTest
  @ValueSource(strings = {"right", "right\n", "right\r\n"})
  void endOfTheLineIsNoPartOfThePassphrase(String content) throws IOException {
    // a key of so few iterations tells two texts apart, and is there at once
    assertEquals(passphrase("right").key(SALT, 1), inFile(content).key(SALT, 1));
  }

  @Test
  void passphraseOfAFileOpensWhatItSealed() throws IOException {
    byte[] plain = bytes(10);
    assertArrayEquals(plain, open(seal(plain), inFile("right\n")));
  }

  @Test
  void fileThatIsNoPassphraseIsRefusedWithoutItsContent() {
    for (String content : new String[] {"", "\n", "hush\nhush", "h".repeat(1_001)}) {
      String message = assertThrows(IOException.class, () -> inFile(content)).getMessage();
      assertFalse(message.contains("hush"), message);
      assertTrue(message.contains("passphrase"), message);
    }
  }
}
