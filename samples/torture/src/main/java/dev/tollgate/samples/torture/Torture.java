package dev.tollgate.samples.torture;

import dev.tollgate.samples.torture.history.Rule;
import dev.tollgate.samples.torture.history.Violation;
import dev.tollgate.samples.torture.report.Report;
import dev.tollgate.samples.torture.report.Summary;
import dev.tollgate.samples.torture.report.Tale;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine;

/**
 * Starts nodes and clients, injects faults, and reports whether Tollgate kept all promises. The
 * exit status is 0 only if it kept all promises, 1 if it broke one, 2 if the command line is wrong.
 */
public final class Torture implements Callable<Integer> {
  private final Options options;
  private final PrintStream out;

  private Torture(Options options, PrintStream out) {
    this.options = options;
    this.out = out;
  }

  /** Ends the virtual machine and everything that it started, also on Control-C. */
  public static void main(String[] arguments) {
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () ->
                    ProcessHandle.current().descendants().forEach(ProcessHandle::destroyForcibly)));
    System.exit(run(System.out, arguments));
  }

  /** Runs the program and returns its exit status. */
  static int run(PrintStream out, String... arguments) {
    Options options = new Options();
    CommandLine commandLine = new CommandLine(options);
    commandLine.setExecutionStrategy(
        parsed -> {
          Integer helped = CommandLine.executeHelpRequest(parsed);
          if (helped != null) {
            return helped;
          }
          try {
            return new Torture(options, out).call();
          } catch (Exception e) {
            throw new CommandLine.ExecutionException(commandLine, e.toString(), e);
          }
        });
    return commandLine.execute(arguments);
  }

  @Override
  public Integer call() throws Exception {
    Path directory =
        options.keep().isPresent()
            ? Files.createDirectories(options.keep().get()).toAbsolutePath()
            : Files.createTempDirectory("tollgate-torture");
    out.printf("%s%n", options.command());
    Tale tale;
    try {
      tale = new Run(options, directory, out).call();
    } catch (Exception e) {
      out.printf("The run itself failed; what nodes and clients said is in %s%n", directory);
      throw e;
    }
    if (options.report().isPresent()) {
      Files.writeString(options.report().get(), Report.svg(tale));
    }
    out.printf("%n%s", Summary.of(tale).text());
    for (Violation violation : tale.violations()) {
      out.printf(
          "VIOLATION at %.3f s: %s: %s%n",
          violation.atNanos() / 1e9, violation.rule().promise(), violation.text());
    }
    options.report().ifPresent(file -> out.printf("%nThe run as a picture: %s%n", file));
    boolean held = tale.violations().isEmpty();
    if (!held || options.keep().isPresent()) {
      out.printf("Logs, data and history are in %s%n", directory);
    } else {
      delete(directory);
    }
    out.printf(
        held ? "%nAll %d promises held.%n" : "%nNot all of the %d promises held.%n",
        Rule.of(tale.evidence()).size());
    return held ? 0 : 1;
  }

  private static void delete(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }
}
