package dev.tollgate.cli.backup;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.DamagedFileException;
import dev.tollgate.log.WholeFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The file in a directory that says which backups were written into it, and so which files may be
 * deleted. Not thread-safe.
 */
final class BackupList {
  static final String NAME = "tollgate-backups.list";

  /** The most lines that are read; a longer file is not this list. */
  private static final int MOST_BYTES = 4 << 20;

  private static final String HEAD =
      "# What tollgate backup has written here. It deletes no other file. Do not edit.\n";
  private static final String UNFINISHED = "unfinished ";

  private final Path directory;
  private final List<BackupEntry> entries = new ArrayList<>();
  private @Nullable String unfinished;

  private BackupList(Path directory) {
    this.directory = requireNonNull(directory, "directory");
  }

  /**
   * Reads the list of a directory.
   *
   * @throws IOException if there is a file of its name that was not written as a list
   */
  static BackupList read(Path directory) throws IOException {
    BackupList list = new BackupList(directory);
    Path file = directory.resolve(NAME);
    if (Files.notExists(file, LinkOption.NOFOLLOW_LINKS)) {
      return list;
    }
    if (Files.size(file) > MOST_BYTES) {
      throw new IOException(file + " has more than " + MOST_BYTES + " bytes: it is no list");
    }
    int number = 0;
    for (String line : lines(file)) {
      number++;
      if (!line.startsWith("#") && !list.take(line)) {
        throw foreign("line " + number + " of " + file, null);
      }
    }
    return list;
  }

  private static List<String> lines(Path file) throws IOException {
    try {
      return WholeFile.read(file).lines().toList();
    } catch (DamagedFileException e) {
      throw foreign(file.toString(), e);
    }
  }

  private static IOException foreign(String what, @Nullable IOException cause) {
    return new IOException(
        what
            + " was not written by tollgate backup: remove the file; without it, the backups that"
            + " are there are kept for ever",
        cause);
  }

  private boolean take(String line) {
    if (line.startsWith(UNFINISHED)) {
      unfinished = line.substring(UNFINISHED.length());
      return unfinished.endsWith(BackupDirectory.PART)
          && BackupEntry.isName(
              unfinished.substring(0, unfinished.length() - BackupDirectory.PART.length()));
    }
    Optional<BackupEntry> entry = BackupEntry.parse(line);
    entry.ifPresent(entries::add);
    return entry.isPresent();
  }

  /** The backups, the first written first. */
  List<BackupEntry> entries() {
    return List.copyOf(entries);
  }

  /** The file that was begun and may not be complete, or null. */
  @Nullable String unfinished() {
    return unfinished;
  }

  void begin(String name) throws IOException {
    unfinished = name;
    write();
  }

  /**
   * Before the unfinished file gets the name of the entry: a file without an entry stays for ever.
   */
  void add(BackupEntry entry) throws IOException {
    entries.add(entry);
    write();
  }

  void finish() throws IOException {
    unfinished = null;
    write();
  }

  /** Does not write the list: it may name a file that is gone. */
  void remove(BackupEntry entry) {
    entries.remove(entry);
  }

  void write() throws IOException {
    StringBuilder text = new StringBuilder(HEAD);
    entries.forEach(entry -> text.append(entry.line()).append('\n'));
    if (unfinished != null) {
      text.append(UNFINISHED).append(unfinished).append('\n');
    }
    WholeFile.write(directory.resolve(NAME), text.toString());
  }
}
