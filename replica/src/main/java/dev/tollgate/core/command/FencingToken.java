package dev.tollgate.core.command;

/**
 * Proof of one grant of one lock. Tokens of one cluster strictly increase in grant order, forever
 * (invariant I2): a later holder's token is always higher.
 *
 * <p>The low {@value #COUNTER_BITS} bits count grants. The bits above hold the epoch, which a
 * restored backup raises so that no token is issued twice.
 */
public record FencingToken(long value) implements Comparable<FencingToken> {
  /**
   * 2^48 grants per epoch: 89 years at 100,000 grants a second. The bits above hold 32,767 epochs.
   */
  static final int COUNTER_BITS = 48;

  /** The highest possible epoch. */
  public static final int MAX_EPOCH = (1 << (Long.SIZE - 1 - COUNTER_BITS)) - 1;

  public FencingToken {
    if (value <= 0) {
      throw new IllegalArgumentException("fencing token: " + value);
    }
  }

  /** Returns the epoch of this counter value. */
  public static int epochOf(long counter) {
    return (int) (counter >>> COUNTER_BITS);
  }

  /** Returns the counter value at which an epoch begins, below all tokens of the epoch. */
  public static long startOf(int epoch) {
    if (epoch < 0 || epoch > MAX_EPOCH) {
      throw new IllegalArgumentException("epoch " + epoch + ": 0 to " + MAX_EPOCH);
    }
    return (long) epoch << COUNTER_BITS;
  }

  @Override
  public int compareTo(FencingToken other) {
    return Long.compare(value, other.value);
  }

  @Override
  public String toString() {
    return Long.toString(value);
  }
}
