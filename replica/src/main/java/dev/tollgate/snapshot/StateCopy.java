package dev.tollgate.snapshot;

import java.io.IOException;

/** The state of a replica at one moment, which can be written while the replica goes on. */
public interface StateCopy extends AutoCloseable {
  /**
   * Writes all records. Called once, by any thread.
   *
   * @throws java.io.InterruptedIOException if the replica could not wait: try again
   */
  void writeTo(SnapshotWriter out) throws IOException;

  /** Releases what the copy holds on to. */
  @Override
  void close();
}
