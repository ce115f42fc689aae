package dev.tollgate.store.fence;

import dev.tollgate.core.command.Limits;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;
import org.h2.constraint.ConstraintReferential;
import org.h2.engine.SessionLocal;
import org.h2.table.Table;
import org.h2.value.Value;
import org.jspecify.annotations.Nullable;

/**
 * What an open transaction has done to the keys of foreign keys, by foreign key and key values, and
 * the tables in which it has changed or deleted rows. No snapshot contains it: snapshots are taken
 * while no transaction is open.
 *
 * <p>A transaction remembers at most {@link Limits#KEYS_PER_TRANSACTION} keys. A further key counts
 * as all keys of its foreign key.
 *
 * <p>Belongs to the apply thread.
 */
public final class KeyChanges {
  /** What a change of a row does to a key. */
  enum Kind {
    /** A row refers to the key that did not. */
    NEEDED,
    /** A row refers to the key no more. */
    RELEASED,
    /** The row that had the key has it no more. */
    REMOVED
  }

  /** Keys of one foreign key. */
  private static final class Keys {
    private final NavigableSet<Value[]> values;
    private boolean all;

    Keys(NavigableSet<Value[]> values) {
      this.values = values;
    }

    boolean contains(Value[] key) {
      return all || values.contains(key);
    }

    boolean isEmpty() {
      return !all && values.isEmpty();
    }
  }

  /**
   * Something that is remembered.
   *
   * @param position number of changes of the transaction when it was added
   */
  private record Added(long position, Runnable undo) {}

  // constraints are found by identity: H2 compares objects by id, and gives ids again
  private final IdentityHashMap<ConstraintReferential, Map<Kind, Keys>> keys =
      new IdentityHashMap<>();
  private final Set<Table> changedTables = new HashSet<>();
  private final Deque<Added> added = new ArrayDeque<>();

  /**
   * Remembers a key.
   *
   * @param position the number of changes that the transaction has made, with this one
   */
  void add(
      ConstraintReferential constraint,
      Kind kind,
      Value[] key,
      SessionLocal session,
      long position) {
    Keys known =
        keys.computeIfAbsent(constraint, absent -> new EnumMap<>(Kind.class))
            .computeIfAbsent(
                kind, absent -> new Keys(new TreeSet<>(KeyValues.order(constraint, session))));
    if (known.contains(key)) {
      return;
    }
    if (added.size() < Limits.KEYS_PER_TRANSACTION) {
      known.values.add(key);
      added.addLast(new Added(position, () -> known.values.remove(key)));
    } else {
      known.all = true;
      added.addLast(new Added(position, () -> known.all = false));
    }
  }

  /**
   * Remembers the tables in which a statement has changed or deleted rows.
   *
   * @param position the number of changes that the transaction has made
   */
  public void addTables(Map<Table, FencedTables.Change> written, long position) {
    written.forEach(
        (table, change) -> {
          if (change != FencedTables.Change.INSERT && changedTables.add(table)) {
            added.addLast(new Added(position, () -> changedTables.remove(table)));
          }
        });
  }

  /**
   * Forgets what was added after a rollback to a savepoint, or of a statement.
   *
   * @param position the number of changes that the transaction has after the rollback
   */
  public void undoTo(long position) {
    while (!added.isEmpty() && added.getLast().position() > position) {
      added.removeLast().undo().run();
    }
  }

  boolean has(ConstraintReferential constraint, Kind kind, Value[] key) {
    Keys known = find(constraint, kind);
    return known != null && known.contains(key);
  }

  private @Nullable Keys find(ConstraintReferential constraint, Kind kind) {
    Map<Kind, Keys> known = keys.get(constraint);
    return known == null ? null : known.get(kind);
  }

  private boolean hasAny(ConstraintReferential constraint, Kind kind) {
    Keys known = find(constraint, kind);
    return known != null && !known.isEmpty();
  }

  /**
   * True if a definition of these tables would meet keys of a foreign key that the transaction has
   * changed at the other end. A definition may change all rows, so its keys are not compared.
   */
  public boolean blockDefinition(Collection<Table> tables) {
    for (ConstraintReferential constraint : keys.keySet()) {
      if ((tables.contains(constraint.getRefTable()) && hasAny(constraint, Kind.NEEDED))
          || (tables.contains(constraint.getTable()) && hasAny(constraint, Kind.REMOVED))) {
        return true;
      }
    }
    return false;
  }

  /** True if rows of one of these tables were changed or deleted. */
  public boolean concern(Collection<Table> tables) {
    for (Table table : tables) {
      if (changedTables.contains(table)) {
        return true;
      }
    }
    return false;
  }
}
