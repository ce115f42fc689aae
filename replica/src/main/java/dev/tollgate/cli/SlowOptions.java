package dev.tollgate.cli;

import dev.tollgate.node.slow.SlowSettings;
import java.time.Duration;
import picocli.CommandLine.Option;

/** From when on a node reports that something takes long. */
final class SlowOptions {
  @Option(
      names = "--slow-statement",
      converter = TimeOrOff.class,
      paramLabel = "TIME|off",
      defaultValue = "1s",
      description =
          "Statements that take as long are in the log and in TOLLGATE.SLOW_STATEMENTS; waiting for"
              + " a lock that a statement asks for does not count. [TOLLGATE_SLOW_STATEMENT]")
  private Duration statement;

  @Option(
      names = "--slow-apply",
      converter = TimeOrOff.class,
      paramLabel = "TIME|off",
      defaultValue = "500ms",
      description =
          "Entries of the log that take as long to apply are in the log of the node and in"
              + " TOLLGATE.SLOW_APPLIES. [TOLLGATE_SLOW_APPLY]")
  private Duration apply;

  @Option(
      names = "--hold-warning",
      converter = TimeOrOff.class,
      paramLabel = "TIME|off",
      defaultValue = "1h",
      description =
          "Locks that are held as long are in the log of the leader, once for each hold, and in"
              + " TOLLGATE.STUCK_LOCKS. [TOLLGATE_HOLD_WARNING]")
  private Duration hold;

  @Option(
      names = "--wait-warning",
      converter = TimeOrOff.class,
      paramLabel = "TIME|off",
      defaultValue = "10m",
      description =
          "Locks for which a request waits as long are in the log of the leader, and the requests"
              + " in TOLLGATE.STUCK_LOCKS. [TOLLGATE_WAIT_WARNING]")
  private Duration waiting;

  SlowOptions() {}

  SlowSettings settings() {
    return new SlowSettings(statement, apply, hold, waiting);
  }
}
