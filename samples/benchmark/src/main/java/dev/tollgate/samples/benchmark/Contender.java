package dev.tollgate.samples.benchmark;

/** A system under test. */
interface Contender extends AutoCloseable {
  /** What the table calls it. */
  String name();

  /** A client with a connection and a lease of its own. */
  LockClient connect() throws Exception;

  @Override
  void close();
}
