package dev.tollgate.samples.torture.disk;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/**
 * The content of a file as the process sees it, as it is on the disk for certain, and what was
 * changed in between. A sync that succeeds puts on the disk what was changed before it began. After
 * a sync that failed the pages count as clean (Linux since 4.13): a later sync reports success and
 * leaves them out, unless something is written to them again.
 */
final class StoredFile implements Disk.Entry {
  private byte[] now = new byte[0];
  private int size;
  private byte[] synced = new byte[0];
  private final List<Change> changes = new ArrayList<>();

  /**
   * A change that no sync covers.
   *
   * @param bytes what was written; empty if only the size changed
   * @param size the size after it
   * @param failed whether a sync of it has failed
   */
  @SuppressWarnings("ArrayRecordComponent") // nobody compares them
  private record Change(long time, int offset, byte[] bytes, int size, boolean failed) {
    int end() {
      return offset + bytes.length;
    }

    Change asFailed() {
      return new Change(time, offset, bytes, size, true);
    }

    Change part(int from, int to) {
      int begin = Math.max(from, offset);
      int end = Math.min(to, end());
      return new Change(
          time, begin, Arrays.copyOfRange(bytes, begin - offset, end - offset), size, failed);
    }
  }

  /** A file that is on the disk with this content. */
  static StoredFile onDisk(byte[] content) {
    StoredFile file = new StoredFile();
    file.now = content.clone();
    file.size = content.length;
    file.synced = content.clone();
    return file;
  }

  void write(long time, long offset, byte[] bytes) {
    int from = Math.toIntExact(offset);
    reserve(from + bytes.length);
    System.arraycopy(bytes, 0, now, from, bytes.length);
    size = Math.max(size, from + bytes.length);
    changes.add(new Change(time, from, bytes, size, false));
  }

  /** Makes the file longer by zeros, or shorter. */
  void resize(long time, long newSize) {
    int next = Math.toIntExact(newSize);
    byte[] cleared = new byte[Math.max(size - next, 0)];
    reserve(next);
    if (cleared.length > 0) {
      Arrays.fill(now, next, size, (byte) 0);
    }
    size = next;
    changes.add(new Change(time, next, cleared, next, false));
  }

  private void reserve(int length) {
    if (length > now.length) {
      now = Arrays.copyOf(now, Math.max(length, 2 * now.length));
    }
  }

  /** Puts on the disk what was changed until then. */
  void syncSucceeded(long began) {
    BitSet pages = new BitSet();
    int length = synced.length;
    for (Change change : changes) {
      if (change.time() <= began) {
        length = change.size();
        if (!change.failed() && change.bytes().length > 0) {
          pages.set(change.offset() / Cut.PAGE, (change.end() - 1) / Cut.PAGE + 1);
        }
      }
    }
    List<Change> left = new ArrayList<>();
    byte[] next = synced;
    for (Change change : changes) {
      if (change.time() > began) {
        left.add(change);
      } else if (!change.failed()) {
        next = applied(next, change);
      } else {
        for (int page = change.offset() / Cut.PAGE; page * Cut.PAGE < change.end(); page++) {
          Change part = change.part(page * Cut.PAGE, (page + 1) * Cut.PAGE);
          if (pages.get(page)) {
            next = applied(next, part);
          } else {
            left.add(part);
          }
        }
      }
    }
    synced = Arrays.copyOf(next, length);
    changes.clear();
    changes.addAll(left);
  }

  /** Marks what was changed until then: no sync covers it any more. */
  void syncFailed(long began) {
    changes.replaceAll(change -> change.time() <= began ? change.asFailed() : change);
  }

  private static byte[] applied(byte[] content, Change change) {
    byte[] longEnough =
        change.end() > content.length ? Arrays.copyOf(content, change.end()) : content;
    System.arraycopy(change.bytes(), 0, longEnough, change.offset(), change.bytes().length);
    return longEnough;
  }

  byte[] now() {
    return Arrays.copyOf(now, size);
  }

  /** The times of all changes that no sync covers, in order. */
  long[] times() {
    return changes.stream().mapToLong(Change::time).toArray();
  }

  /** Returns what the disk holds after this cut. */
  byte[] after(Cut cut) {
    if (changes.isEmpty()) {
      return synced.clone();
    }
    int unit = cut.unit();
    int end = changes.stream().mapToInt(Change::end).max().orElse(0);
    byte[] content = Arrays.copyOf(synced, Math.max(synced.length, end));
    for (int from = 0; from < end; from += unit) {
      List<Change> here = touching(from, from + unit);
      long[] times = here.stream().mapToLong(Change::time).toArray();
      for (Change kept : here.subList(0, cut.kept(times))) {
        Change part = kept.part(from, from + unit);
        System.arraycopy(part.bytes(), 0, content, part.offset(), part.bytes().length);
      }
    }
    int kept = cut.kept(times());
    return Arrays.copyOf(content, kept == 0 ? synced.length : changes.get(kept - 1).size());
  }

  private List<Change> touching(int from, int to) {
    return changes.stream().filter(change -> change.offset() < to && change.end() > from).toList();
  }
}
