package dev.tollgate.store.h2;

import java.util.HashSet;
import org.h2.constraint.ConstraintCheck;
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

  public HiddenConstraint(Schema hidden, String name, Table table) {
    super(hidden, NO_ID, name, table);
  }

  /** Creates a schema for hidden constraints, which the catalog does not have. */
  public static Schema hiddenSchema(Database database, String name) {
    return new Schema(
        database, NO_ID, name, database.getMainSchema().getOwner(), /* system= */ true);
  }

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
