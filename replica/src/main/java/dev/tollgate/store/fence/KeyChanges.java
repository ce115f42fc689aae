package dev.tollgate.store.fence;

import dev.tollgate.store.h2.H2Targets;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.h2.command.Prepared;
import org.h2.command.dml.Update;
import org.h2.constraint.Constraint;
import org.h2.constraint.ConstraintReferential;
import org.h2.table.Column;
import org.h2.table.Table;

/**
 * The changes that statements make to keys, recorded per table. A record per table is coarser than
 * one per row, and costs nothing where there are no foreign keys.
 */
public final class KeyChanges {
  /** Tables whose rows may have gained references to other rows. */
  private final Set<Table> references = new HashSet<>();

  /** Tables whose rows may have lost keys that other rows refer to. */
  private final Set<Table> removals = new HashSet<>();

  /** Tables with rows that were changed or deleted. */
  private final Set<Table> changes = new HashSet<>();

  /** The key changes that a statement will make. */
  public static KeyChanges of(Prepared prepared, Map<Table, FencedTables.Change> written) {
    KeyChanges result = new KeyChanges();
    written.forEach((table, change) -> result.add(prepared, table, change));
    return result;
  }

  private void add(Prepared prepared, Table table, FencedTables.Change change) {
    switch (change) {
      case INSERT -> references.add(table);
      case DELETE -> {
        removals.add(table);
        changes.add(table);
      }
      case UPDATE -> {
        changes.add(table);
        if (!(prepared instanceof Update update) || !update.getTable().equals(table)) {
          references.add(table);
        } else {
          addUpdate(update, table);
        }
      }
      case ANY -> {
        references.add(table);
        removals.add(table);
        changes.add(table);
      }
    }
  }

  private void addUpdate(Update update, Table table) {
    for (Constraint constraint : table.getConstraints()) {
      if (constraint instanceof ConstraintReferential key) {
        if (key.getTable().equals(table) && sets(update, key.getReferencedColumns(table))) {
          references.add(table);
        }
        if (key.getRefTable().equals(table) && sets(update, key.getReferencedColumns(table))) {
          removals.add(table);
        }
      }
    }
  }

  private static boolean sets(Update update, Collection<Column> columns) {
    for (Column column : columns) {
      if (H2Targets.sets(update, column)) {
        return true;
      }
    }
    return false;
  }

  /** Adds the key changes that a statement has made. */
  public void addAll(KeyChanges others) {
    references.addAll(others.references);
    removals.addAll(others.removals);
    changes.addAll(others.changes);
  }

  /** True if one may add references to keys that the other may remove. */
  public boolean collidesWith(KeyChanges other) {
    return refersToRemoved(other) || other.refersToRemoved(this);
  }

  private boolean refersToRemoved(KeyChanges other) {
    if (other.removals.isEmpty()) {
      return false;
    }
    for (Table table : references) {
      for (Constraint constraint : table.getConstraints()) {
        if (constraint instanceof ConstraintReferential key
            && key.getTable().equals(table)
            && other.removals.contains(key.getRefTable())) {
          return true;
        }
      }
    }
    return false;
  }

  /** True if rows of these tables, or of tables that refer to them, were changed or deleted. */
  public boolean concern(Collection<Table> tables) {
    if (changes.isEmpty()) {
      return false;
    }
    for (Table table : tables) {
      if (changes.contains(table)) {
        return true;
      }
      for (Constraint constraint : table.getConstraints()) {
        if (constraint instanceof ConstraintReferential key && changes.contains(key.getTable())) {
          return true;
        }
      }
    }
    return false;
  }
}
