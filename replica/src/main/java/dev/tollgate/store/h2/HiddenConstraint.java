package dev.tollgate.store.h2;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.h2.constraint.Constraint;
import org.h2.constraint.ConstraintCheck;
import org.h2.constraint.ConstraintReferential;
import org.h2.engine.Database;
import org.h2.expression.ExpressionVisitor;
import org.h2.schema.Schema;
import org.h2.table.Column;
import org.h2.table.Table;
import org.h2.value.TypeInfo;
import org.jspecify.annotations.Nullable;

/**
 * A constraint that H2 treats as a CHECK of a table, and that clients do not see. It belongs to a
 * schema that the catalog does not have, and has no SQL of its own. So H2 does not copy it when it
 * rebuilds a table.
 */
public abstract class HiddenConstraint extends ConstraintCheck {
  /** H2 keeps nothing about objects without an id in its catalog. */
  private static final int NO_ID = 0;

  /** The order in which H2 checks the constraints of a table, whichever was created first. */
  public enum Place {
    FIRST,
    KEYS,
    /** All constraints that clients see, as they were created. */
    VISIBLE,
    BYTES,
    ACTIONS,
    DIGEST,
    LAST
  }

  public HiddenConstraint(Schema hidden, String name, Table table) {
    super(hidden, NO_ID, name, table);
  }

  /** Creates a schema for hidden constraints, which the catalog does not have. */
  public static Schema hiddenSchema(Database database, String name) {
    return new Schema(
        database, NO_ID, name, database.getMainSchema().getOwner(), /* system= */ true);
  }

  /** These tables, and those that their foreign keys refer to. */
  public static Set<Table> withParents(List<Table> tables) {
    Set<Table> all = new LinkedHashSet<>(tables);
    for (Table table : tables) {
      for (Constraint constraint : table.getConstraints()) {
        if (constraint instanceof ConstraintReferential key) {
          all.add(key.getRefTable());
        }
      }
    }
    return all;
  }

  /**
   * Puts the constraints of these tables in the order of their places. Without it, a CHECK that was
   * added to a table would be checked after the hidden constraints of the table, but before them on
   * a replica that was restored. No query may run meanwhile.
   */
  public static void arrange(List<Table> tables) {
    for (Table table : tables) {
      if (!isArranged(table)) {
        List<Constraint> constraints = new ArrayList<>();
        table.getConstraints().forEach(constraints::add);
        constraints.forEach(table::removeConstraint);
        constraints.sort(Comparator.comparing(HiddenConstraint::placeOf));
        constraints.forEach(table::addConstraint);
      }
    }
  }

  private static boolean isArranged(Table table) {
    Place last = Place.FIRST;
    for (Constraint constraint : table.getConstraints()) {
      Place place = placeOf(constraint);
      if (place.compareTo(last) < 0) {
        return false;
      }
      last = place;
    }
    return true;
  }

  private static Place placeOf(Constraint constraint) {
    return constraint instanceof HiddenConstraint hidden ? hidden.place() : Place.VISIBLE;
  }

  protected abstract Place place();

  /** Returns a column that no table has: H2 drops a constraint with the last of its columns. */
  @Override
  @SuppressWarnings("NonApiType") // H2 declares a HashSet
  public HashSet<Column> getReferencedColumns(Table changed) {
    HashSet<Column> columns = new HashSet<>();
    columns.add(new Column("", TypeInfo.TYPE_UNKNOWN));
    return columns;
  }

  @Override
  public final boolean isEverything(ExpressionVisitor visitor) {
    return true;
  }

  @Override
  public final @Nullable String getCreateSQLForCopy(Table forTable, String quotedName) {
    return null;
  }

  /** Compares by identity: H2 compares objects by id, and hidden constraints have none. */
  @Override
  public final boolean equals(@Nullable Object other) {
    return this == other;
  }

  @Override
  public final int hashCode() {
    return System.identityHashCode(this);
  }
}
