package dev.tollgate.core;

import java.util.Arrays;

/**
 * How often which values came, and their sum: values are counted by the first bound that is not
 * below them. Adding a value allocates nothing. Not thread-safe.
 */
public final class Tally {
  /**
   * The values so far.
   *
   * @param bounds ascending
   * @param counts how many values were at most each bound and above the bound before; one more for
   *     the values above all bounds
   */
  public record Count(long[] bounds, long[] counts, long sum) {
    public Count {
      bounds = bounds.clone();
      counts = counts.clone();
      if (counts.length != bounds.length + 1) {
        throw new IllegalArgumentException(counts.length + " counts of " + bounds.length);
      }
    }

    @Override
    public long[] bounds() {
      return bounds.clone();
    }

    @Override
    public long[] counts() {
      return counts.clone();
    }

    /** How many values there were. */
    public long total() {
      long total = 0;
      for (long count : counts) {
        total += count;
      }
      return total;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Count that
          && Arrays.equals(bounds, that.bounds)
          && Arrays.equals(counts, that.counts)
          && sum == that.sum;
    }

    @Override
    public int hashCode() {
      return Arrays.hashCode(counts);
    }

    @Override
    public String toString() {
      return total() + " values, sum " + sum + ", " + Arrays.toString(counts);
    }
  }

  private final long[] bounds;
  private final long[] counts;
  private long sum;

  /**
   * @param bounds ascending; few, because adding a value compares it with them
   */
  public Tally(long... bounds) {
    this.bounds = bounds.clone();
    this.counts = new long[bounds.length + 1];
    for (int i = 1; i < bounds.length; i++) {
      if (bounds[i] <= bounds[i - 1]) {
        throw new IllegalArgumentException("bounds " + Arrays.toString(bounds));
      }
    }
  }

  public void add(long value) {
    int i = 0;
    while (i < bounds.length && value > bounds[i]) {
      i++;
    }
    counts[i]++;
    sum += value;
  }

  /** The values so far, which stay as they are. */
  public Count count() {
    return new Count(bounds, counts, sum);
  }
}
