package dev.tollgate.store.h2;

import java.lang.invoke.VarHandle;
import java.lang.reflect.Field;
import java.util.AbstractList;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.h2.command.dml.CommandWithValues;
import org.h2.command.dml.MergeUsing;
import org.h2.command.dml.SetClauseList;
import org.h2.command.dml.Update;
import org.h2.command.query.Query;
import org.h2.command.query.SelectUnion;
import org.h2.command.query.TableValueConstructor;
import org.h2.expression.Expression;
import org.h2.expression.ValueExpression;
import org.h2.index.IndexCondition;
import org.h2.table.Column;
import org.h2.table.Table;
import org.h2.value.TypeInfo;
import org.jspecify.annotations.Nullable;

/**
 * Where the values of a prepared statement go: into the columns of a table, or of a set operation.
 */
public final class H2Targets {
  private static final Column[] NONE = {};

  private static final Field SEARCHED_VALUES =
      H2Fields.finalField(IndexCondition.class, "expressionList");
  private static final VarHandle QUERY_COLUMNS =
      H2Fields.field(Query.class, "expressionArray", Expression[].class);
  private static final VarHandle VALUES =
      H2Fields.field(TableValueConstructor.class, "rows", ArrayList.class);
  private static final VarHandle SET_CLAUSES =
      H2Fields.field(Update.class, "setClauseList", SetClauseList.class);
  private static final VarHandle SET_TABLE =
      H2Fields.field(SetClauseList.class, "table", Table.class);
  private static final VarHandle SET_ACTIONS =
      H2Fields.field(SetClauseList.class, "actions", actions());
  private static final VarHandle INSERTED_COLUMNS =
      H2Fields.field(MergeUsing.WhenNotMatched.class, "columns", Column[].class);
  private static final VarHandle INSERTED_VALUES =
      H2Fields.field(MergeUsing.WhenNotMatched.class, "values", Expression[].class);

  private H2Targets() {}

  private static Class<?> actions() {
    try {
      return Class.forName(
              "org.h2.command.dml.SetClauseList$UpdateAction",
              /* initialize= */ false,
              SetClauseList.class.getClassLoader())
          .arrayType();
    } catch (ReflectiveOperationException e) {
      throw H2Fields.moved(e);
    }
  }

  /** True if an UPDATE gives this column of its table a value. */
  public static boolean sets(Update update, Column column) {
    Object actions = SET_ACTIONS.get((SetClauseList) SET_CLAUSES.get(update));
    return ((Object[]) actions)[column.getColumnId()] != null;
  }

  /**
   * The types of a query's columns. H2 converts values to those of a set operation or of VALUES.
   */
  public static List<TypeInfo> columnTypes(Query query) {
    return query.getExpressions().stream().map(Expression::getType).toList();
  }

  /** Replaces the expression of one column of a query, in all queries of a set operation. */
  @SuppressWarnings("unchecked") // as it is declared there
  public static void replaceColumn(Query query, int column, UnaryOperator<Expression> replacement) {
    Deque<Query> open = new ArrayDeque<>(List.of(query));
    while (!open.isEmpty()) {
      Query part = open.pop();
      if (part instanceof SelectUnion union) {
        open.push(union.getLeft());
        open.push(union.getRight());
      } else if (part instanceof TableValueConstructor) {
        for (List<Expression> row : (List<List<Expression>>) VALUES.get(part)) {
          row.set(column, replacement.apply(row.get(column)));
        }
      } else {
        replace(part, column, replacement);
      }
    }
  }

  /**
   * Replaces the expressions that a query gives to columns of a matching type.
   *
   * @param types the types of the columns that get the values
   */
  public static void replaceColumns(
      Query query,
      List<TypeInfo> types,
      Predicate<TypeInfo> type,
      UnaryOperator<Expression> replacement) {
    for (int i = 0; i < Math.min(types.size(), query.getColumnCount()); i++) {
      if (type.test(types.get(i))) {
        replaceColumn(query, i, replacement);
      }
    }
  }

  /** Replaces an expression in both places where H2 keeps it. */
  private static void replace(Query query, int column, UnaryOperator<Expression> replacement) {
    List<Expression> list = query.getExpressions();
    Expression before = list.get(column);
    Expression after = replacement.apply(before);
    list.set(column, after);
    Expression[] array = (Expression[]) QUERY_COLUMNS.get(query);
    if (array != null && array[column] == before) {
      array[column] = after;
    }
  }

