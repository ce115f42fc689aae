package dev.tollgate.log.ratis;

import dev.tollgate.log.PrivateFiles;
import dev.tollgate.log.snapshot.Snapshots;
import java.io.IOException;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32C;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The end of a log that was being written when its process was killed. Space is reserved in the
 * file, so the missing part of the last entry is zeros. Ratis 3.3.0 (SegmentedRaftLogReader) takes
 * that for damage; it knows only files that end within an entry. Such an entry was not synced yet,
 * so nobody has heard of it.
 */
final class LogTail {
  private static final Logger LOG = LoggerFactory.getLogger(LogTail.class);
  private static final String OPEN_SEGMENT = "log_inprogress_";

  /** Where a segment is written again; Ratis reads no file of this name. */
  private static final String AGAIN = "tail.tmp";

  /**
   * The length of "RaftLog1". Then come entries: a varint length, the bytes, an i32 checksum of
   * both.
   */
  private static final int HEADER_BYTES = 8;

  private LogTail() {}

  /**
   * Writes each segment that is not closed again, without an unfinished entry at its end; leaves
   * all other damage.
   */
  static void writeAgain(Path log) throws IOException {
    for (Path segment : Snapshots.segments(log)) {
      if (segment.getFileName().toString().startsWith(OPEN_SEGMENT)) {
        writeSegmentAgain(segment);
      }
    }
  }

  /**
   * Removes a segment that is not closed if a snapshot covers it and entries after it. Ratis
   * removes such a segment only if it is closed. With an open one, the log would go on with the
   * entry after the segment, and the leader sends the entry after the snapshot.
   *
   * @param snapshot the last entry that the snapshot covers
   */
  static void removeCovered(Path log, long snapshot) throws IOException {
    for (Path segment : Snapshots.segments(log)) {
      if (segment.getFileName().toString().startsWith(OPEN_SEGMENT)) {
        long last = lastIndexOfOpen(segment);
        if (last < snapshot) {
          LOG.warn(
              "{}: is removed, because it ends with entry {}, and the snapshot with entry {}",
              segment,
              last,
              snapshot);
          Files.delete(segment);
        }
      }
    }
  }

  /**
   * Returns the index of the last entry in the log, by the names of closed segments and the content
   * of an open one; -1 if there is none, and a large number if an entry is damaged.
   */
  static long lastIndex(Path log) throws IOException {
    long last = -1;
    for (Path segment : Snapshots.segments(log)) {
      String name = segment.getFileName().toString();
      last =
          Math.max(
              last,
              name.startsWith(OPEN_SEGMENT)
                  ? lastIndexOfOpen(segment)
                  : Long.parseLong(name.substring(name.lastIndexOf('-') + 1)));
    }
    return last;
  }

  private static long lastIndexOfOpen(Path segment) throws IOException {
    String name = segment.getFileName().toString();
    return Long.parseLong(name.substring(OPEN_SEGMENT.length())) + entries(segment) - 1;
  }

  /**
   * Returns how many entries a segment has, up to the end of its content; as many as there can be
   * if one of them is damaged, which Ratis says when it reads the log.
   */
  private static int entries(Path segment) throws IOException {
    try (FileChannel file = FileChannel.open(segment, StandardOpenOption.READ)) {
      MappedByteBuffer bytes = file.map(FileChannel.MapMode.READ_ONLY, 0, file.size());
      int end = endOfContent(bytes);
      int entries = 0;
      for (int begin = HEADER_BYTES; begin < end; entries++) {
        int checksum = placeOfChecksum(bytes, begin);
        if (checksum < 0 || bytes.getInt(checksum) != checksum(bytes, begin, checksum)) {
          return Integer.MAX_VALUE;
        }
        begin = checksum + Integer.BYTES;
      }
      return entries;
    }
  }

  private static void writeSegmentAgain(Path segment) throws IOException {
    Path again = segment.resolveSibling(AGAIN);
    try (FileChannel in = FileChannel.open(segment, StandardOpenOption.READ);
        FileChannel out = PrivateFiles.replace(again)) {
      MappedByteBuffer bytes = in.map(FileChannel.MapMode.READ_ONLY, 0, in.size());
      int unfinished = beginOfUnfinished(bytes);
      if (unfinished >= 0) {
        LOG.warn("{}: the unfinished entry at byte {} is cut off", segment, unfinished);
        bytes.limit(unfinished);
      }
      // no transfer between files: some file systems would let both have the same blocks
      bytes.position(0);
      while (bytes.hasRemaining()) {
        out.write(bytes);
      }
      out.force(true);
    }
    Files.move(again, segment, StandardCopyOption.ATOMIC_MOVE);
  }

  /**
   * Returns where the last entry begins if it is unfinished and followed only by zeros, else -1.
   */
  private static int beginOfUnfinished(MappedByteBuffer bytes) {
    int end = endOfContent(bytes);
    int begin = HEADER_BYTES;
    while (begin < end) {
      int checksum = placeOfChecksum(bytes, begin);
      if (checksum < 0) {
        return -1;
      }
      if (checksum + Integer.BYTES >= end) {
        return isUnfinished(bytes, begin, checksum) ? begin : -1;
      }
      begin = checksum + Integer.BYTES;
    }
    return -1;
  }

  /** Returns where the checksum of the entry is that begins here; -1 if that is not in the file. */
  private static int placeOfChecksum(MappedByteBuffer bytes, int begin) {
    bytes.position(begin);
    int length = varint(bytes);
    long checksum = (long) bytes.position() + length;
    return length < 0 || checksum + Integer.BYTES > bytes.capacity() ? -1 : (int) checksum;
  }

  private static int endOfContent(MappedByteBuffer bytes) {
    int end = bytes.capacity();
    while (end > 0 && bytes.get(end - 1) == 0) {
      end--;
    }
    return end;
  }

  /** Reads a length; returns -1 if there is none. */
  private static int varint(MappedByteBuffer bytes) {
    int value = 0;
    for (int shift = 0; shift < Integer.SIZE && bytes.hasRemaining(); shift += 7) {
      byte next = bytes.get();
      value |= (next & 0x7f) << shift;
      if (next >= 0) {
        return value;
      }
    }
    return -1;
  }

  /**
   * True if the checksum at {@code to} of the bytes before it is missing, or only its first bytes
   * are there.
   */
  private static boolean isUnfinished(MappedByteBuffer bytes, int from, int to) {
    int whole = checksum(bytes, from, to);
    int found = bytes.getInt(to);
    for (int there = 0; there < Integer.BYTES && found != whole; there++) {
      if (found == (int) (whole & (-1L << (Byte.SIZE * (Integer.BYTES - there))))) {
        return true;
      }
    }
    return false;
  }

  private static int checksum(MappedByteBuffer bytes, int from, int to) {
    CRC32C checksum = new CRC32C();
    checksum.update(bytes.duplicate().position(from).limit(to));
    return (int) checksum.getValue();
  }
}
