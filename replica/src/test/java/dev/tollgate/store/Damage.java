package dev.tollgate.store;

import dev.tollgate.store.h2.H2Database;
import java.lang.reflect.Field;
import org.h2.engine.SessionLocal;

/** Changes a replica's database behind its back, as a fault of memory or a bug would. */
public final class Damage {
  private Damage() {}

  /** Runs a statement on the database that the replica uses now; how many rows it changed. */
  public static long run(SqlDatabase database, String sql) throws ReflectiveOperationException {
    Field field = SqlDatabase.class.getDeclaredField("database");
    field.setAccessible(true);
    H2Database inUse = (H2Database) field.get(database);
    SessionLocal session = inUse.openAdministration();
    try {
      session.setAllowLiterals(true);
      long changed = session.prepareCommand(sql).executeUpdate(null).getUpdateCount();
      session.commit(false);
      return changed;
    } finally {
      session.close();
    }
  }
}
