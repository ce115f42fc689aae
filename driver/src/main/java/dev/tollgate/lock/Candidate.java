package dev.tollgate.lock;

/** What a candidate does when it is elected. */
@FunctionalInterface
public interface Candidate {
  /**
   * Leads, on the thread of the election. The term ends when this method returns or throws; then
   * the candidate stands again. When the term ends otherwise, the thread is interrupted: return
   * soon.
   */
  void elected(Leadership leadership) throws Exception;
}
