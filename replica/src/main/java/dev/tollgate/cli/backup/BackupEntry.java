package dev.tollgate.cli.backup;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A backup that was written into a directory, and how to recognize it. A backup ends with a
 * checksum of all of its content, or with the tag of its last encrypted chunk, so a file of this
 * size with these last bytes is the file that was written.
 *
 * @param at when the backup was begun
 * @param lastBytes the last 32 bytes, in hexadecimal digits
 */
record BackupEntry(String name, Instant at, long sizeBytes, String lastBytes) {
  private static final int LAST_BYTES = 32;
  private static final Pattern NAME =
      Pattern.compile("tollgate-[0-9]{8}T[0-9]{6}Z(-[0-9]{1,3})?\\.backup");
  private static final Pattern LAST = Pattern.compile("[0-9a-f]{0,64}");

  BackupEntry {
    requireNonNull(name, "name");
    requireNonNull(at, "at");
    requireNonNull(lastBytes, "lastBytes");
  }

  /** True for the names of backups: a list that names any other file is not followed. */
  static boolean isName(String name) {
    return NAME.matcher(name).matches();
  }

  /** Describes a file under the name that it is to have. */
  static BackupEntry of(Path file, String name, Instant at) throws IOException {
    return new BackupEntry(name, at, Files.size(file), lastBytes(file));
  }

  private static String lastBytes(Path file) throws IOException {
    try (FileChannel in =
        FileChannel.open(file, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)) {
      ByteBuffer last = ByteBuffer.allocate((int) Math.min(LAST_BYTES, in.size()));
      long start = in.size() - last.capacity();
      while (last.hasRemaining() && in.read(last, start + last.position()) >= 0) {
        // goes on until it has all of them
      }
      return HexFormat.of().formatHex(last.array(), 0, last.position());
    }
  }

  /** True if the directory still has the file that was written. */
  boolean isIn(Path directory) throws IOException {
    Path file = directory.resolve(name);
    return Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
        && Files.size(file) == sizeBytes
        && lastBytes(file).equals(lastBytes);
  }

  String line() {
    return name + " " + at + " " + sizeBytes + " " + lastBytes;
  }

  /** Reads a {@link #line}; empty if it is none. */
  static Optional<BackupEntry> parse(String line) {
    String[] parts = line.split(" ", -1);
    if (parts.length != 4 || !isName(parts[0]) || !LAST.matcher(parts[3]).matches()) {
      return Optional.empty();
    }
    try {
      return Optional.of(
          new BackupEntry(parts[0], Instant.parse(parts[1]), Long.parseLong(parts[2]), parts[3]));
    } catch (DateTimeException | NumberFormatException e) {
      return Optional.empty();
    }
  }
}
