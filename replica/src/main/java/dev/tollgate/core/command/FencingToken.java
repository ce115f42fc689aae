package dev.tollgate.core.command;

/**
 * Proof of one grant of one lock. Tokens of one cluster strictly increase in grant order, for ever
 * (invariant I2): a later holder's token is always the higher one.
 *
 * <p>The low {@value #COUNTER_BITS} bits count grants, the bits above hold the epoch, which a
 * restored backup raises so that no token is issued twice.
 */
public record FencingToken(long value) implements Comparable<FencingToken> {
  /** 2^48 grants per epoch: 89 years at 100,000 grants a second; 32,767 epochs fit above them. */
  static final int COUNTER_BITS = 48;

  /** The highest epoch there can be. */
  public static final int MAX_EPOCH = (1 << (Long.SIZE - 1 - COUNTER_BITS)) - 1;

  public FencingToken {
    if (value <= 0) {
      throw new IllegalArgumentException("fencing token: " + value);
    }
  }

  /** The epoch of a counter that stands at this number. */
  public static int epochOf(long counter) {
    return (int) (counter >>> COUNTER_BITS);
  }

  /** Where the counter stands when an epoch begins: below all tokens of the epoch. */
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
