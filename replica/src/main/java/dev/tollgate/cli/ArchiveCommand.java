package dev.tollgate.cli;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/**
 * Loads the classes of a node at work and of a client. {@code bin/tollgate archive} runs this in a
 * JVM that writes an archive of its classes when it ends, from which later JVMs start faster.
 */
@Command(
    name = "archive",
    description = "Writes the archive of classes from which nodes and commands start faster.",
    hidden = true,
    mixinStandardHelpOptions = true)
final class ArchiveCommand implements Callable<Integer> {
  /** Enough for each kind of statement that a rehearsal has. */
  private static final long CYCLES = 50;

  private static final Duration LIMIT = Duration.ofSeconds(60);

  ArchiveCommand() {}

  @Override
  public Integer call() throws Exception {
    Path parent = Path.of(System.getProperty("java.io.tmpdir"));
    long cycles = new Rehearsal(parent, LIMIT, CYCLES, System::nanoTime).run();
    if (cycles < CYCLES) {
      System.err.println("tollgate: no archive of classes: the rehearsal took too long");
      return Main.FAILED;
    }
    return 0;
  }
}
