package dev.tollgate.log.ratis;

import dev.tollgate.log.PrivateFiles;
import dev.tollgate.log.SyncedFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.OptionalLong;
import java.util.Set;
import java.util.zip.CRC32C;

/**
 * The last entry that is known to have been synced, in a file beside the log. It is written after
 * the sync that it tells of, and before anything follows from that sync. So a killed process leaves
 * exactly what it had synced. The file itself is synced from time to time, and a power cut leaves
 * what was written before: never too much. Not thread-safe, except {@link #sync}.
 */
final class SyncedIndex implements AutoCloseable {
  private static final String FILE = "synced";

  private final FileChannel file;
  private OptionalLong index;

  /** True if what was written since the last sync is not known to be on the disk. */
  private volatile boolean changed;

  private SyncedIndex(FileChannel file, OptionalLong index) {
    this.file = file;
    this.index = index;
  }

  /**
   * Opens the file, or creates an empty one.
   *
   * @param group the directory of the group
   */
  static SyncedIndex open(Path group) throws IOException {
    FileChannel file =
        PrivateFiles.open(
            group.resolve(FILE),
            Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE));
    ByteBuffer content = ByteBuffer.allocate(2 * Long.BYTES);
    file.read(content, 0);
    content.flip();
    boolean whole =
        content.limit() == content.capacity()
            && content.getLong(Long.BYTES) == checksum(content.getLong(0));
    return new SyncedIndex(
        file, whole ? OptionalLong.of(content.getLong(0)) : OptionalLong.empty());
  }

  /** Forgets the entry, because another log takes the place of this one. */
  static void remove(Path group) throws IOException {
    SyncedFiles.deleteIfExists(group.resolve(FILE));
  }

  /** Returns the entry; empty if it is not known, as with a new file. */
  OptionalLong get() {
    return index;
  }

  /** Writes another entry; synced if it is an earlier one, because the log was cut. */
  void set(long synced) throws IOException {
    if (index.isPresent() && index.getAsLong() == synced) {
      return;
    }
    ByteBuffer content = ByteBuffer.allocate(2 * Long.BYTES);
    content.putLong(synced).putLong(checksum(synced)).flip();
    // less than a sector, so it is written as a whole or not at all
    file.write(content, 0);
    changed = true;
    if (index.isEmpty() || synced < index.getAsLong()) {
      file.force(true);
    }
    index = OptionalLong.of(synced);
  }

  /** Syncs the file if it has changed. Any thread may call this, while another one writes. */
  void sync() throws IOException {
    if (changed) {
      changed = false;
      file.force(true);
    }
  }

  private static long checksum(long index) {
    CRC32C checksum = new CRC32C();
    checksum.update(ByteBuffer.allocate(Long.BYTES).putLong(index).flip());
    return checksum.getValue();
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
