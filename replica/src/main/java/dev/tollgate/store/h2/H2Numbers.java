package dev.tollgate.store.h2;

import java.lang.invoke.VarHandle;
import java.util.BitSet;
import java.util.concurrent.atomic.AtomicLong;
import org.h2.engine.Database;
import org.h2.mvstore.db.MVPrimaryIndex;

/** Accesses the numbers that H2 gives to objects and rows, which a snapshot restores. */
public final class H2Numbers {
  private static final VarHandle OBJECT_IDS =
      H2Fields.field(Database.class, "objectIds", BitSet.class);
  private static final VarHandle LAST_NUMBER =
      H2Fields.field(MVPrimaryIndex.class, "lastKey", AtomicLong.class);

  private H2Numbers() {}

  /** The highest number that a row of a table has had. */
  static AtomicLong lastNumber(MVPrimaryIndex rows) {
    return (AtomicLong) LAST_NUMBER.get(rows);
  }

  /** Reserves an id, so that H2 gives it to no new object; false if the id is already taken. */
  public static boolean reserveObjectId(Database database, int id) {
    BitSet ids = (BitSet) OBJECT_IDS.get(database);
    synchronized (ids) {
      boolean free = !ids.get(id);
      ids.set(id);
      return free;
    }
  }

  /** The ids that H2 gives to no new object, as {@link BitSet#toLongArray} has them. */
  public static long[] takenObjectIds(Database database) {
    BitSet ids = (BitSet) OBJECT_IDS.get(database);
    synchronized (ids) {
      return ids.toLongArray();
    }
  }

  /** Makes H2 give ids to new objects as in the database from which these were taken. */
  public static void takeObjectIds(Database database, long[] taken) {
    BitSet ids = (BitSet) OBJECT_IDS.get(database);
    synchronized (ids) {
      ids.or(BitSet.valueOf(taken));
    }
  }
}
