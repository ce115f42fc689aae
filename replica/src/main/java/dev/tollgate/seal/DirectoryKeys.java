package dev.tollgate.seal;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;

/**
 * The data keys of a node, for one directory. What is sealed here is bound to the directory and to
 * its place in there, and cannot be opened anywhere else, not even with the same data key. With
 * keys, only what is sealed can be opened; without keys, only what is not. Thread-safe.
 */
public final class DirectoryKeys {
  private static final DirectoryKeys OFF = new DirectoryKeys(DataKeys.off(), "");

  private final DataKeys keys;
  private final String directory;

  /**
   * @param directory a name of the directory that no other directory has; ASCII
   */
  public DirectoryKeys(DataKeys keys, String directory) {
    this.keys = requireNonNull(keys, "keys");
    this.directory = requireNonNull(directory, "directory");
  }

  /** Returns the keys of a directory in which nothing is sealed. */
  public static DirectoryKeys off() {
    return OFF;
  }

  /** True if what is written there is sealed. */
  public boolean isOn() {
    return keys.isOn();
  }

  /** Returns the names of the keys; the first one seals. */
  public List<String> ids() {
    return keys.ids();
  }

  /**
   * Returns a stream that seals a file.
   *
   * @param out stays open
   * @param name of the file in its directory; ASCII
   */
  public ChunkOutput seal(OutputStream out, String name) throws IOException {
    return FileSeal.seal(out, keys, place(name));
  }

  /**
   * Opens a file for reading from its beginning.
   *
   * @param name under which it was sealed
   * @throws KeyMissingException if this process lacks the key
   * @throws NotEncryptedException if there are keys, and the file is not sealed
   * @throws AlteredException if the beginning is not what was sealed under that name; reading
   *     throws it later on
   */
  public InputStream open(Path file, String name) throws IOException {
    return FileSeal.open(file, keys, place(name));
  }

  /** Opens a file as {@link #open} does, for reading in any order. */
  public StoredFile openStored(Path file, String name) throws IOException {
    return StoredFile.open(file, keys, place(name));
  }

  /**
   * Seals an entry of the log.
   *
   * @throws IllegalStateException if there are no keys
   */
  public EntrySeal.Sealed sealEntry(long term, long index, byte[] plain) {
    return EntrySeal.seal(keys, directory, term, index, plain);
  }

  /**
   * Opens an entry of the log.
   *
   * @throws KeyMissingException if this process lacks the key
   * @throws AlteredException if this is not what was sealed here as that entry
   */
  public byte[] openEntry(long term, long index, byte[] sealed) throws IOException {
    return EntrySeal.open(keys, directory, term, index, sealed);
  }

  /** See {@link EntrySeal#requireKey}. */
  public String requireKeyOfEntry(long index, ByteBuffer sealed) throws IOException {
    return EntrySeal.requireKey(keys, index, sealed);
  }

  private String place(String name) {
    return directory + "/" + name;
  }

  /** The names of the keys alone. */
  @Override
  public String toString() {
    return keys.toString();
  }
}
