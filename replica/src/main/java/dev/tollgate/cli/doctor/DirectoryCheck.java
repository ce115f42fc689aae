package dev.tollgate.cli.doctor;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.PrivateFiles;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The directory of a node: who may enter it, what kind of file system it is on, its room. */
final class DirectoryCheck implements Check {
  private static final Set<String> OF_MEMORY = Set.of("tmpfs", "ramfs");
  private static final Set<String> OF_THE_NETWORK = Set.of("nfs", "nfs4", "cifs", "smb3", "9p");

  /** Snapshots that a node keeps, and the one that it is writing. */
  private static final int SNAPSHOTS = 3;

  /** What the log takes, as a multiple of the growth between two snapshots. */
  private static final int LOG_GROWTHS = 3;

  private static final long LEAST_BYTES = 64 << 20;

  private final Path data;
  private final long snapshotLogBytes;

  DirectoryCheck(Path data, long snapshotLogBytes) {
    this.data = requireNonNull(data, "data").toAbsolutePath();
    this.snapshotLogBytes = snapshotLogBytes;
  }

  /** The directory, or the nearest one above it in which it would be created. */
  static Path existing(Path data) {
    Path existing = data.toAbsolutePath();
    while (existing.getParent() != null && !Files.exists(existing)) {
      existing = existing.getParent();
    }
    return existing;
  }

  @Override
  public String subject() {
    return "directory";
  }

  @Override
  public List<Finding> run() throws IOException {
    Path existing = existing(data);
    if (!Files.isDirectory(existing)) {
      return List.of(
          Finding.fail(subject(), existing + " is no directory", "name another one in --data"));
    }
    if (!Files.isWritable(existing)) {
      return List.of(
          Finding.fail(
              subject(),
              System.getProperty("user.name") + " may not write into " + existing,
              "give the directory to the user that runs the node: chown"));
    }
    List<Finding> findings = new ArrayList<>();
    FileStore store = Files.getFileStore(existing);
    if (OF_MEMORY.contains(store.type())) {
      findings.add(
          Finding.warn(
              subject(),
              data + " is in memory (" + store.type() + "): nothing in it outlives the host",
              "put --data onto a disk"));
    } else if (OF_THE_NETWORK.contains(store.type())) {
      findings.add(
          Finding.warn(
              subject(),
              data + " is on a file system of the network (" + store.type() + ")",
              "put --data onto a disk of the host: each commit waits for it"));
    }
    String rights = existing.equals(data) ? PrivateFiles.rightsOfOthers(existing) : null;
    if (rights != null) {
      findings.add(
          Finding.warn(
              subject(),
              "others may enter " + data + " (" + rights + "), which has all data and all secrets",
              "chmod 700 " + data));
    }
    findings.add(room(store.getUsableSpace(), taken(data)));
    return findings;
  }

  /** What the directory has now, and what it would take if the snapshots stay as large. */
  record Taken(long bytes, long largestSnapshot) {}

  private static Taken taken(Path data) throws IOException {
    if (!Files.exists(data)) {
      return new Taken(0, 0);
    }
    Sizes sizes = new Sizes();
    Files.walkFileTree(data, sizes);
    return new Taken(sizes.bytes, sizes.largestSnapshot);
  }

  /** Adds the sizes of files up; a node that is at work deletes some meanwhile. */
  private static final class Sizes extends SimpleFileVisitor<Path> {
    private long bytes;
    private long largestSnapshot;

    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
      if (attributes.isRegularFile()) {
        bytes += attributes.size();
        Path parent = file.getParent();
        if (parent != null && parent.endsWith("sm")) {
          largestSnapshot = Math.max(largestSnapshot, attributes.size());
        }
      }
      return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
      if (e instanceof NoSuchFileException) {
        return FileVisitResult.CONTINUE;
      }
      throw e;
    }

    @Override
    public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException e)
        throws IOException {
      return e == null ? FileVisitResult.CONTINUE : visitFileFailed(directory, e);
    }
  }

  Finding room(long usableBytes, Taken taken) {
    long needed =
        Math.max(
            LEAST_BYTES,
            SNAPSHOTS * taken.largestSnapshot() + LOG_GROWTHS * snapshotLogBytes - taken.bytes());
    String fact =
        data
            + " has "
            + (usableBytes >> 20)
            + " MiB free, of which snapshots and log may take "
            + (needed >> 20);
    String advice = "make room: a node whose disk is full stops";
    if (usableBytes < LEAST_BYTES) {
      return Finding.fail(subject(), fact, advice);
    }
    return usableBytes < needed
        ? Finding.warn(subject(), fact, advice)
        : Finding.pass(subject(), fact);
  }
}
