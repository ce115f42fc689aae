package dev.tollgate.log.entry;

import java.sql.SQLException;
import java.time.DateTimeException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * An error as the log of a node may show it: with its classes and its stack, and without messages
 * that may quote statements or values. The client that sent these gets the message; the log is read
 * by others. Errors of databases and parsers quote what they could not work with, and so does an
 * error that wraps one of them.
 */
public final class LoggedError extends Exception {
  private static final long serialVersionUID = 1L;

  /** A chain of causes that is longer is a loop, or of no use. */
  private static final int MOST_CAUSES = 50;

  private static final List<String> QUOTING_PACKAGES =
      List.of("org.h2.", "org.apache.calcite.", "dev.tollgate.sql.", "org.locationtech.");

  private LoggedError(String message, StackTraceElement[] stack, @Nullable Throwable cause) {
    super(message, cause, /* enableSuppression= */ false, /* writableStackTrace= */ true);
    setStackTrace(stack);
  }

  /** Returns an error for the log: the same if nothing in it may quote values. */
  public static Throwable of(Throwable error) {
    List<Throwable> chain = chain(error);
    List<String> quoted = quoted(chain);
    if (quoted.isEmpty() && chain.stream().noneMatch(LoggedError::quotes)) {
      return error;
    }
    Deque<Throwable> outermostLast = new ArrayDeque<>();
    chain.forEach(outermostLast::push);
    Throwable shown = null;
    for (Throwable each : outermostLast) {
      shown = new LoggedError(text(each, quoted), each.getStackTrace(), shown);
    }
    return shown == null ? error : shown;
  }

  /** Returns the class of an error and its message, unless that may quote values. */
  public static String text(Throwable error) {
    return text(error, quoted(chain(error)));
  }

  private static String text(Throwable error, List<String> quoted) {
    String message = error.getMessage();
    String name = error.getClass().getName();
    if (message == null) {
      return name;
    }
    if (quotes(error) || quoted.stream().anyMatch(message::contains)) {
      return name + code(error) + ": (its message is not logged, as it may quote values)";
    }
    return name + ": " + message;
  }

  private static String code(Throwable error) {
    return error instanceof SQLException sql
        ? String.format(
            Locale.ROOT, " (SQLSTATE %s, error %d)", sql.getSQLState(), sql.getErrorCode())
        : "";
  }

  /** The messages that are withheld, and may be part of the messages of other errors. */
  private static List<String> quoted(List<Throwable> chain) {
    List<String> messages = new ArrayList<>();
    for (Throwable error : chain) {
      String message = error.getMessage();
      if (quotes(error) && message != null && !message.isEmpty()) {
        messages.add(message);
      }
    }
    return messages;
  }

  private static boolean quotes(Throwable error) {
    String name = error.getClass().getName();
    return error instanceof SQLException
        || error instanceof NumberFormatException
        || error instanceof DateTimeException
        || QUOTING_PACKAGES.stream().anyMatch(name::startsWith);
  }

  private static List<Throwable> chain(Throwable error) {
    List<Throwable> chain = new ArrayList<>();
    for (Throwable cause = error;
        cause != null && chain.size() < MOST_CAUSES;
        cause = cause.getCause()) {
      chain.add(cause);
    }
    return chain;
  }
}
