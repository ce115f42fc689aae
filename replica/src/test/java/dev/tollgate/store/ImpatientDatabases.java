package dev.tollgate.store;

import dev.tollgate.store.limits.StoreLimits;
import dev.tollgate.store.schema.SystemSchema;
import dev.tollgate.store.statement.ReaderGate;

/** Databases whose definitions wait for readers for a shorter time than those of other nodes. */
public final class ImpatientDatabases {
  private ImpatientDatabases() {}

  /**
   * @param endMillis after how long a definition ends all readers
   * @param stopMillis after how long it gives up
   */
  public static SqlDatabase of(long endMillis, long stopMillis) {
    return new SqlDatabase(
        StoreLimits.DEFAULT, SystemSchema::newDatabase, new ReaderGate(endMillis, stopMillis));
  }
}
