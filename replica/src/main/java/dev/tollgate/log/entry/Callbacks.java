package dev.tollgate.log.entry;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notifies listeners. A listener that throws has a bug, but neither the other listeners nor the
 * apply thread may suffer from it. An error that shows that the process itself is broken ends the
 * node; a client that makes a listener recurse too deep does not.
 */
public final class Callbacks {
  private static final Logger LOG = LoggerFactory.getLogger(Callbacks.class);

  private Callbacks() {}

  /**
   * Notifies one listener.
   *
   * @param whose names the listener in the log line if it fails
   */
  public static void tell(String whose, Runnable message) {
    try {
      message.run();
    } catch (RuntimeException | StackOverflowError e) {
      LOG.error("the listener of {} failed", whose, LoggedError.of(e));
    }
  }
}
