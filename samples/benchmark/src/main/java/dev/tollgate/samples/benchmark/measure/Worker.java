package dev.tollgate.samples.benchmark.measure;

/** One client of one system: used by one thread, and with a connection of its own. */
public interface Worker {
  /** Runs the operation once and records how long it took. */
  void operate(Timings timings) throws Exception;

  /** Ends the client. */
  void dismiss() throws Exception;
}
