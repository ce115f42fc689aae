package dev.tollgate.samples.benchmark.measure;

/** What takes part in the rounds of one case. */
public interface Team {
  /**
   * One round.
   *
   * @param seconds how long it should take, where that can be chosen
   */
  Sample measure(double seconds) throws Exception;

  /** Ends its clients. */
  default void dismiss() throws Exception {}
}
