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
 * What H2 takes for a CHECK of a table, and clients do not see: it belongs to a schema that the
 * catalog does not have, and has no SQL of its own. So H2 does not take it along when it rebuilds a
 * table.
 */
public abstract class HiddenConstraint extends ConstraintCheck {
  /** H2 keeps nothing about objects without an id in its catalog. */
  private static final int NO_ID = 0;

  public HiddenConstraint(Schema hidden, String name, Table table) {
    super(hidden, NO_ID, name, table);
  }

  /** A schema for them, which the catalog does not have. */
  public static Schema hiddenSchema(Database database, String name) {
    return new Schema(
        database, NO_ID, name, database.getMainSchema().getOwner(), /* system= */ true);
  }

  /** One that no table has: H2 drops a constraint with the last of its columns. */
  @Override
  @SuppressWarnings("NonApiType") // H2 wants it so
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

  /** Objects of H2 are equal if their ids are, and these have none. */
  @Override
  public final boolean equals(@Nullable Object other) {
    return this == other;
  }

  @Override
  public final int hashCode() {
    return System.identityHashCode(this);
  }
}
