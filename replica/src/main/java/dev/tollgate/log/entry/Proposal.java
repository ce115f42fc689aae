package dev.tollgate.log.entry;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Outcome;
import java.util.concurrent.atomic.AtomicBoolean;

/** A command on its way into the log of this node, and the listener for its outcome. */
public final class Proposal {
  private final byte[] encoded;
  private final Listener listener;
  private final AtomicBoolean answered = new AtomicBoolean();

  /** Receives exactly one of three calls, from the apply thread or any other. Must not block. */
  public interface Listener {
    /** This node has applied the command. */
    void applied(Outcome outcome);

    /**
     * This node does not lead, or lost leadership before it could tell: the command may have been
     * applied or may yet be, or neither.
     */
    void unknown();

    /**
     * The command was not proposed, and will not be.
     *
     * @param why names the limit that was reached
     */
    public default void refused(String why) {
      unknown();
    }

    /**
     * The command was not proposed, because the cluster's feature level does not allow it yet.
     *
     * @param why names the level
     */
    public default void notYet(String why) {
      refused(why);
    }

    /** The listener for a command that no client waits for. */
    Listener NOBODY =
        new Listener() {
          @Override
          public void applied(Outcome outcome) {}

          @Override
          public void unknown() {}
        };
  }

  /**
   * @param encoded the command as it will stand in the entry
   */
  public Proposal(byte[] encoded, Listener listener) {
    this.encoded = requireNonNull(encoded, "encoded");
    this.listener = requireNonNull(listener, "listener");
  }

  public byte[] encoded() {
    return encoded;
  }

  /** Tells the listener what became of the command, unless it was told something before. */
  public void applied(Outcome outcome) {
    tell(() -> listener.applied(outcome));
  }

  public void unknown() {
    tell(listener::unknown);
  }

  public void refused(String why) {
    tell(() -> listener.refused(why));
  }

  public void notYet(String why) {
    tell(() -> listener.notYet(why));
  }

  /** A listener that fails has a bug, but it must not keep the others from being told. */
  private void tell(Runnable message) {
    if (answered.compareAndSet(false, true)) {
      Callbacks.tell("a command", message);
    }
  }
}
