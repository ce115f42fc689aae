package dev.tollgate.cli.lock;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The process of a command and all that it has started. A process whose parent has ended is found
 * by a mark in its environment, where the system shows environments in /proc; elsewhere only if it
 * was seen before. A process that has cleared its environment and left its parent is not found.
 */
final class CommandProcesses {
  /** The variable whose value is different in each run. */
  static final String MARK = "TOLLGATE_LOCK_RUN";

  private static final Path PROC = Path.of("/proc");

  private final Process command;
  private final byte[] mark;
  private final Set<ProcessHandle> known = new HashSet<>();

  CommandProcesses(Process command, String run) {
    this.command = requireNonNull(command, "command");
    this.mark = (MARK + "=" + run).getBytes(StandardCharsets.UTF_8);
  }

  /**
   * Those that have not ended, the command itself first: a command whose children are asked to end
   * before it may take that for the end of its work.
   */
  List<ProcessHandle> alive() {
    known.add(command.toHandle());
    for (ProcessHandle parent : Set.copyOf(known)) {
      parent.descendants().forEach(known::add);
    }
    addMarked();
    known.removeIf(process -> !process.isAlive() || isZombie(process));
    return known.stream()
        .sorted(
            Comparator.comparing((ProcessHandle process) -> process.pid() != command.pid())
                .thenComparing(ProcessHandle::pid))
        .toList();
  }

  private void addMarked() {
    try (DirectoryStream<Path> all = Files.newDirectoryStream(PROC, "[0-9]*")) {
      for (Path directory : all) {
        if (isMarked(directory.resolve("environ"))) {
          handle(directory).ifPresent(known::add);
        }
      }
    } catch (IOException e) {
      // this system has no /proc
    }
  }

  private static Optional<ProcessHandle> handle(Path directory) {
    return ProcessHandle.of(Long.parseLong(directory.getFileName().toString()));
  }

  private boolean isMarked(Path environ) {
    byte[] environment;
    try {
      environment = Files.readAllBytes(environ);
    } catch (IOException e) {
      // it has ended, or belongs to another user
      return false;
    }
    for (int start = 0; start < environment.length; ) {
      int end = start;
      while (end < environment.length && environment[end] != 0) {
        end++;
      }
      if (Arrays.equals(environment, start, end, mark, 0, mark.length)) {
        return true;
      }
      start = end + 1;
    }
    return false;
  }

  /** It has ended, and its parent has not asked how: nobody can end it once more. */
  private static boolean isZombie(ProcessHandle process) {
    try {
      String stat =
          Files.readString(
              PROC.resolve(Long.toString(process.pid())).resolve("stat"),
              StandardCharsets.ISO_8859_1);
      // the name of the program is in brackets, and may have any characters
      return stat.startsWith(" Z", stat.lastIndexOf(')') + 1);
    } catch (IOException e) {
      return false;
    }
  }

  static String describe(List<ProcessHandle> processes) {
    return processes.stream()
        .map(process -> Long.toString(process.pid()))
        .collect(Collectors.joining(", "));
  }
}
