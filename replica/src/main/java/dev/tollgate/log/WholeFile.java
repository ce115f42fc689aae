package dev.tollgate.log;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/** A small file that is on the disk as a whole, or as it was before. */
public final class WholeFile {
  private WholeFile() {}

  /**
   * Puts a text in the place of a file, by way of one beside it whose name ends in {@code .tmp}.
   *
   * @throws IOException if the disk does not have it; the file is then as it was
   */
  public static void write(Path file, String text) throws IOException {
    Path unfinished = file.resolveSibling(file.getFileName() + ".tmp");
    try (FileChannel out =
        FileChannel.open(
            unfinished,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE)) {
      ByteBuffer bytes = StandardCharsets.UTF_8.encode(text);
      while (bytes.hasRemaining()) {
        out.write(bytes);
      }
      out.force(true);
    }
    Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE);
    syncNames(file.resolveSibling(""));
  }

  /** Has the disk know which files are in a directory. */
  public static void syncNames(Path directory) throws IOException {
    try (FileChannel names = FileChannel.open(directory, StandardOpenOption.READ)) {
      names.force(true);
    }
  }
}
