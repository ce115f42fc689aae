package dev.tollgate.cli;

import java.io.PrintWriter;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Shows who holds, who waits and what is slow, again and again. */
@Command(
    name = "top",
    description =
        "Shows nodes, locks, the longest waits and slow statements of a cluster, until Ctrl-C.",
    mixinStandardHelpOptions = true)
final class TopCommand implements Callable<Integer> {
  /** System property: true if standard output is a terminal, which Java cannot tell. */
  private static final String SCREEN = "tollgate.screen";

  private static final int MOST_ROWS = 1_000;
  private static final int MOST_SECONDS = 3_600;

  @Spec private CommandSpec spec;

  @Mixin private final ClusterOptions cluster = new ClusterOptions();

  @Option(
      names = "--every",
      paramLabel = "SECONDS",
      defaultValue = "2",
      description = "Seconds between two screens, 1 to 3600. (default: ${DEFAULT-VALUE})")
  private int seconds;

  @Option(
      names = "--rows",
      defaultValue = "10",
      description = "Most rows of each table, 1 to 1000. (default: ${DEFAULT-VALUE})")
  private int rows;

  @Option(
      names = "--once",
      description = "Print one screen and end: with 0, or with 1 if no node leads.")
  private boolean once;

  TopCommand() {}

  @Override
  public Integer call() throws InterruptedException {
    require(seconds >= 1 && seconds <= MOST_SECONDS, "--every", seconds, MOST_SECONDS);
    require(rows >= 1 && rows <= MOST_ROWS, "--rows", rows, MOST_ROWS);
    PrintWriter out = spec.commandLine().getOut();
    try (TopView view = new TopView(cluster.url(), cluster.properties(), rows)) {
      if (once) {
        TopView.Frame frame = view.frame();
        out.print(frame.text());
        out.flush();
        return frame.complete() ? 0 : Main.FAILED;
      }
      boolean terminal = Boolean.getBoolean(SCREEN);
      TopScreen screen = new TopScreen(terminal ? PlainOutput.screen() : out, terminal);
      Runtime.getRuntime().addShutdownHook(new Thread(screen::leave, "tollgate-top-end"));
      while (true) {
        screen.show(view.frame().text());
        TimeUnit.SECONDS.sleep(seconds);
      }
    }
  }

  private void require(boolean condition, String option, int value, int most) {
    if (!condition) {
      throw new ParameterException(
          spec.commandLine(), option + " is " + value + ": it has to be from 1 to " + most);
    }
  }
}
