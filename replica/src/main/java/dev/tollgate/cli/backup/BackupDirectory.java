package dev.tollgate.cli.backup;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.PrivateFiles;
import dev.tollgate.log.SyncedFiles;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A directory with backups of which the newest are kept. Deletes only files that it has written and
 * that nobody has changed since. One process at a time has a directory open. Thread-safe as far as
 * {@link #giveUp} may be called at any time; all else is for one thread.
 */
public final class BackupDirectory implements AutoCloseable {
  /** The most backups that a directory keeps. */
  public static final int MOST_KEPT = 10_000;

  /** How many old backups may resist deletion before no new ones are written. */
  static final int MOST_UNDELETABLE = 100;

  static final String PART = ".part";

  private static final String LOCK = "tollgate-backups.lock";
  private static final int MOST_NAMES_A_SECOND = 999;
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'", Locale.ROOT).withZone(ZoneOffset.UTC);

  private final Path directory;
  private final int keep;
  private final PrintStream err;
  private final FileChannel lock;
  private final BackupList list;
  private int undeletable;
  private volatile @Nullable Path writing;

  private BackupDirectory(
      Path directory, int keep, PrintStream err, FileChannel lock, BackupList list) {
    this.directory = requireNonNull(directory, "directory");
    this.keep = keep;
    this.err = requireNonNull(err, "err");
    this.lock = requireNonNull(lock, "lock");
    this.list = requireNonNull(list, "list");
  }

  /**
   * Opens a directory, and removes what an earlier process has left unfinished there.
   *
   * @param keep how many backups to keep
   * @param err gets a line for what an operator has to know
   * @throws IOException if the directory does not exist, or another process has it open
   */
  public static BackupDirectory open(Path directory, int keep, PrintStream err) throws IOException {
    if (keep < 1 || keep > MOST_KEPT) {
      throw new IllegalArgumentException("keep: " + keep);
    }
    if (!Files.isDirectory(directory)) {
      // not created: it may be where a disk is to be mounted
      throw new NotDirectoryException(directory + " is no directory: create it first");
    }
    FileChannel lock =
        PrivateFiles.open(
            directory.resolve(LOCK), Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE));
    try {
      if (!isFree(lock)) {
        throw new IOException("another tollgate backup writes into " + directory);
      }
      BackupDirectory opened =
          new BackupDirectory(directory, keep, err, lock, BackupList.read(directory));
      opened.tidy();
      return opened;
    } catch (IOException | RuntimeException e) {
      lock.close();
      throw e;
    }
  }

  private static boolean isFree(FileChannel channel) throws IOException {
    try {
      FileLock held = channel.tryLock();
      return held != null;
    } catch (OverlappingFileLockException e) {
      return false;
    }
  }

  private void tidy() throws IOException {
    String left = list.unfinished();
    if (left != null) {
      Files.deleteIfExists(directory.resolve(left));
      list.finish();
    }
    forgetMissing();
  }

  private void forgetMissing() {
    for (BackupEntry entry : list.entries()) {
      if (Files.notExists(directory.resolve(entry.name()), LinkOption.NOFOLLOW_LINKS)) {
        list.remove(entry);
      }
    }
  }

  /** When the newest backup that is there was begun. */
  public Optional<Instant> newest() {
    List<BackupEntry> entries = list.entries();
    return entries.isEmpty() ? Optional.empty() : Optional.of(entries.get(entries.size() - 1).at());
  }

  /**
   * Writes a backup under a name of its own, and then deletes the oldest backups beyond those to
   * keep. A backup that fails deletes nothing.
   *
   * @param now when the backup begins
   * @return what was written, in words
   */
  public String add(BackupSource source, Instant now) throws IOException {
    if (undeletable >= MOST_UNDELETABLE) {
      throw new IOException(undeletable + " old backups in " + directory + " cannot be deleted");
    }
    String name = freeName(now);
    Path file = directory.resolve(name);
    Path part = directory.resolve(name + PART);
    list.begin(name + PART);
    writing = part;
    String what;
    try {
      what = source.write(part);
      list.add(BackupEntry.of(part, name, now));
      SyncedFiles.move(part, file);
    } finally {
      giveUp();
      writing = null;
      forgetMissing();
      list.finish();
    }
    prune();
    return file + ": " + what;
  }

  /** Deletes the file that is being written, if there is one. */
  public void giveUp() {
    Path part = writing;
    try {
      if (part != null) {
        Files.deleteIfExists(part);
      }
    } catch (IOException e) {
      err.println("tollgate backup: " + part + " is left behind: " + e);
    }
  }

  private String freeName(Instant now) throws IOException {
    String start = "tollgate-" + TIME.format(now);
    for (int i = 1; i <= MOST_NAMES_A_SECOND; i++) {
      String name = start + (i == 1 ? "" : "-" + i) + ".backup";
      if (isFree(name) && isFree(name + PART)) {
        return name;
      }
    }
    throw new IOException(directory + " has " + MOST_NAMES_A_SECOND + " files named " + start);
  }

  private boolean isFree(String name) {
    return Files.notExists(directory.resolve(name), LinkOption.NOFOLLOW_LINKS)
        && list.entries().stream().noneMatch(entry -> entry.name().equals(name));
  }

  private void prune() throws IOException {
    List<BackupEntry> entries = list.entries();
    int surplus = Math.max(0, entries.size() - keep);
    undeletable = 0;
    for (BackupEntry old : entries.subList(0, surplus)) {
      if (delete(old)) {
        list.remove(old);
      } else {
        undeletable++;
      }
    }
    if (surplus > undeletable) {
      list.write();
    }
  }

  /** Returns true if the entry is no longer one of a backup of ours. */
  private boolean delete(BackupEntry entry) {
    Path file = directory.resolve(entry.name());
    try {
      if (entry.isIn(directory)) {
        Files.deleteIfExists(file);
      } else if (!Files.notExists(file, LinkOption.NOFOLLOW_LINKS)) {
        err.println(
            "tollgate backup: " + file + " is not the file that was written: it is kept for ever");
      }
      return true;
    } catch (IOException e) {
      err.println("tollgate backup: the old backup " + file + " cannot be deleted: " + e);
      return false;
    }
  }

  /** Lets another process have the directory. */
  @Override
  public void close() throws IOException {
    lock.close();
  }
}
