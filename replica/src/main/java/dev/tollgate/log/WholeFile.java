package dev.tollgate.log;

import dev.tollgate.seal.AlteredException;
import dev.tollgate.seal.DataKeys;
import dev.tollgate.seal.FileSeal;
import dev.tollgate.seal.KeyMissingException;
import dev.tollgate.seal.NotEncryptedException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.zip.CRC32C;

/**
 * A private small file of text that the disk has as a whole, or as it was before. Its last line is
 * the checksum of the lines before, so that a file is read as it was written, or not at all.
 */
public final class WholeFile {
  /** Begins the last line: a comment in files of properties, which Ratis reads by itself too. */
  private static final String CHECKSUM = "#crc32c=";

  private WholeFile() {}

  /**
   * Replaces the content of a file, by way of a file beside it whose name ends in {@code .tmp}.
   *
   * @param text whole lines
   * @throws IOException if the disk may not have it; the file is then as it was, or has the new
   *     content if only the sync of the directory failed
   */
  public static void write(Path file, String text) throws IOException {
    write(file, text, DataKeys.off(), "");
  }

  /**
   * As {@link #write(Path, String)}, encrypted if there are keys.
   *
   * @param place under which alone the file can be opened
   */
  public static void write(Path file, String text, DataKeys keys, String place) throws IOException {
    Path unfinished = file.resolveSibling(file.getFileName() + ".tmp");
    byte[] content = FileSeal.sealed(sealed(text).getBytes(StandardCharsets.UTF_8), keys, place);
    SyncedFiles.write(unfinished, out -> SyncedFiles.write(out, ByteBuffer.wrap(content)));
    SyncedFiles.move(unfinished, file);
  }

  /**
   * Returns the lines that were written.
   *
   * @throws DamagedFileException if the file has others
   */
  public static String read(Path file) throws IOException {
    return read(file, DataKeys.off(), "");
  }

  /**
   * As {@link #read(Path)}, of a file that is encrypted if there are keys.
   *
   * @throws KeyMissingException if it is encrypted, and this process lacks the key
   * @throws NotEncryptedException if there are keys, and it is not encrypted
   * @throws AlteredException if it is not what was encrypted for that place
   */
  public static String read(Path file, DataKeys keys, String place) throws IOException {
    String content;
    try (InputStream in = FileSeal.open(file, keys, place)) {
      content = new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
    int end = content.lastIndexOf(CHECKSUM);
    if (end < 0 || !content.substring(end).equals(checksumOf(content.substring(0, end)))) {
      throw new DamagedFileException(file);
    }
    return content.substring(0, end);
  }

  /** Returns lines, and the checksum of them as the last line. */
  public static String sealed(String text) {
    return text + checksumOf(text);
  }

  private static String checksumOf(String text) {
    CRC32C checksum = new CRC32C();
    checksum.update(text.getBytes(StandardCharsets.UTF_8));
    return String.format("%s%08x\n", CHECKSUM, checksum.getValue());
  }
}
