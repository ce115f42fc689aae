package dev.tollgate.log;

import java.util.Collection;
import java.util.OptionalLong;
import java.util.stream.LongStream;

/** The time on which the clocks of a majority agree. */
final class AgreedTime {
  private AgreedTime() {}

  /**
   * Returns the own clock if it is one of a majority that agrees with it, else the median of the
   * majority that agrees best; nothing if no majority agrees.
   *
   * @param members how many clocks there are, whether known or not
   * @param bound by how much clocks may differ that agree
   */
  static OptionalLong of(long own, Collection<Long> others, int members, long bound) {
    int majority = members / 2 + 1;
    long agreeing = 1 + others.stream().filter(other -> Math.abs(other - own) <= bound).count();
    if (agreeing >= majority) {
      return OptionalLong.of(own);
    }
    long[] all = sorted(own, others);
    OptionalLong best = OptionalLong.empty();
    long least = bound;
    for (int first = 0; first + majority <= all.length; first++) {
      long spread = all[first + majority - 1] - all[first];
      if (spread <= least) {
        least = spread;
        best = OptionalLong.of(all[first + (majority - 1) / 2]);
      }
    }
    return best;
  }

  /** Returns the median of all clocks that are known; of two the earlier. */
  static long median(long own, Collection<Long> others) {
    long[] all = sorted(own, others);
    return all[(all.length - 1) / 2];
  }

  private static long[] sorted(long own, Collection<Long> others) {
    return LongStream.concat(LongStream.of(own), others.stream().mapToLong(Long::longValue))
        .sorted()
        .toArray();
  }
}
