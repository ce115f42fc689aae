package dev.tollgate.lock;

/** A listener that is told of something until this is closed. */
@FunctionalInterface
public interface Watch extends AutoCloseable {
  /** Ends the watch; a call of the listener that has begun goes on. Never throws. */
  @Override
  void close();
}
