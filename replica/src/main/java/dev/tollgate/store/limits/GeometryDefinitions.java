package dev.tollgate.store.limits;

import dev.tollgate.store.h2.Exhausted;
import dev.tollgate.store.h2.H2Definitions;
import dev.tollgate.store.h2.H2Parts;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.h2.command.Prepared;
import org.h2.command.ddl.AlterTableAddConstraint;
import org.h2.command.ddl.CreateTableData;
import org.h2.command.ddl.CreateView;
import org.h2.command.ddl.DefineCommand;
import org.h2.engine.SessionLocal;
import org.h2.expression.DomainValueExpression;
import org.h2.expression.Expression;
import org.h2.expression.ExpressionColumn;
import org.h2.expression.ValueExpression;
import org.h2.expression.function.CastSpecification;
import org.h2.index.Index;
import org.h2.message.DbException;
import org.h2.table.Column;
import org.h2.table.Table;
import org.h2.value.TypeInfo;
import org.jspecify.annotations.Nullable;

/**
 * Keeps definitions from making a GEOMETRY from a text that is not a constant. H2 evaluates what
 * they define in internal statements, which {@link GeometryGuard} does not reach: when it copies a
 * table, checks its rows, or follows a foreign key.
 */
final class GeometryDefinitions {
  /**
   * @param ofGeometry whether the value of the expression becomes a GEOMETRY
   */
  private record Defined(Expression expression, boolean ofGeometry) {}

  private final List<Defined> expressions = new ArrayList<>();
  private final List<Column> columns = new ArrayList<>();
  private final List<AlterTableAddConstraint> constraints = new ArrayList<>();
  private final Set<String> geometries = new HashSet<>();
  private final Set<String> texts = new HashSet<>();
  private final boolean ofGeometryDomain;

  private GeometryDefinitions(boolean ofGeometryDomain) {
    this.ofGeometryDomain = ofGeometryDomain;
  }

  private static boolean givesGeometry(Prepared definition) {
    return H2Definitions.givenColumns(definition).stream()
        .anyMatch(column -> GeometryText.hasGeometry(column.getType()));
  }

  /**
   * Checks a definition that is about to run.
   *
   * @throws DbException with SQLState 54001
   */
  static void check(SessionLocal session, Prepared definition) {
    if (definition instanceof CreateView) {
      return;
    }
    TypeInfo domain = H2Definitions.typeOfDomain(session, definition);
    GeometryDefinitions found = new GeometryDefinitions(GeometryText.hasGeometry(domain));
    found.gather(definition, found.ofGeometryDomain || givesGeometry(definition));
    Table table = H2Definitions.alteredTable(session, definition);
    if (table != null) {
      found.name(Arrays.asList(table.getColumns()));
    }
    found.name(found.columns);
    found.checkChange(definition);
    found.expressions.forEach(found::checkExpression);
    for (AlterTableAddConstraint constraint : found.constraints) {
      found.checkForeignKey(session, constraint);
    }
  }

  private void gather(Object part, boolean ofGeometry) {
    if (part instanceof AlterTableAddConstraint constraint) {
      constraints.add(constraint);
    }
    for (Object value : H2Parts.fieldsOf(part)) {
      gatherOne(value, ofGeometry);
    }
  }

  private void gatherOne(Object value, boolean ofGeometry) {
    if (value instanceof Expression expression) {
      expressions.add(new Defined(expression, ofGeometry));
    } else if (value instanceof Column column) {
      columns.add(column);
      boolean isGeometry = GeometryText.hasGeometry(column.getType());
      add(column.getDefaultExpression(), isGeometry);
      add(column.getOnUpdateExpression(), isGeometry);
    } else if (value instanceof Collection<?> list) {
      list.forEach(one -> gatherOne(one, ofGeometry));
    } else if (value instanceof CreateTableData || value instanceof DefineCommand) {
      gather(value, ofGeometry);
    }
  }

  private void add(@Nullable Expression expression, boolean ofGeometry) {
    if (expression != null) {
      expressions.add(new Defined(expression, ofGeometry));
    }
  }

  private void name(List<Column> named) {
    for (Column column : named) {
      if (GeometryText.hasGeometry(column.getType())) {
        geometries.add(column.getName());
      }
      if (GeometryText.hasText(column.getType())) {
        texts.add(column.getName());
      }
    }
  }

