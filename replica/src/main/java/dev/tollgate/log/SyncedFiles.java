package dev.tollgate.log;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Changes of files that are on the disk when they return: contents, and names. A rename without a
 * sync of the directory may be undone by a power cut, and a file that was renamed without a sync of
 * its content may be empty. So files of a node are written and renamed here, and nowhere else
 * (ReplicaArchitectureTest).
 */
public final class SyncedFiles {
  private static final Logger LOG = LoggerFactory.getLogger(SyncedFiles.class);

  private SyncedFiles() {}

  /**
   * Writes the content of a file.
   *
   * @param <X> what that throws besides {@link IOException}
   */
  public interface Content<X extends Exception> {
    void writeTo(FileChannel out) throws IOException, X;
  }

  /**
   * Writes a private file, in place of any other of this name. What follows from the file needs its
   * final name: {@link #move}.
   *
   * @throws IOException if the disk may not have the content
   */
  public static <X extends Exception> void write(Path file, Content<X> content)
      throws IOException, X {
    try (FileChannel out = PrivateFiles.replace(file)) {
      content.writeTo(out);
      sync(file, out, /* metadata= */ true);
    }
  }

  /** Writes all of these bytes. */
  public static void write(FileChannel out, ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      out.write(bytes);
    }
  }

  /**
   * Writes the content of a file again, in place and in one sync. The content has the size of the
   * file, so the disk needs nothing but these bytes.
   *
   * @throws IOException if the disk may not have the content, or may have parts of it
   */
  public static void overwrite(Path file, ByteBuffer content) throws IOException {
    try (FileChannel out = FileChannel.open(file, StandardOpenOption.WRITE)) {
      write(out, content);
      sync(file, out, /* metadata= */ false);
    }
  }

  /** Cuts a file off. */
  public static void truncate(Path file, long size) throws IOException {
    try (FileChannel out = FileChannel.open(file, StandardOpenOption.WRITE)) {
      out.truncate(size);
      sync(file, out, /* metadata= */ true);
    }
  }

  /**
   * Renames a file that {@link #write} has written, in place of any other of that name, or a
   * directory with all that is in it.
   *
   * @throws IOException if the disk may not have it under the new name; it has it under one of both
   */
  public static void move(Path from, Path to) throws IOException {
    if (Files.isDirectory(from)) {
      syncAll(from, file -> true);
    }
    Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
    sync(directoryOf(to));
    if (!directoryOf(from).equals(directoryOf(to))) {
      sync(directoryOf(from));
    }
  }

  /** Moves files into a directory, and returns where they are now. */
  public static List<Path> moveInto(Path directory, List<Path> files) throws IOException {
    List<Path> moved = new ArrayList<>();
    Set<Path> changed = new LinkedHashSet<>(Set.of(directory));
    for (Path file : files) {
      Path target = directory.resolve(requireNonNull(file.getFileName()));
      Files.move(file, target, StandardCopyOption.ATOMIC_MOVE);
      moved.add(target);
      changed.add(directoryOf(file));
    }
    for (Path path : changed) {
      sync(path);
    }
    return moved;
  }

  /**
   * Renames each file of one directory, if it is there, to the name after its own; the last of them
   * is gone then.
   */
  public static void rotate(List<Path> names) throws IOException {
    for (int number = names.size() - 1; number > 0; number--) {
      Path from = names.get(number - 1);
      if (Files.exists(from)) {
        Files.move(from, names.get(number), StandardCopyOption.ATOMIC_MOVE);
      }
    }
    sync(directoryOf(names.get(0)));
  }

  /** Has the disk keep that a file has been created. */
  public static void syncNameOf(Path file) throws IOException {
    sync(directoryOf(file));
  }

  /** Creates a directory whose parent exists. */
  public static Path createDirectory(Path directory) throws IOException {
    Files.createDirectory(directory);
    sync(directoryOf(directory));
    return directory;
  }

  /** Deletes a file if it is there. */
  public static void deleteIfExists(Path file) throws IOException {
    if (Files.deleteIfExists(file)) {
      sync(directoryOf(file));
    }
  }

  /** Syncs the content of a file that others have written, or which files are in a directory. */
  public static void sync(Path path) throws IOException {
    try (FileChannel content = FileChannel.open(path, StandardOpenOption.READ)) {
      sync(path, content, /* metadata= */ true);
    }
  }

  /** Says so before it waits for the disk: the last line names the file that a disk hangs with. */
  private static void sync(Path path, FileChannel content, boolean metadata) throws IOException {
    LOG.debug("sync {}", path);
    content.force(metadata);
  }

  /** Syncs all of these files below a directory, and all their names. */
  public static void syncAll(Path directory, Predicate<Path> which) throws IOException {
    try (Stream<Path> all = Files.walk(directory, FileVisitOption.FOLLOW_LINKS)) {
      for (Path file : (Iterable<Path>) all.filter(which)::iterator) {
        sync(file);
      }
    }
  }

  private static Path directoryOf(Path path) {
    return requireNonNull(path.toAbsolutePath().getParent(), "no directory");
  }
}
