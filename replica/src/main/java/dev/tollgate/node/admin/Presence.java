package dev.tollgate.node.admin;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/**
 * Whether there still is somebody for whom a request is carried out. A client that has closed its
 * connection, or the half of it on which it sends, is gone. One whose login has ended is told so.
 * Thread-safe.
 */
public final class Presence {
  private boolean gone;
  private @Nullable String loginEnd;
  private @Nullable Runnable listener;

  /** True if the client is gone, or its login has ended. */
  public synchronized boolean isGone() {
    return gone;
  }

  /** Why the login has ended, for the client; null if the client is there or has left. */
  public synchronized @Nullable String loginEnd() {
    return loginEnd;
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
    end(/* why= */ null);
  }

  /** The login of the client has ended. */
  public void endLogin(String why) {
    end(requireNonNull(why, "why"));
  }

  private void end(@Nullable String why) {
    Runnable told;
    synchronized (this) {
      if (!gone) {
        loginEnd = why;
      }
      gone = true;
      told = listener;
      listener = null;
    }
    if (told != null) {
      told.run();
    }
  }
}