  /**
   * Rejects GEOMETRY for a column of texts: H2 converts all rows when a column gets another type.
   */
  private void checkChange(Prepared definition) {
    Column before = H2Definitions.alteredColumn(definition);
    Column after = H2Definitions.changedColumn(definition);
    if (before != null
        && after != null
        && GeometryText.hasGeometry(after.getType())
        && GeometryText.hasText(before.getType())) {
      throw refused("a column with texts gets the type GEOMETRY");
    }
  }

  /**
   * Rejects an expression with both a GEOMETRY (a column, a cast or the result) and a text that is
   * not a constant.
   */
  private void checkExpression(Defined defined) {
    boolean geometry = defined.ofGeometry();
    boolean text = false;
    Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    Deque<Object> open = new ArrayDeque<>(List.of(defined.expression()));
    while (!open.isEmpty()) {
      Object part = open.pop();
      if (!seen.add(part)) {
        continue;
      }
      if (part instanceof Expression expression) {
        geometry |= isGeometry(expression);
        text |= isText(expression);
      }
      partsOf(part).stream().filter(Objects::nonNull).forEach(open::push);
    }
    if (geometry && text) {
      throw refused("an expression has both a GEOMETRY and a text that is computed or in a column");
    }
  }

  private static Collection<?> partsOf(Object part) {
    if (part instanceof Collection<?> list) {
      return list;
    }
    if (part instanceof Object[] array) {
      return Arrays.asList(array);
    }
    return isPart(part) ? H2Parts.fieldsOf(part) : List.of();
  }

  private static boolean isPart(Object part) {
    return part instanceof Expression || part.getClass().getName().contains(".expression.");
  }

  private boolean isGeometry(Expression expression) {
    if (expression instanceof ValueExpression constant && constant != ValueExpression.DEFAULT) {
      GeometryText.require(constant.getValue(null));
    }
    return expression instanceof CastSpecification cast
        ? GeometryText.hasGeometry(cast.getType())
        : expression instanceof ExpressionColumn column
            && geometries.contains(column.getOriginalColumnName());
  }

  /**
   * Returns whether an expression may be a text. All functions count as texts, because their types
   * are not known yet.
   */
  private boolean isText(Expression expression) {
    if (expression instanceof CastSpecification cast) {
      return GeometryText.hasText(cast.getType());
    }
    if (expression instanceof DomainValueExpression) {
      return !ofGeometryDomain;
    }
    return expression instanceof ExpressionColumn column
        ? texts.contains(column.getOriginalColumnName())
        : !(expression instanceof ValueExpression) && !isCondition(expression);
  }

  private static boolean isCondition(Expression expression) {
    return expression.getClass().getPackageName().endsWith(".expression.condition");
  }

  /**
   * Rejects a GEOMETRY in a foreign key: H2 converts the columns of the key whenever it follows the
   * key.
   */
  private void checkForeignKey(SessionLocal session, AlterTableAddConstraint constraint) {
    Set<String> all = new HashSet<>(geometries);
    List<String> used = new ArrayList<>(H2Definitions.foreignKey(constraint));
    if (used.isEmpty()) {
      return;
    }
    used.addAll(H2Definitions.referencedColumns(constraint));
    // a new table may refer to its own primary key
    constraints.forEach(one -> used.addAll(H2Definitions.primaryKey(one)));
    Table referenced = H2Definitions.referencedTable(session, constraint);
    if (referenced != null) {
      for (Column column : referenced.getColumns()) {
        if (GeometryText.hasGeometry(column.getType())) {
          all.add(column.getName());
        }
      }
      Index key = referenced.findPrimaryKey();
      for (Column column : key == null ? new Column[0] : key.getColumns()) {
        used.add(column.getName());
      }
    }
    used.retainAll(all);
    if (!used.isEmpty()) {
      throw refused("column " + used.get(0) + " of a foreign key is a GEOMETRY");
    }
  }

  private static DbException refused(String what) {
    return Exhausted.work(
        "the definition was refused and changed nothing, because "
            + what
            + ", where nothing bounds the time in which a text becomes a GEOMETRY: make the"
            + " GEOMETRY in the statement that writes the row");
  }
}