  /**
   * Replaces the values that an index is searched for, which may be those of an array parameter.
   */
  @SuppressWarnings("unchecked") // as it is declared there
  public static void replaceSearched(
      IndexCondition condition, UnaryOperator<Expression> replacement) {
    try {
      List<Expression> values = (List<Expression>) SEARCHED_VALUES.get(condition);
      if (values != null) {
        SEARCHED_VALUES.set(condition, new Replaced(values, replacement));
      }
    } catch (IllegalAccessException e) {
      throw new IllegalStateException("the field was made accessible", e);
    }
  }

  /** The replaced values: as many as the parameter has at the time of the call. */
  private static final class Replaced extends AbstractList<Expression> {
    private final List<Expression> values;
    private final UnaryOperator<Expression> replacement;

    Replaced(List<Expression> values, UnaryOperator<Expression> replacement) {
      this.values = values;
      this.replacement = replacement;
    }

    @Override
    public Expression get(int index) {
      return replacement.apply(values.get(index));
    }

    @Override
    public Expression set(int index, Expression value) {
      return values.set(index, value);
    }

    @Override
    public int size() {
      return values.size();
    }
  }

  /** True if a part of INSERT, MERGE or UPDATE assigns to a column of a matching type. */
  public static boolean assigns(Object part, Predicate<TypeInfo> type) {
    for (Column column : assignedColumns(part)) {
      if (column != null && type.test(column.getType())) {
        return true;
      }
    }
    return false;
  }

  /** Replaces what a part of INSERT, MERGE or UPDATE assigns to columns of a matching type. */
  public static void replaceAssigned(
      Object part, Predicate<TypeInfo> type, UnaryOperator<Expression> replacement) {
    @Nullable Column[] columns = assignedColumns(part);
    for (int i = 0; i < columns.length; i++) {
      Column column = columns[i];
      if (column != null && type.test(column.getType())) {
        replaceAssigned(part, i, replacement);
      }
    }
  }

  /** The assigned columns, with null for each column that an UPDATE leaves alone. */
  private static @Nullable Column[] assignedColumns(Object part) {
    if (part instanceof SetClauseList clauses) {
      @Nullable Column[] columns = ((Table) SET_TABLE.get(clauses)).getColumns().clone();
      Object[] actions = (Object[]) SET_ACTIONS.get(clauses);
      for (int i = 0; i < columns.length; i++) {
        columns[i] = actions[i] == null ? null : columns[i];
      }
      return columns;
    }
    if (part instanceof MergeUsing.WhenNotMatched insert) {
      return (Column[]) INSERTED_COLUMNS.get(insert);
    }
    if (part instanceof CommandWithValues) {
      return insertedColumns(part);
    }
    return NONE;
  }

  /** The columns of an INSERT or MERGE, which have a field of the same name. */
  private static Column[] insertedColumns(Object insert) {
    try {
      Field field = insert.getClass().getDeclaredField("columns");
      field.setAccessible(true);
      return (Column[]) field.get(insert);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("this H2 keeps the columns of an INSERT elsewhere", e);
    }
  }

  private static void replaceAssigned(
      Object part, int column, UnaryOperator<Expression> replacement) {
    if (part instanceof SetClauseList clauses) {
      Object action = ((Object[]) SET_ACTIONS.get(clauses))[column];
      if (action != null) {
        H2Parts.replaceParts(action, replacement);
        // H2 keeps (a, b) = row in a part of its own
        H2Parts.fieldsOf(action).forEach(row -> H2Parts.replaceParts(row, replacement));
      }
    } else if (part instanceof MergeUsing.WhenNotMatched insert) {
      replace((Expression[]) INSERTED_VALUES.get(insert), column, replacement);
    } else {
      for (Object source : H2Parts.fieldsOf(part)) {
        if (source instanceof Query query) {
          replaceColumn(query, column, replacement);
        } else if (source instanceof List<?> rows) {
          for (Object row : rows) {
            // one of the lists holds the parameters
            if (row instanceof Expression[] values) {
              replace(values, column, replacement);
            }
          }
        }
      }
    }
  }

  private static void replace(Expression[] row, int column, UnaryOperator<Expression> replacement) {
    if (row[column] != null && row[column] != ValueExpression.DEFAULT) {
      row[column] = replacement.apply(row[column]);
    }
  }
}
