package dev.tollgate.core;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

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
  public record Count(List<Long> bounds, List<Long> counts, long sum) {
    public Count {
      bounds = List.copyOf(bounds);
      counts = List.copyOf(counts);
      if (counts.size() != bounds.size() + 1) {
        throw new IllegalArgumentException(counts.size() + " counts of " + bounds.size());
      }
    }

    /** How many values there were. */
    public long total() {
      long total = 0;
      for (long count : counts) {
        total += count;
      }
      return total;
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
    return new Count(listOf(bounds), listOf(counts), sum);
  }

  private static List<Long> listOf(long[] numbers) {
    List<Long> list = new ArrayList<>(numbers.length);
    for (long number : numbers) {
      list.add(number);
    }
    return list;
  }
}
