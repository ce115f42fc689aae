package dev.tollgate.store;

import dev.tollgate.store.h2.H2Database;
import java.lang.reflect.Field;
import org.h2.api.DatabaseEventListener;

/** Makes a database fail at every statement that says so, as a bug of H2 would. */
public final class Poison {
  private static final String POISON = "POISON";

  private Poison() {}

  /** Plants it in a database that has restored no snapshot. */
  public static void plant(SqlDatabase database) {
    try {
      Field field = SqlDatabase.class.getDeclaredField("database");
      field.setAccessible(true);
      H2Database h2 = (H2Database) field.get(database);
      h2.h2().setEventListener(new Planted(h2.pinning()));
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("SqlDatabase has another database", e);
    }
  }

  private static final class Planted implements DatabaseEventListener {
    private final DatabaseEventListener pinning;

    Planted(DatabaseEventListener pinning) {
      this.pinning = pinning;
    }

    @Override
    public void setProgress(int state, String name, long x, long max) {
      pinning.setProgress(state, name, x, max);
      if (state == STATE_STATEMENT_START && name != null && name.contains(POISON)) {
        throw new StackOverflowError("planted");
      }
    }
  }
}
