package dev.tollgate.samples.torture.disk;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;

/**
 * The directory of one process on a disk whose power can be cut, and whose syncs can be spoiled.
 * The process is started with {@link #environment}. Not thread-safe.
 */
public final class RecordedDisk {
  private static final List<String> COMPILERS = List.of("cc", "gcc", "clang");

  private final Path directory;
  private final Path journal;

  /** Where the journal is kept, for a reader, once the disk knows it. */
  private final Path read;

  private final Path control;
  private final Path library;
  private final Disk disk;
  private long slownessMillis;

  /**
   * @param directory is made if it is not there; what is in it counts as synced
   * @param beside the beginning of the path of the journal, which may not be in the directory
   * @param library as {@link #compile} has made it
   */
  public RecordedDisk(Path directory, Path beside, Path library) throws IOException {
    if (!Files.exists(directory)) {
      Files.createDirectory(directory, Disk.OWN_DIRECTORY);
    }
    this.directory = directory.toRealPath();
    this.journal = beside.resolveSibling(beside.getFileName() + ".journal").toAbsolutePath();
    this.read = journal.resolveSibling(journal.getFileName() + ".read");
    this.control = beside.resolveSibling(beside.getFileName() + ".control").toAbsolutePath();
    this.library = requireNonNull(library, "library").toAbsolutePath();
    this.disk = Disk.of(this.directory);
  }

  /** Why no disk can be recorded on this machine; empty if one can. */
  public static Optional<String> obstacle() {
    if (!System.getProperty("os.name", "").equals("Linux")) {
      return Optional.of("files are recorded with a preloaded library, on Linux alone");
    }
    return compiler().isPresent()
        ? Optional.empty()
        : Optional.of("no C compiler is installed (Debian: apt-get install gcc libc6-dev)");
  }

  private static Optional<Path> compiler() {
    List<String> path = List.of(System.getenv().getOrDefault("PATH", "").split(":", -1));
    return COMPILERS.stream()
        .flatMap(name -> path.stream().map(entry -> Path.of(entry).resolve(name)))
        .filter(Files::isExecutable)
        .findFirst();
  }

  /**
   * Compiles the library.
   *
   * @param source {@code recorded-disk.c}
   * @param directory where the library is put
   */
  public static Path compile(Path source, Path directory) throws IOException, InterruptedException {
    Path library = directory.resolve("recorded-disk.so");
    Process process =
        new ProcessBuilder(
                compiler().orElseThrow().toString(),
                "-std=gnu11",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-O2",
                "-shared",
                "-fPIC",
                "-pthread",
                "-o",
                library.toString(),
                source.toString())
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new IOException(source + " was not compiled: " + said);
    }
    return library;
  }

  /** The environment of a process that is recorded. */
  public Map<String, String> environment() {
    return Map.of(
        "LD_PRELOAD", library.toString(),
        "RECORDED_DISK", directory.toString(),
        "RECORDED_DISK_JOURNAL", journal.toString(),
        "RECORDED_DISK_CONTROL", control.toString());
  }

  /** Returns the files that are not as the journal has them, while no process runs. */
  public Set<String> differences() throws IOException {
    replay();
    return disk.differences(directory);
  }

  /**
   * Leaves in the directory what a disk may hold after its power is cut, while no process runs.
   *
   * @return what was done, for a reader
   */
  public String cut(Random random) throws IOException {
    replay();
    String done = disk.cut(random);
    disk.writeTo(directory);
    return done;
  }

  private void replay() throws IOException {
    if (Files.exists(journal)) {
      new DiskJournal(directory).replay(journal, disk);
      Files.move(journal, read, StandardCopyOption.REPLACE_EXISTING);
    }
  }

  /** Lets every sync wait until {@link #heal}. */
  public void hang() throws IOException {
    control("hang");
  }

  /** Lets the next sync fail, and no other. */
  public void failOnce() throws IOException {
    control("fail-once");
  }

  /** Makes every sync last longer from now on by this time, in place of another one. */
  public void slow(long millis) throws IOException {
    slownessMillis = millis;
    heal();
  }

  /** Ends {@link #hang} and {@link #failOnce}. */
  public void heal() throws IOException {
    if (slownessMillis == 0) {
      Files.deleteIfExists(control);
    } else {
      control("delay " + slownessMillis);
    }
  }

  private void control(String word) throws IOException {
    Path next = control.resolveSibling(control.getFileName() + ".next");
    Files.writeString(next, word + "\n");
    Files.move(next, control, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }
}
