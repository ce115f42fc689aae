package dev.tollgate.log;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/** A private small file that the disk has as a whole, or as it was before. */
public final class WholeFile {
  private WholeFile() {}

  /**
   * Replaces the content of a file, by way of a file beside it whose name ends in {@code .tmp}.
   *
   * @throws IOException if the disk may not have it; the file is then as it was, or has the new
   *     content if only the sync of the directory failed
   */
  public static void write(Path file, String text) throws IOException {
    Path unfinished = file.resolveSibling(file.getFileName() + ".tmp");
    try (FileChannel out = PrivateFiles.replace(unfinished)) {
      ByteBuffer bytes = StandardCharsets.UTF_8.encode(text);
      while (bytes.hasRemaining()) {
        out.write(bytes);
      }
      out.force(true);
    }
    Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE);
    sync(file.resolveSibling(""));
  }

  /** Syncs the content of a file to disk, or which files are in a directory. */
  public static void sync(Path path) throws IOException {
    try (FileChannel content = FileChannel.open(path, StandardOpenOption.READ)) {
      content.force(true);
    }
  }
}
