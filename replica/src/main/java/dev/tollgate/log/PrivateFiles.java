package dev.tollgate.log;

import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Files and directories that only the user of this process may read. They have these rights from
 * the moment they exist: changing them later would leave a moment in which others can open them. On
 * a file system without POSIX rights they have what the file system gives.
 */
public final class PrivateFiles {
  private static final Set<PosixFilePermission> OF_FILES =
      PosixFilePermissions.fromString("rw-------");
  private static final Set<PosixFilePermission> OF_DIRECTORIES =
      PosixFilePermissions.fromString("rwx------");
  private static final FileAttribute<?>[] NONE = {};

  private PrivateFiles() {}

  /**
   * Opens an empty file for writing in place of a file of this name. The old file is removed and
   * not emptied, because others may have it open, or may have the right to open it.
   */
  public static FileChannel replace(Path file) throws IOException {
    if (Files.isDirectory(file, LinkOption.NOFOLLOW_LINKS)) {
      throw new FileSystemException(file.toString(), null, "Is a directory");
    }
    Files.deleteIfExists(file);
    return FileChannel.open(file, EnumSet.of(CREATE_NEW, WRITE), attributes(file, OF_FILES));
  }

  /** Opens a file for writing, and creates it with the rights of a private file if need be. */
  public static FileChannel open(Path file, Set<? extends OpenOption> options) throws IOException {
    return FileChannel.open(file, options, attributes(file, OF_FILES));
  }

  /** Creates a directory and those above it, if they do not exist. */
  public static void createDirectories(Path directory) throws IOException {
    Files.createDirectories(directory, attributes(directory, OF_DIRECTORIES));
  }

  /**
   * Returns the rights of a file or directory, such as {@code rwxr-x---}, if others than its owner
   * have any; else null.
   */
  public static @Nullable String rightsOfOthers(Path path) throws IOException {
    if (!isPosix(path)) {
      return null;
    }
    Set<PosixFilePermission> rights = EnumSet.copyOf(Files.getPosixFilePermissions(path));
    rights.removeAll(OF_DIRECTORIES);
    return rights.isEmpty()
        ? null
        : PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
  }

  private static FileAttribute<?>[] attributes(Path path, Set<PosixFilePermission> rights)
      throws IOException {
    return isPosix(path)
        ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(rights)}
        : NONE;
  }

  private static boolean isPosix(Path path) throws IOException {
    Path existing = path.toAbsolutePath();
    while (existing.getParent() != null && !Files.exists(existing)) {
      existing = existing.getParent();
    }
    return Files.getFileStore(existing).supportsFileAttributeView(PosixFileAttributeView.class);
  }
}
