package dev.tollgate.log.entry;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls those who only want to hear of something: one that fails has a bug, but neither the others
 * nor the thread that applies the log may suffer from it. An error that says that the process
 * itself is broken ends the node; a client that makes a listener recurse too deep does not.
 */
public final class Callbacks {
  private static final Logger LOG = LoggerFactory.getLogger(Callbacks.class);

  private Callbacks() {}

  /**
   * Tells one listener.
   *
   * @param whose for the line in the log if it fails
   */
  public static void tell(String whose, Runnable message) {
    try {
      message.run();
    } catch (RuntimeException | StackOverflowError e) {
      LOG.error("the listener of {} failed", whose, e);
    }
  }
}
