package dev.tollgate.store.fence;

import java.util.Comparator;
import org.h2.constraint.ConstraintReferential;
import org.h2.engine.SessionLocal;
import org.h2.message.DbException;
import org.h2.result.Row;
import org.h2.table.Column;
import org.h2.table.IndexColumn;
import org.h2.table.Table;
import org.h2.value.Value;
import org.h2.value.ValueNull;
import org.jspecify.annotations.Nullable;

/**
 * The values by which a row refers to another one through a foreign key. They have the types of the
 * referenced columns, and are equal where the index of these columns takes them for equal.
 */
final class KeyValues {
  private KeyValues() {}

  /** The key to which a row of the referring table refers; null if it refers to none. */
  static Value @Nullable [] referredToBy(Row row, ConstraintReferential key, SessionLocal session) {
    IndexColumn[] from = key.getColumns();
    IndexColumn[] to = key.getRefColumns();
    Value[] values = new Value[from.length];
    for (int i = 0; i < from.length; i++) {
      Value value = row.getValue(from[i].column.getColumnId());
      if (value.equals(ValueNull.INSTANCE)) {
        return null;
      }
      Column referenced = to[i].column;
      try {
        values[i] = referenced.convert(session, value);
      } catch (DbException e) {
        // no row can have this key; H2 reports the error where it checks the foreign key
        return null;
      }
    }
    return values;
  }

  /** The key that a row of the referenced table has; null if no row can refer to the row. */
  static Value @Nullable [] of(Row row, ConstraintReferential key) {
    IndexColumn[] columns = key.getRefColumns();
    Value[] values = new Value[columns.length];
    for (int i = 0; i < columns.length; i++) {
      values[i] = row.getValue(columns[i].column.getColumnId());
      if (values[i].equals(ValueNull.INSTANCE)) {
        return null;
      }
    }
    return values;
  }

  /** Compares keys as the index of the referenced columns does. */
  static Comparator<Value[]> order(ConstraintReferential key, SessionLocal session) {
    Table referenced = key.getRefTable();
    return (one, other) -> {
      for (int i = 0; i < one.length; i++) {
        int order = referenced.compareValues(session, one[i], other[i]);
        if (order != 0) {
          return order;
        }
      }
      return 0;
    };
  }
}
