package dev.tollgate.samples.torture.history;

import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * A client's own record of what it does: lines of words with tabs between them. The journal
 * announces a call before the call begins, and records its end at once. Thread-safe.
 */
public final class Journal {
  static final String INVOKE = "invoke";
  static final String RETURN = "return";
  static final String STALL = "stall";

  private final String client;
  private final Consumer<String> lines;
  private final LongSupplier nanos;
  private int last;

  /**
   * @param nanos since the run began
   */
  public Journal(String client, Consumer<String> lines, LongSupplier nanos) {
    this.client = client;
    this.lines = lines;
    this.nanos = nanos;
  }

  /** Announces a call and returns its number. */
  public synchronized int invoke(Action action, String resource, long token, long sequence) {
    last++;
    line(INVOKE, last, action, resource, token, sequence, nanos.getAsLong());
    return last;
  }

  /** Records how a call ended. */
  public synchronized void returned(int number, Outcome outcome, long value, String state) {
    line(RETURN, number, outcome, value, state, nanos.getAsLong());
  }

  /** Records that this process did not run. */
  public synchronized void stalled(long fromNanos, long untilNanos) {
    line(STALL, fromNanos, untilNanos);
  }

  private void line(String what, Object... words) {
    StringBuilder line = new StringBuilder(what).append('\t').append(client);
    for (Object word : words) {
      line.append('\t').append(word);
    }
    lines.accept(line.toString());
  }
}
