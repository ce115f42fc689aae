package dev.tollgate.samples.benchmark.measure;

/** A participant in the rounds of one case. */
public interface Team {
  /**
   * Measures one round.
   *
   * @param seconds how long the round should take, where that can be chosen
   */
  Sample measure(double seconds) throws Exception;

  /** Ends its clients. */
  default void dismiss() throws Exception {}
}
