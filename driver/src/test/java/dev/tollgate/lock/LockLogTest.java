package dev.tollgate.lock;

import static org.junit.jupiter.api.Assertions.assertFalse;

import java.lang.System.Logger;
import java.util.ResourceBundle;
import org.junit.jupiter.api.Test;

class LockLogTest {
  /** As an appender whose disk is full. */
  private static final class Throwing implements Logger {
    @Override
    public String getName() {
      return "throwing";
    }

    @Override
    public boolean isLoggable(Level level) {
      throw new IllegalStateException("planted");
    }

    @Override
    public void log(Level level, ResourceBundle bundle, String text, Throwable thrown) {
      throw new StackOverflowError("planted");
    }

    @Override
    public void log(Level level, ResourceBundle bundle, String format, Object... values) {
      throw new IllegalStateException("planted");
    }
  }

  @Test
  void logThatThrowsIsNoFailureOfItsCaller() {
    Logger log = new LockLog(new Throwing());
    assertFalse(log.isLoggable(Logger.Level.ERROR));
    log.log(Logger.Level.ERROR, "text");
    log.log(Logger.Level.ERROR, "{0}", 1);
    log.log(Logger.Level.ERROR, () -> "text");
    log.log(Logger.Level.ERROR, "text", new IllegalStateException());
  }
}
