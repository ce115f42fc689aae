package dev.tollgate.log.ratis;

import dev.tollgate.log.SyncedFiles;
import dev.tollgate.log.entry.CorruptLogException;
import dev.tollgate.log.snapshot.Snapshots;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The end of a log that was being written when its process was killed, or the power failed. Space
 * is reserved in the file, so what did not reach the disk is zeros: the end of an entry, or any
 * sector of it. Ratis 3.3.0 (SegmentedRaftLogReader) takes that for damage; it knows only files
 * that end within an entry. An entry that was never synced was never acknowledged, so it is cut
 * off, with all that follows. The same in an entry that was synced is damage.
 */
final class LogTail {
  private static final Logger LOG = LoggerFactory.getLogger(LogTail.class);

  /** What to do about files that other nodes have. */
  static final String RESEED =
      "Check the disk, and then seed the node anew from the leader, with `tollgate reseed`";

  private static final String OPEN_SEGMENT = "log_inprogress_";

  /** Stands for the last index of a segment that cannot be read; larger than any other. */
  private static final long DAMAGED = Long.MAX_VALUE;

  /** Where a segment is written again; Ratis reads no file of this name. */
  private static final String AGAIN = "tail.tmp";

  /** Then come entries: a varint length, the bytes, an i32 checksum of both. */
  private static final byte[] HEADER = "RaftLog1".getBytes(StandardCharsets.US_ASCII);

  /** The smallest part that a disk writes as a whole or not at all. */
  private static final int SECTOR_BYTES = 512;

  private static final int MOST_LENGTH_BYTES = 5;

  /** How the entries of a segment end. */
  enum End {
    WHOLE,

    /** The last entry has its first bytes alone. */
    SHORT,

    /** A sector of an entry was never written. */
    HOLE,

    /** What is there is not what was written. */
    CHANGED
  }

  /**
   * The whole entries at the beginning of a segment.
   *
   * @param bytes where the entries end
   */
  record Entries(int count, int bytes, End end) {
    boolean areWhole() {
      return end == End.WHOLE;
    }

    /**
     * @param first the index of the first entry
     * @param synced the last entry that is known to have been synced; empty if that is not known
     */
    boolean endBeforeTornOne(long first, OptionalLong synced) {
      return switch (end) {
        case WHOLE, CHANGED -> false;
        case SHORT -> synced.isEmpty() || first + count > synced.getAsLong();
        case HOLE -> synced.isPresent() && first + count > synced.getAsLong();
      };
    }
  }

  private LogTail() {}

  /**
   * Writes each segment that is not closed again, up to an entry that was not written as a whole
   * and never synced; leaves all other damage.
   *
   * @param synced the last entry that is known to have been synced; empty if that is not known
   * @throws CorruptLogException if the file ends within an entry that was synced
   */
  static void writeAgain(Path log, OptionalLong synced) throws IOException {
    for (Path segment : Snapshots.segments(log)) {
      if (isOpen(segment)) {
        writeSegmentAgain(segment, synced);
      }
    }
  }

  /**
   * Removes segments that a snapshot covers, and that Ratis 3.3.0 would not go on with: one that is
   * not closed and ends before the snapshot, with which the log would go on after the segment; and
   * those before a gap, which a node leaves that is killed while it removes them from the last to
   * the first.
   *
   * @param snapshot the last entry that the snapshot covers
   */
  static void removeCovered(Path log, long snapshot) throws IOException {
    NavigableMap<Long, Path> segments = new TreeMap<>();
    for (Path segment : Snapshots.segments(log)) {
      long last = lastIndexOf(segment);
      if (isOpen(segment) && last < snapshot) {
        remove(segment, last, snapshot);
      } else {
        segments.put(Snapshots.firstIndex(segment), segment);
      }
    }
    for (long first : segments.descendingKeySet()) {
      Map.Entry<Long, Path> before = segments.lowerEntry(first);
      if (before != null && lastIndexOf(before.getValue()) < first - 1 && first - 1 <= snapshot) {
        for (Path segment : segments.headMap(first).values()) {
          remove(segment, lastIndexOf(segment), snapshot);
        }
        return;
      }
    }
  }

