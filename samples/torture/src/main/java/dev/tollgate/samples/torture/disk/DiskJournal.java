package dev.tollgate.samples.torture.disk;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** What {@code recorded-disk.c} has recorded; the form of a record is described there. */
final class DiskJournal {
  private final Path directory;

  /**
   * @param directory the recorded directory, without links in its path
   */
  DiskJournal(Path directory) {
    this.directory = directory;
  }

  /** Tells a disk all that is in the journal. A record that ends too early was never finished. */
  void replay(Path journal, Disk disk) throws IOException {
    try (InputStream in = new BufferedInputStream(Files.newInputStream(journal), 1 << 16)) {
      while (true) {
        replay(line(in), in, disk);
      }
    } catch (EOFException e) {
      // the end
    }
  }

  private void replay(String line, InputStream in, Disk disk) throws IOException {
    String[] words = line.split(" ", 4);
    switch (words[0]) {
      case "O" -> opened(words, disk);
      case "W" -> {
        byte[] bytes = in.readNBytes(Integer.parseInt(words[3]));
        line(in);
        disk.wrote(Long.parseLong(words[1]), Long.parseLong(words[2]), bytes);
      }
      case "T" -> disk.resized(Long.parseLong(words[1]), Long.parseLong(words[2]));
      case "B" -> disk.syncBegins(Long.parseLong(words[1]), Long.parseLong(words[2]));
      case "E" ->
          disk.syncEnded(Long.parseLong(words[1]), Long.parseLong(words[2]), words[3].equals("0"));
      case "M" -> disk.made(path(line));
      case "D", "U" -> disk.removed(path(line));
      case "R" -> disk.renamed(path(line), relative(line(in)));
      case "L" -> disk.linked(path(line), relative(line(in)));
      default -> throw new IOException("not a record: " + line);
    }
  }

  private void opened(String[] words, Disk disk) {
    long handle = Long.parseLong(words[1]);
    disk.opened(handle, relative(words[3]), words[2].contains("c"));
    if (words[2].contains("t")) {
      disk.resized(handle, 0);
    }
  }

  private Path path(String line) {
    return relative(line.substring(2));
  }

  private Path relative(String path) {
    return directory.relativize(Path.of(path));
  }

  private static String line(InputStream in) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int next = in.read(); next != '\n'; next = in.read()) {
      if (next < 0) {
        throw new EOFException();
      }
      line.write(next);
    }
    return line.toString(StandardCharsets.UTF_8);
  }
}
