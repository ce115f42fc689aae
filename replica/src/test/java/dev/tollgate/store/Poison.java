package dev.tollgate.store;

import dev.tollgate.store.h2.H2Database;
import dev.tollgate.store.limits.StoreLimits;
import dev.tollgate.store.schema.SystemSchema;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import org.h2.api.DatabaseEventListener;

/**
 * Databases that fail at every statement that says so, as a bug of H2 would make them, unless they
 * are restored from a snapshot.
 */
public final class Poison {
  private static final String POISON = "POISON";

  private Poison() {}

  /**
   * @param fails whether a database fails at such a statement
   */
  public static SqlDatabase database(Predicate<SqlDatabase> fails) {
    return database(fails, /* queries= */ true);
  }

  /**
   * Databases that fail at writes alone: no leader finds that out before the write is in the log.
   *
   * @param fails whether a database fails at such a statement
   */
  public static SqlDatabase ofWrites(Predicate<SqlDatabase> fails) {
    return database(fails, /* queries= */ false);
  }

  private static SqlDatabase database(Predicate<SqlDatabase> fails, boolean queries) {
    AtomicReference<SqlDatabase> owner = new AtomicReference<>();
    SqlDatabase made =
        new SqlDatabase(
            StoreLimits.DEFAULT,
            () -> {
              H2Database empty = SystemSchema.newDatabase();
              empty.h2().setEventListener(new Planted(empty.pinning(), owner, fails, queries));
              return empty;
            });
    owner.set(made);
    return made;
  }

  private static final class Planted implements DatabaseEventListener {
    private final DatabaseEventListener pinning;
    private final AtomicReference<SqlDatabase> owner;
    private final Predicate<SqlDatabase> fails;
    private final boolean queries;

    Planted(
        DatabaseEventListener pinning,
        AtomicReference<SqlDatabase> owner,
        Predicate<SqlDatabase> fails,
        boolean queries) {
      this.pinning = pinning;
      this.owner = owner;
      this.fails = fails;
      this.queries = queries;
    }

    @Override
    public void setProgress(int state, String name, long x, long max) {
      pinning.setProgress(state, name, x, max);
      if (state == STATE_STATEMENT_START
          && name != null
          && name.contains(POISON)
          && (queries || !name.startsWith("SELECT"))
          && fails.test(owner.get())) {
        throw new StackOverflowError("planted");
      }
    }
  }
}
