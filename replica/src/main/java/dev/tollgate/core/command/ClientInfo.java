package dev.tollgate.core.command;

import static java.util.Objects.requireNonNull;

/**
 * The owner of a session, as the client describes itself: shown to operators, never trusted.
 *
 * @param application the URL property applicationName, or what the driver found instead
 * @param host the client's host name or address
 * @param process process id and start time of the client's JVM, which tell two processes of a host
 *     apart
 */
public record ClientInfo(String application, String host, String process) {
  public ClientInfo {
    requireShort("application", application);
    requireShort("host", host);
    requireShort("process", process);
  }

  /** True if both say that they are of the same process, whatever application they name. */
  public boolean isOfProcess(ClientInfo other) {
    return process.equals(other.process) && host.equals(other.host);
  }

  private static void requireShort(String what, String text) {
    requireNonNull(text, what);
    if (text.length() > Limits.DESCRIPTION_CHARS) {
      throw new IllegalArgumentException(what + " of " + text.length() + " characters");
    }
    Text.requireWellFormed(what, text);
  }
}
