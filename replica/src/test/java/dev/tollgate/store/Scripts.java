package dev.tollgate.store;

import java.util.List;

/** Databases as SQL, for tests of other packages. */
public final class Scripts {
  private Scripts() {}

  /** The whole database, with what every replica puts there at the start. */
  public static List<String> of(SqlDatabase database) {
    return database.script();
  }
}
