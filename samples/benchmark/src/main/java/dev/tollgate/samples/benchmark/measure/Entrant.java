package dev.tollgate.samples.benchmark.measure;

/** A row of a table: one system, or one way to use it. */
public record Entrant(String name, Assembly assembly) {
  /** Connects everything that the rounds need. */
  public interface Assembly {
    Team assemble() throws Exception;
  }
}