  /** Removes all segments: the leader had another entry where a snapshot ends. */
  static void removeOverruled(Path log, long snapshot) throws IOException {
    LOG.warn("{}: the log is removed, because the leader has another entry {}", log, snapshot);
    List<Path> segments = new ArrayList<>(Snapshots.segments(log));
    segments.sort(Comparator.comparingLong(Snapshots::firstIndex).reversed());
    for (Path segment : segments) {
      Files.delete(segment);
    }
    SyncedFiles.sync(log);
  }

  private static void remove(Path segment, long last, long snapshot) throws IOException {
    LOG.warn(
        "{}: is removed, because it ends with entry {}, and the snapshot with entry {}",
        segment,
        last,
        snapshot);
    Files.delete(segment);
  }

  /** Takes an entry whose checksum fits. */
  interface Reader {
    void read(ByteBuffer entry) throws IOException;
  }

  /** Reads the whole entries at the beginning of a segment. */
  static Entries read(Path segment, Reader reader) throws IOException {
    try (FileChannel file = FileChannel.open(segment, StandardOpenOption.READ)) {
      return entries(file.map(FileChannel.MapMode.READ_ONLY, 0, file.size()), reader);
    }
  }

  /** Returns the last entry of a closed segment by its name; empty for an open one. */
  static OptionalLong lastByName(Path segment) {
    return isOpen(segment) ? OptionalLong.empty() : OptionalLong.of(lastOfName(segment));
  }

  /**
   * Returns the last entry of a log that may be torn; -1 if the log has none. What is beyond damage
   * in the open segment does not count.
   */
  static long lastEntryOf(Path log) throws IOException {
    long last = -1;
    for (Path segment : Files.isDirectory(log) ? Snapshots.segments(log) : List.<Path>of()) {
      long its =
          isOpen(segment)
              ? Snapshots.firstIndex(segment) + read(segment, entry -> {}).count() - 1
              : lastOfName(segment);
      last = Math.max(last, its);
    }
    return last;
  }

  private static long lastOfName(Path segment) {
    String name = segment.getFileName().toString();
    return Long.parseLong(name.substring(name.lastIndexOf('-') + 1));
  }

  private static boolean isOpen(Path segment) {
    return segment.getFileName().toString().startsWith(OPEN_SEGMENT);
  }

  private static long lastIndexOf(Path segment) throws IOException {
    if (!isOpen(segment)) {
      return lastOfName(segment);
    }
    Entries entries = read(segment, entry -> {});
    return entries.areWhole() ? Snapshots.firstIndex(segment) + entries.count - 1 : DAMAGED;
  }

  private static void writeSegmentAgain(Path segment, OptionalLong synced) throws IOException {
    Path again = segment.resolveSibling(AGAIN);
    try (FileChannel in = FileChannel.open(segment, StandardOpenOption.READ)) {
      MappedByteBuffer bytes = in.map(FileChannel.MapMode.READ_ONLY, 0, in.size());
      Entries entries = entries(bytes, entry -> {});
      bytes.clear();
      long first = Snapshots.firstIndex(segment);
      long next = first + entries.count;
      if (entries.endBeforeTornOne(first, synced)) {
        LOG.warn(
            "{}: entry {} at byte {} was not written as a whole. {}, so this one was not"
                + " acknowledged: the log is cut off there",
            segment,
            next,
            entries.bytes,
            synced.isPresent()
                ? "The last entry that was synced is " + synced.getAsLong()
                : "No entry was synced");
        bytes.limit(entries.bytes);
      } else if (entries.end == End.SHORT) {
        throw damaged(
            segment,
            "entry " + next + " at byte " + entries.bytes + " was synced, and is not whole");
      }
      // no transfer between files: some file systems would let both have the same blocks
      SyncedFiles.write(again, out -> SyncedFiles.write(out, bytes));
    }
    SyncedFiles.move(again, segment);
  }

  /** Says that a node does not start with a segment, and what to do. */
  static CorruptLogException damaged(Path segment, String how) {
    return new CorruptLogException(
        "its log is damaged in " + segment + " (" + how + "). " + RESEED);
  }

