package dev.tollgate.samples.torture.disk;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/** A program that changes files, for the tests of the library that records this. */
final class DiskWriter {
  private DiskWriter() {}

  /**
   * Does one thing.
   *
   * @param words the directory, what to do, and its operands
   */
  public static void main(String[] words) throws IOException {
    Path directory = Path.of(words[0]);
    switch (words[1]) {
      case "everything" -> everything(directory);
      case "mapping" -> mapping(directory.resolve("mapped"));
      case "write" -> Files.writeString(directory.resolve(words[2]), words[3]);
      case "replace" -> replace(directory, words[2], words[3]);
      case "retry" -> retry(directory, words[2], words[3]);
      default -> throw new IllegalArgumentException(words[1]);
    }
  }

  private static ByteBuffer bytes(String text) {
    return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
  }

  private static void everything(Path directory) throws IOException {
    Path one = directory.resolve("one");
    try (FileChannel channel =
        FileChannel.open(one, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      channel.write(bytes("some text"));
      channel.write(bytes("me"), 2);
      channel.write(new ByteBuffer[] {bytes("of "), bytes("many parts")});
      channel.force(false);
      channel.truncate(17);
      channel.force(true);
    }
    Files.move(one, directory.resolve("two"), StandardCopyOption.ATOMIC_MOVE);
    Path below = Files.createDirectories(directory.resolve("below/deeper"));
    try (RandomAccessFile file = new RandomAccessFile(below.resolve("random").toFile(), "rw")) {
      file.setLength(10_000);
      file.seek(5_000);
      file.write(7);
      file.getFD().sync();
      file.setLength(6_000);
    }
    try (RandomAccessFile file =
        new RandomAccessFile(directory.resolve("regrown").toFile(), "rw")) {
      file.seek(100);
      file.write(7);
      file.setLength(10);
      file.setLength(200);
    }
    Files.copy(below.resolve("random"), one, StandardCopyOption.REPLACE_EXISTING);
    try (FileChannel from = FileChannel.open(one);
        FileChannel to =
            FileChannel.open(
                directory.resolve("transferred"),
                StandardOpenOption.CREATE,
                StandardOpenOption.WRITE)) {
      from.transferTo(0, 6_000, to);
      to.transferFrom(from.position(0), 6_000, 100);
    }
    Files.writeString(directory.resolve("two"), "more", StandardOpenOption.APPEND);
    Files.writeString(one, "shorter");
    Files.deleteIfExists(directory.resolve("linked"));
    Files.createLink(directory.resolve("linked"), one);
    Files.move(below, directory.resolve("moved"), StandardCopyOption.REPLACE_EXISTING);
    Files.delete(directory.resolve("moved/random"));
    Files.createFile(directory.resolve("moved/file"));
    if (!directory.resolve("moved/file").toFile().delete()) {
      throw new IOException("still there");
    }
    Files.delete(directory.resolve("below"));
    Path temporary = Files.createTempFile(directory, "temporary", ".tmp");
    Files.writeString(temporary, "for a while");
    Files.delete(temporary);
  }

  private static void mapping(Path file) throws IOException {
    try (FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      channel.write(bytes("text"));
      MappedByteBuffer pages = channel.map(FileChannel.MapMode.READ_WRITE, 0, 4);
      pages.put(0, (byte) 'T');
      pages.force();
    }
  }

  private static void replace(Path directory, String name, String text) throws IOException {
    Path unfinished = directory.resolve(name + ".tmp");
    try (FileChannel file =
        FileChannel.open(
            unfinished,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE)) {
      file.write(bytes(text));
      file.force(true);
    }
    Files.move(unfinished, directory.resolve(name), StandardCopyOption.ATOMIC_MOVE);
    sync(directory);
  }

  /** Syncs a file until a sync succeeds. */
  private static void retry(Path directory, String name, String text) throws IOException {
    Path file = directory.resolve(name);
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      channel.write(bytes(text));
      while (true) {
        try {
          System.out.println("syncing");
          channel.force(true);
          System.out.println("synced");
          sync(directory);
          return;
        } catch (IOException e) {
          System.out.println("failed: " + e.getMessage());
        }
      }
    }
  }

  private static void sync(Path directory) throws IOException {
    try (FileChannel names = FileChannel.open(directory, StandardOpenOption.READ)) {
      names.force(true);
    }
  }
}
