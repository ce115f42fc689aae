package dev.tollgate.cluster;

import static java.util.Objects.requireNonNull;

import java.io.File;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The class path of nodes, and an archive of the classes that a node loads, with which it starts
 * faster. After {@code mvn package}, both are those of {@code bin/tollgate}. Otherwise the first
 * test that needs the archive makes it, under target; those after it, in other processes too, share
 * it. A class path with directories, as in an IDE, can have no archive.
 */
final class ClassArchive {
  private static final long TRAINING_SECONDS = 120;
  private static final String MAIN = "dev/tollgate/cli/Main.class";

  /** What {@code mvn package} leaves beside the jar of the product. */
  private static final String PACKAGED = "tollgate.jsa";

  private static final ClassArchive INSTANCE = new ClassArchive();

  private final String classPath;
  private final List<String> options;

  private ClassArchive() {
    String given =
        System.getProperty("tollgate.server.classpath", System.getProperty("java.class.path"));
    List<Path> entries = entries(given);
    Path packaged = packaged(entries);
    if (entries.stream().anyMatch(entry -> Files.exists(entry.resolve(MAIN)))) {
      classPath = given;
      options = List.of();
    } else if (packaged != null) {
      // as bin/tollgate names it: an archive is of one class path
      classPath = packaged + File.pathSeparator + packaged.resolveSibling("lib").resolve("*");
      options = options(packaged.resolveSibling(PACKAGED));
    } else {
      List<Path> jars = entries.stream().filter(Files::isRegularFile).toList();
      classPath = jars.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
      try {
        options = options(archive(jars));
      } catch (IOException e) {
        throw new IllegalStateException("no archive of classes could be made", e);
      }
    }
  }

  private static List<String> options(Path archive) {
    // standard output belongs to what a node says
    return List.of("-XX:SharedArchiveFile=" + archive, "-Xlog:disable", "-Xlog:all=warning:stderr");
  }

  /** The jar of the product, if an archive is beside it; or null. */
  private static @Nullable Path packaged(List<Path> entries) {
    return entries.stream()
        .filter(entry -> entry.getFileName().toString().startsWith("tollgate-replica-"))
        .filter(entry -> !entry.getFileName().toString().endsWith("-tests.jar"))
        .filter(entry -> Files.isRegularFile(entry.resolveSibling(PACKAGED)))
        .filter(entry -> Files.isDirectory(entry.resolveSibling("lib")))
        .map(Path::toAbsolutePath)
        .map(Path::normalize)
        .findFirst()
        .orElse(null);
  }

  /** An archive has to know the jars of {@code lib/*}, which java would find by itself. */
  private static List<Path> entries(String classPath) {
    List<Path> entries = new ArrayList<>();
    for (Path entry : Stream.of(classPath.split(File.pathSeparator)).map(Path::of).toList()) {
      if (entry.endsWith("*")) {
        File[] jars = entry.getParent().toFile().listFiles((in, name) -> name.endsWith(".jar"));
        Stream.of(requireNonNull(jars, classPath)).sorted().map(File::toPath).forEach(entries::add);
      } else {
        entries.add(entry);
      }
    }
    return entries;
  }

  /** For {@code java}, up to the name of the main class. */
  static List<String> options() {
    return Stream.concat(INSTANCE.options.stream(), Stream.of("-cp", INSTANCE.classPath)).toList();
  }

  @SuppressWarnings("try") // the lock is there to be held
  private Path archive(List<Path> jars) throws IOException {
    Path archive = Path.of("target", "nodes-" + fingerprint(jars) + ".jsa").toAbsolutePath();
    Path lock = archive.resolveSibling(archive.getFileName() + ".lock");
    try (FileChannel channel =
            FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        FileLock held = channel.lock()) {
      if (!Files.exists(archive)) {
        Path unfinished = archive.resolveSibling(archive.getFileName() + ".new");
        train(unfinished);
        Files.move(unfinished, archive, StandardCopyOption.ATOMIC_MOVE);
      }
      return archive;
    }
  }

  /** An archive is of one version of Java and of each jar. */
  private static UUID fingerprint(List<Path> jars) throws IOException {
    StringBuilder versions = new StringBuilder(System.getProperty("java.vm.version"));
    for (Path jar : jars) {
      versions
          .append('\n')
          .append(jar)
          .append(Files.size(jar))
          .append(Files.getLastModifiedTime(jar));
    }
    return UUID.nameUUIDFromBytes(versions.toString().getBytes(StandardCharsets.UTF_8));
  }

  /** Writes the archive as packages do: after a rehearsal, which has leaders and followers. */
  private void train(Path archive) throws IOException {
    Path output = archive.resolveSibling(archive.getFileName() + ".out");
    List<String> command = new ArrayList<>(NodeProcess.JVM);
    command.addAll(
        List.of(
            "-XX:ArchiveClassesAtExit=" + archive,
            "-Xlog:disable",
            "-Xlog:all=error:stderr",
            "-cp",
            classPath,
            "dev.tollgate.cli.Main",
            "archive"));
    try {
      Process rehearsal =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(output.toFile())
              .start();
      boolean ended = rehearsal.waitFor(TRAINING_SECONDS, TimeUnit.SECONDS);
      if (!ended || rehearsal.exitValue() != 0 || !Files.exists(archive)) {
        rehearsal.destroyForcibly();
        throw new IOException(Files.readString(output));
      }
      Files.delete(output);
    } catch (InterruptedException e) {
      throw new IOException("told to end", e);
    }
  }
}