  private static Entries entries(MappedByteBuffer bytes, Reader reader) throws IOException {
    int end = endOfContent(bytes);
    End header = endOfHeader(bytes, end);
    if (header != End.WHOLE) {
      return new Entries(0, 0, header);
    }
    int begin = HEADER.length;
    for (int count = 0; ; count++) {
      if (begin >= end) {
        return new Entries(count, begin, End.WHOLE);
      }
      int checksum = placeOfChecksum(bytes, begin);
      if (checksum < 0 || bytes.getInt(checksum) != checksum(bytes, begin, checksum)) {
        return new Entries(count, begin, endAt(bytes, begin, checksum, end));
      }
      // the position is behind the length
      reader.read(bytes.duplicate().limit(checksum));
      begin = checksum + Integer.BYTES;
    }
  }

  /**
   * Returns what is wrong with the header. Ratis 3.3.0 (SegmentedRaftLogReader.verifyHeader) takes
   * one that ends with zeros for the header of a file without entries, and deletes the file.
   *
   * @param end the end of what is not zero
   */
  private static End endOfHeader(MappedByteBuffer bytes, int end) {
    int same = 0;
    while (same < HEADER.length && same < end && bytes.get(same) == HEADER[same]) {
      same++;
    }
    if (same == HEADER.length || same == end) {
      return End.WHOLE;
    }
    return isZero(bytes, 0, Math.min(SECTOR_BYTES, end)) ? End.HOLE : End.CHANGED;
  }

  /**
   * Returns what is wrong with the entry that begins here.
   *
   * @param checksum where its checksum is, or -1 if that is not in the file
   * @param end the end of what is not zero
   */
  private static End endAt(MappedByteBuffer bytes, int begin, int checksum, int end) {
    if (isWholeWithAnotherLength(bytes, begin)) {
      return End.CHANGED;
    }
    if (checksum < 0) {
      return End.SHORT;
    }
    if (checksum + Integer.BYTES >= end && isUnfinished(bytes, begin, checksum)) {
      return End.SHORT;
    }
    return hasHole(bytes, begin, checksum + Integer.BYTES) ? End.HOLE : End.CHANGED;
  }

  /**
   * True if the entry is whole, but one bit of its length was changed. A length that is too large
   * looks as if the entry had not been written to its end.
   */
  private static boolean isWholeWithAnotherLength(MappedByteBuffer bytes, int begin) {
    byte[] length = new byte[Math.min(MOST_LENGTH_BYTES, bytes.capacity() - begin)];
    bytes.get(begin, length);
    for (int bit = 0; bit < Byte.SIZE * length.length; bit++) {
      byte[] other = length.clone();
      other[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
      ByteBuffer read = ByteBuffer.wrap(other);
      long checksum = (long) varint(read) + begin + read.position();
      if (checksum >= begin + read.position()
          && checksum + Integer.BYTES <= bytes.capacity()
          && bytes.getInt((int) checksum)
              == checksum(
                  read.flip(),
                  bytes.duplicate().position(begin + read.limit()).limit((int) checksum))) {
        return true;
      }
    }
    return false;
  }

  /** True if the part of the entry in some sector is all zeros, as etcd asks (wal/decoder.go). */
  private static boolean hasHole(MappedByteBuffer bytes, int begin, int end) {
    if (bytes.get(begin) == 0) {
      // the length is in the sector that is missing
      return isZero(bytes, begin, Math.min(endOfSector(begin), bytes.capacity()));
    }
    for (int part = begin; part < end; part = endOfSector(part)) {
      if (isZero(bytes, part, Math.min(endOfSector(part), end))) {
        return true;
      }
    }
    return false;
  }

  private static int endOfSector(int place) {
    return place - place % SECTOR_BYTES + SECTOR_BYTES;
  }

  private static boolean isZero(MappedByteBuffer bytes, int from, int to) {
    for (int place = from; place < to; place++) {
      if (bytes.get(place) != 0) {
        return false;
      }
    }
    return true;
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
  private static int varint(ByteBuffer bytes) {
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
    return checksum(bytes.duplicate().position(from).limit(to));
  }

  private static int checksum(ByteBuffer... parts) {
    CRC32C checksum = new CRC32C();
    for (ByteBuffer part : parts) {
      checksum.update(part);
    }
    return (int) checksum.getValue();
  }
}
