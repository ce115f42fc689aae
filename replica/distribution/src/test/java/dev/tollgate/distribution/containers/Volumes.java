package dev.tollgate.distribution.containers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The directories that pods mount, with the owners and modes that a kubelet gives them. Needs root,
 * as a kubelet does.
 */
final class Volumes {
  /** Of a pod without fsGroup, whose volumes are as they come. */
  static final int NO_GROUP = -1;

  private static final int SET_GROUP = 02000;
  private static final int ENTERED_BY_GROUP = 0110;
  private static final int READ_BY_GROUP = 0440;
  private static final int WRITTEN_BY_GROUP = 0660;
  private static final int MODES = 07777;

  private final Path directory;

  Volumes(Path directory) {
    this.directory = directory;
  }

  /** A claim as its provisioner makes it: a new file system of root, with its own directory. */
  Path claim(String name, int group, boolean onlyOnMismatch) throws IOException {
    Path claim = ofClaim(name);
    if (!Files.exists(claim)) {
      Files.createDirectories(claim.resolve("lost+found"));
      mode(claim, 0755);
      mode(claim.resolve("lost+found"), 0700);
    }
    boolean same =
        (int) Files.getAttribute(claim, "unix:gid") == group
            && (mode(claim) & (SET_GROUP | WRITTEN_BY_GROUP)) == (SET_GROUP | WRITTEN_BY_GROUP);
    if (!onlyOnMismatch || !same) {
      giveToGroup(claim, group, WRITTEN_BY_GROUP);
    }
    return claim;
  }

  /** The directory of a claim, which a later pod with this claim gets anew if it is gone. */
  Path ofClaim(String name) {
    return directory.resolve("claims").resolve(name);
  }

  Path empty(String pod, String volume, int group) throws IOException {
    Path empty = ofPod(pod, volume);
    mode(empty, 0777);
    giveToGroup(empty, group, WRITTEN_BY_GROUP);
    return empty;
  }

  /** A secret as a kubelet writes it: files behind links that all change at once. */
  Path secret(String pod, String volume, Path secret, int fileMode, int group) throws IOException {
    Path mounted = ofPod(pod, volume);
    mode(mounted, 01777);
    updateSecret(mounted, secret, fileMode, group);
    return mounted;
  }

  void updateSecret(Path mounted, Path secret, int fileMode, int group) throws IOException {
    Path written = Files.createTempDirectory(mounted, "..2026_");
    mode(written, 0755);
    for (Path file : list(secret)) {
      String name = file.getFileName().toString();
      mode(Files.copy(file, written.resolve(name)), fileMode);
      Path link = mounted.resolve(name);
      if (!Files.isSymbolicLink(link)) {
        Files.createSymbolicLink(link, Path.of("..data", name));
      }
    }
    Path link = Files.createSymbolicLink(mounted.resolve("..data_tmp"), written.getFileName());
    Files.move(link, mounted.resolve("..data"), StandardCopyOption.ATOMIC_MOVE);
    giveToGroup(mounted, group, READ_BY_GROUP);
  }

  /** Files of several secrets in directories, behind links that all change at once. */
  Path projected(String pod, String volume, Map<String, Path> files, int fileMode, int group)
      throws IOException {
    Path mounted = ofPod(pod, volume);
    mode(mounted, 01777);
    Path written = Files.createTempDirectory(mounted, "..2026_");
    mode(written, 0755);
    for (Map.Entry<String, Path> file : files.entrySet()) {
      Path to = written.resolve(file.getKey());
      mode(Files.createDirectories(to.getParent()), 0755);
      mode(Files.copy(file.getValue(), to), fileMode);
    }
    Files.createSymbolicLink(mounted.resolve("..data"), written.getFileName());
    for (Path below : list(written)) {
      Files.createSymbolicLink(
          mounted.resolve(below.getFileName()), Path.of("..data", below.getFileName().toString()));
    }
    giveToGroup(mounted, group, READ_BY_GROUP);
    return mounted;
  }

  private Path ofPod(String pod, String volume) throws IOException {
    return Files.createDirectories(directory.resolve("pods").resolve(pod).resolve(volume));
  }

  /** What fsGroup does: the group of the pod gets everything, and everything that is made later. */
  private static void giveToGroup(Path volume, int group, int rights) throws IOException {
    if (group == NO_GROUP) {
      return;
    }
    try (Stream<Path> below = Files.walk(volume)) {
      for (Path path : below.toList()) {
        Files.setAttribute(path, "unix:gid", group, LinkOption.NOFOLLOW_LINKS);
        if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
          mode(path, mode(path) | rights | SET_GROUP | ENTERED_BY_GROUP);
        } else if (!Files.isSymbolicLink(path)) {
          mode(path, mode(path) | rights);
        }
      }
    }
  }

  private static int mode(Path path) throws IOException {
    return (int) Files.getAttribute(path, "unix:mode") & MODES;
  }

  private static void mode(Path path, int mode) throws IOException {
    Files.setAttribute(path, "unix:mode", mode);
  }

  private static List<Path> list(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.toList();
    }
  }

  /** Of a run before. */
  static void deleteAll(Path directory) throws IOException {
    if (Files.exists(directory)) {
      try (Stream<Path> below = Files.walk(directory)) {
        for (Path path : below.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(path);
        }
      }
    }
  }
}
