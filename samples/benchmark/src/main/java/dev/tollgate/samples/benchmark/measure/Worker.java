package dev.tollgate.samples.benchmark.measure;

/** One client of one system: used by one thread, and with a connection of its own. */
public interface Worker {
  /** Does the thing once and says how long it took. */
  void operate(Timings timings) throws Exception;

  /** Ends the client. */
  void dismiss() throws Exception;
}
