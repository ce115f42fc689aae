package dev.tollgate.cli;

import dev.tollgate.node.ConnectionSettings;
import java.time.Duration;
import picocli.CommandLine.Option;

/** What one connection or one user may take of a node, as options of {@code tollgate server}. */
final class ConnectionOptions {
  /** How options report what makes no sense. */
  interface Requirement {
    void require(boolean condition, String otherwise);
  }

  private static final int MOST_SECONDS = 3_600;
  private static final int MOST_MIB = 1_024;

  @Option(
      names = "--max-new-connections",
      defaultValue = "2000",
      description =
          "Connections that have not said hello yet. A further one closes the oldest of them."
              + " [TOLLGATE_MAX_NEW_CONNECTIONS]")
  private int strangers;

  @Option(
      names = "--silence-seconds",
      defaultValue = "10",
      description =
          "Seconds that a connection may take to say hello, and that it may stop within a request."
              + " [TOLLGATE_SILENCE_SECONDS]")
  private int silenceSeconds;

  @Option(
      names = "--max-connections-per-user",
      defaultValue = "0",
      description =
          "Connections of one user at a time; 0 for as many as --max-connections allows."
              + " [TOLLGATE_MAX_CONNECTIONS_PER_USER]")
  private int perUser;

  @Option(
      names = "--max-statements-per-second",
      defaultValue = "0",
      description =
          "Statements that one connection may send in a second, and in one burst; 0 for any number."
              + " [TOLLGATE_MAX_STATEMENTS_PER_SECOND]")
  private int statementsPerSecond;

  @Option(
      names = "--max-unread-mib",
      defaultValue = "48",
      description =
          "Mebibytes of answers that one client may leave unread before the node disconnects it."
              + " [TOLLGATE_MAX_UNREAD_MIB]")
  private int unreadMib;

  ConnectionOptions() {}

  /** Rejects settings that would fail later, and less clearly. */
  void requireSense(Requirement that) {
    that.require(strangers > 0, "--max-new-connections has to be more than 0: " + strangers);
    that.require(
        silenceSeconds > 0 && silenceSeconds <= MOST_SECONDS,
        "--silence-seconds is " + silenceSeconds + ": it has to be from 1 to " + MOST_SECONDS);
    that.require(perUser >= 0, "--max-connections-per-user cannot be less than 0: " + perUser);
    that.require(
        statementsPerSecond >= 0,
        "--max-statements-per-second cannot be less than 0: " + statementsPerSecond);
    that.require(
        unreadMib > 0 && unreadMib <= MOST_MIB,
        "--max-unread-mib is " + unreadMib + ": it has to be from 1 to " + MOST_MIB);
  }

  ConnectionSettings settings() {
    return new ConnectionSettings(
        strangers,
        Duration.ofSeconds(silenceSeconds),
        perUser,
        statementsPerSecond,
        (long) unreadMib << 20);
  }
}
