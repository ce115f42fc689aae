package dev.tollgate.distribution.containers;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The commands that docs/operations.md has for Kubernetes, run as they stand there. In place of
 * kubectl there is a script that keeps the files of secrets, and the manifests that are applied.
 */
final class DocumentedCommands {
  private static final Path PAGE = Path.of("..", "..", "docs", "operations.md");
  private static final String HEADING = "### In Kubernetes";
  private static final String INDENT = "    ";

  private static final String KUBECTL =
      """
      #!/bin/sh
      set -eu
      case "$1 ${2:-} ${3:-}" in
        "create secret generic")
          secret=$KUBECTL_OBJECTS/secrets/$4
          mkdir -p "$secret"
          shift 4
          for option; do
            file=${option#--from-file=}
            case $file in
              *=*) cp "${file#*=}" "$secret/${file%%=*}" ;;
              *) cp "$file" "$secret" ;;
            esac
          done
          ;;
        "apply -f "*) cp "$3" "$KUBECTL_OBJECTS/applied.yaml" ;;
        *)
          echo "kubectl $*: not known here" >&2
          exit 1
          ;;
      esac
      """;

  private final Path objects;

  /**
   * Runs the commands.
   *
   * @param home the unpacked archive, in which an operator runs them
   * @param password the file that the page takes for granted
   */
  DocumentedCommands(Path directory, Path home, String password)
      throws IOException, InterruptedException {
    this.objects = Files.createDirectories(directory.resolve("objects"));
    Path programs = Files.createDirectories(directory.resolve("programs"));
    Path kubectl = Files.writeString(programs.resolve("kubectl"), KUBECTL);
    Files.setPosixFilePermissions(kubectl, PosixFilePermissions.fromString("rwxr-xr-x"));
    Path work = Files.createDirectories(directory.resolve("work"));
    Files.createSymbolicLink(work.resolve("kubernetes"), home.resolve("kubernetes"));
    Files.writeString(work.resolve("admin.password"), password + "\n");
    Path out = directory.resolve("commands.out");
    ProcessBuilder shell =
        new ProcessBuilder("sh", "-eu", "-c", commands())
            .directory(work.toFile())
            .redirectErrorStream(true)
            .redirectOutput(out.toFile());
    Map<String, String> environment = shell.environment();
    environment.put("KUBECTL_OBJECTS", objects.toString());
    environment.put("JAVA_HOME", System.getProperty("java.home"));
    environment.put("PATH", programs + ":" + home.resolve("bin") + ":" + System.getenv("PATH"));
    Process process = shell.start();
    try {
      boolean ended = process.waitFor(2, TimeUnit.MINUTES);
      assertEquals("0", ended ? "" + process.exitValue() : "no end", () -> commands() + read(out));
    } finally {
      process.destroyForcibly();
    }
  }

  /** The first block of code below the heading. */
  private static String commands() {
    List<String> lines = read(PAGE).lines().toList();
    return lines.stream()
        .skip(lines.indexOf(HEADING))
        .dropWhile(line -> !line.startsWith(INDENT))
        .takeWhile(line -> line.startsWith(INDENT))
        .map(line -> line.substring(INDENT.length()))
        .collect(Collectors.joining("\n"));
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  Path applied() {
    return objects.resolve("applied.yaml");
  }

  /** The directories with the files of the secrets, by the names of the secrets. */
  Map<String, Path> secrets() throws IOException {
    Map<String, Path> secrets = new TreeMap<>();
    try (Stream<Path> found = Files.list(objects.resolve("secrets"))) {
      found.forEach(secret -> secrets.put(secret.getFileName().toString(), secret));
    }
    return secrets;
  }
}
