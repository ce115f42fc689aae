package dev.tollgate.store.limits;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/**
 * How much there is to do with things that use one another, where H2 goes from each to all that it
 * uses, as often as it uses them. The weight of a thing is one and the weights of what it uses,
 * times a factor of its own.
 */
public final class UseWeights<T> {
  /** Beyond all limits, and far from an overflow. */
  private static final long MOST = 1L << 40;

  private final Function<T, List<T>> uses;
  private final ToLongFunction<T> factor;
  private final Map<T, Long> known = new HashMap<>();

  /**
   * @param uses what a thing uses, as often as it does
   * @param factor from 1 to 1,000
   */
  public UseWeights(Function<T, List<T>> uses, ToLongFunction<T> factor) {
    this.uses = uses;
    this.factor = factor;
  }

  /** A weight; in a circle, what is begun with counts once. */
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
