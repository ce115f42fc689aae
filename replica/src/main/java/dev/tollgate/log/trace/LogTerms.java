package dev.tollgate.log.trace;

import java.util.Arrays;

/** The terms of the entries of one log, as far as they are known. */
final class LogTerms {
  static final long UNKNOWN = -1;

  private static final int FIRST_SIZE = 1 << 10;

  private long[] terms = new long[0];

  private int end;

  /** Returns the term of an entry, or {@link #UNKNOWN}. */
  long at(long index) {
    return index >= 0 && index < end ? terms[(int) index] : UNKNOWN;
  }

  /** Returns the index after the last entry whose term is known. */
  long end() {
    return end;
  }

  /** Records the term of some entries. */
  void put(long first, long last, long term) {
    if (last < first) {
      return;
    }
    int next = Math.toIntExact(last + 1);
    if (next > terms.length) {
      terms = Arrays.copyOf(terms, Math.max(next, Math.max(FIRST_SIZE, 2 * terms.length)));
    }
    if (next > end) {
      Arrays.fill(terms, end, next, UNKNOWN);
      end = next;
    }
    Arrays.fill(terms, Math.toIntExact(Math.max(first, 0)), next, term);
  }

  /** Forgets this entry and all after it. */
  void cut(long first) {
    end = (int) Math.max(0, Math.min(end, first));
  }
}
