package dev.tollgate.seal;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sealed files, read from the beginning and in any order. */
class SealedFileTest {
  private static final int CHUNK = Chunks.CHUNK_BYTES;

  @TempDir Path directory;
  private static final String PLACE = "a directory/a file";

  private DataKeys keys;
  private Path file;

  @BeforeEach
  void readKeys() throws IOException {
    keys = TestKeys.of("k1");
    file = directory.resolve("file");
  }

  private byte[] write(int length) throws IOException {
    byte[] plain = new byte[length];
    new Random(length).nextBytes(plain);
    try (OutputStream out = Files.newOutputStream(file)) {
      ChunkOutput sealed = FileSeal.seal(out, keys, PLACE);
      sealed.write(plain);
      sealed.finish();
    }
    return plain;
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 77})
  void whatWasSealedIsReadFromTheBeginningAndFromAnywhere(int length) throws IOException {
    byte[] plain = write(length);
    assertEquals(Optional.of("k1"), FileSeal.keyOf(file));
    assertEquals(length, FileSeal.plainBytes(file));
    try (InputStream in = FileSeal.open(file, keys, PLACE)) {
      assertArrayEquals(plain, in.readAllBytes());
    }
    try (StoredFile stored = StoredFile.open(file, keys, PLACE)) {
      assertEquals(length, stored.size());
      int from = Math.max(0, length - CHUNK - 5);
      ByteBuffer end = ByteBuffer.allocate(length - from + 3);
      stored.read(end, from);
      assertEquals(ByteBuffer.wrap(plain, from, length - from), end.flip());
    }
  }

  @Test
  void fileThatIsNotSealedIsReadWithoutKeysAndRefusedWithKeys() throws IOException {
    Files.writeString(file, "TGE");
    assertEquals(Optional.empty(), FileSeal.keyOf(file));
    try (InputStream in = FileSeal.open(file, DataKeys.off(), PLACE);
        StoredFile stored = StoredFile.open(file, DataKeys.off(), PLACE)) {
      assertEquals(3, in.readAllBytes().length);
      assertEquals(3, stored.size());
    }
    assertThrows(NotEncryptedException.class, () -> FileSeal.open(file, keys, PLACE).close());
    assertThrows(NotEncryptedException.class, () -> StoredFile.open(file, keys, PLACE).close());
  }

  @Test
  void fileOfAnotherPlaceIsRefused() throws IOException {
    write(10);
    String there = PLACE + "2";
    assertThrows(AlteredException.class, () -> FileSeal.open(file, keys, there).close());
    try (StoredFile stored = StoredFile.open(file, keys, there)) {
      assertThrows(AlteredException.class, () -> stored.read(ByteBuffer.allocate(1), 0));
    }
  }

  @Test
  void changedByteAndMissingEndAreNoticed() throws IOException {
    write(CHUNK + 100);
    byte[] sealed = Files.readAllBytes(file);
    sealed[CHUNK / 2] ^= 1;
    Files.write(file, sealed);
    assertThrows(IOException.class, this::readAll);
    sealed[CHUNK / 2] ^= 1;
    Files.write(file, Arrays.copyOf(sealed, sealed.length - 116));
    assertThrows(AlteredException.class, this::readAll);
    try (StoredFile stored = StoredFile.open(file, keys, PLACE)) {
      assertThrows(AlteredException.class, () -> stored.read(ByteBuffer.allocate(1), 0));
    }
  }

  private byte[] readAll() throws IOException {
    try (InputStream in = FileSeal.open(file, keys, PLACE)) {
      return in.readAllBytes();
    }
  }

  @Test
  void keyIsMissedBeforeAnythingIsRead() throws IOException {
    write(10);
    assertThrows(
        KeyMissingException.class, () -> FileSeal.open(file, DataKeys.off(), PLACE).close());
    DataKeys impostor = TestKeys.impostor("k1");
    assertThrows(KeyMissingException.class, () -> StoredFile.open(file, impostor, PLACE).close());
  }
}
