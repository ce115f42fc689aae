package dev.tollgate.store.limits;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/**
 * The work for things that use one another, where H2 goes from each thing to all that it uses, once
 * for each use. The weight of a thing is a factor of its own times the sum of one and the weights
 * of what it uses.
 */
public final class UseWeights<T> {
  /** Largest weight: beyond all limits, and far from an overflow. */
  private static final long MOST = 1L << 40;

  private final Function<T, List<T>> uses;
  private final ToLongFunction<T> factor;
  private final Map<T, Long> known = new HashMap<>();

  /**
   * @param uses the things that a thing uses, once for each use
   * @param factor of a thing, from 1 to 1,000
   */
  public UseWeights(Function<T, List<T>> uses, ToLongFunction<T> factor) {
    this.uses = uses;
    this.factor = factor;
  }

  /**
   * Returns the weight of a thing; in a cycle, a thing whose weight is being computed counts as
   * one.
   */
  public long of(T thing) {
    Long weighed = known.get(thing);
    if (weighed != null) {
      return weighed;
    }
    known.put(thing, 1L);
    long weight = 1;
    for (T used : uses.apply(thing)) {
      weight = Math.min(MOST, weight + of(used));
    }
    weight = Math.min(MOST, weight * factor.applyAsLong(thing));
    known.put(thing, weight);
    return weight;
  }
}
