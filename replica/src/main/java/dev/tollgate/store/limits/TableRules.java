package dev.tollgate.store.limits;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.h2.constraint.Constraint;
import org.h2.constraint.ConstraintCheck;
import org.h2.expression.Expression;
import org.h2.table.Column;
import org.h2.table.Table;
import org.jspecify.annotations.Nullable;

/** What H2 evaluates for every row that is written to a table. It may contain subqueries. */
final class TableRules {
  private TableRules() {}

  /** Returns the expressions of a table that H2 evaluates, with nulls. */
  static List<@Nullable Expression> of(Table table) {
    List<@Nullable Expression> rules = new ArrayList<>();
    for (Column column : table.getColumns()) {
      rules.add(column.getEffectiveDefaultExpression());
      rules.add(column.getEffectiveOnUpdateExpression());
    }
    for (Constraint constraint : table.getConstraints()) {
      if (constraint instanceof ConstraintCheck check) {
        rules.add(check.getExpression());
      }
    }
    return rules;
  }

  /**
   * Returns these tables, and those to which the actions of foreign keys write then. H2 prepares
   * the actions where no meter comes.
   */
  static Set<Table> withTablesOfActions(Collection<Table> changed) {
    Set<Table> all = new LinkedHashSet<>(changed);
    Deque<Table> written = new ArrayDeque<>(changed);
    while (!written.isEmpty()) {
      Table table = written.pop();
      for (Constraint constraint : table.getConstraints()) {
        boolean refers =
            constraint.getConstraintType() == Constraint.Type.REFERENTIAL
                && table.equals(constraint.getRefTable());
        if (refers && all.add(constraint.getTable())) {
          written.push(constraint.getTable());
        }
      }
    }
    return all;
  }
}
