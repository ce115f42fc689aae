package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import java.util.ResourceBundle;
import org.jspecify.annotations.Nullable;

/**
 * The log of this package. What an application logs with is its code: a handler whose disk is full
 * may throw, and nobody must miss a loss because of that. So a call never throws.
 */
final class LockLog implements System.Logger {
  static final System.Logger LOG = new LockLog(System.getLogger("dev.tollgate.lock"));

  private final System.Logger log;

  LockLog(System.Logger log) {
    this.log = requireNonNull(log, "log");
  }

  @Override
  public String getName() {
    return "dev.tollgate.lock";
  }

  @Override
  public boolean isLoggable(Level level) {
    try {
      return log.isLoggable(level);
    } catch (Throwable e) {
      return false;
    }
  }

  @Override
  public void log(
      Level level, @Nullable ResourceBundle bundle, String text, @Nullable Throwable thrown) {
    try {
      log.log(level, bundle, text, thrown);
    } catch (Throwable e) {
      // there is nowhere to say so
    }
  }

  @Override
  public void log(
      Level level, @Nullable ResourceBundle bundle, String format, @Nullable Object... values) {
    try {
      log.log(level, bundle, format, values);
    } catch (Throwable e) {
      // there is nowhere to say so
    }
  }
}
