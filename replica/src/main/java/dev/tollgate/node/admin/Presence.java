package dev.tollgate.node.admin;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/**
 * Whether the client of a request still waits for the answer. A client that has closed its
 * connection, or the half of it on which it sends, is gone. Thread-safe.
 */
public final class Presence {
  private boolean gone;
  private @Nullable Runnable listener;

  public synchronized boolean isGone() {
    return gone;
  }

  /**
   * Has the departure of the client told to one listener, in place of any earlier one; at once if
   * the client is gone.
   *
   * @param listener called at most once, by any thread; must not wait
   */
  public void whenGone(Runnable listener) {
    requireNonNull(listener, "listener");
    synchronized (this) {
      if (!gone) {
        this.listener = listener;
        return;
      }
    }
    listener.run();
  }

  /** The client is gone. */
  public void leave() {
    Runnable told;
    synchronized (this) {
      gone = true;
      told = listener;
      listener = null;
    }
    if (told != null) {
      told.run();
    }
  }
}
