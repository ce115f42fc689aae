package dev.tollgate.store.limits;

import dev.tollgate.store.h2.H2Definitions;
import dev.tollgate.store.h2.H2Functions;
import dev.tollgate.store.h2.H2Parts;
import dev.tollgate.store.h2.H2Statements;
import dev.tollgate.store.h2.H2Windows;
import dev.tollgate.store.h2.Nesting;
import dev.tollgate.store.h2.SqlErrors;
import dev.tollgate.wire.SqlState;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.h2.command.Command;
import org.h2.command.Prepared;
import org.h2.command.Token;
import org.h2.command.ddl.DefineCommand;
import org.h2.command.dml.DataChangeStatement;
import org.h2.command.dml.Delete;
import org.h2.command.dml.Update;
import org.h2.command.query.Query;
import org.h2.command.query.Select;
import org.h2.engine.SessionLocal;
import org.h2.expression.ConcatenationOperation;
import org.h2.expression.Expression;
import org.h2.expression.ExpressionList;
import org.h2.expression.OperationN;
import org.h2.expression.SequenceValue;
import org.h2.expression.aggregate.Aggregate;
import org.h2.expression.analysis.DataAnalysisOperation;
import org.h2.expression.analysis.Window;
import org.h2.expression.function.ConcatFunction;
import org.h2.expression.function.JsonConstructorFunction;
import org.h2.expression.function.XMLFunction;
import org.h2.index.QueryExpressionIndex;
import org.h2.index.RecursiveIndex;
import org.h2.message.DbException;
import org.h2.schema.Sequence;
import org.h2.table.DataChangeDeltaTable;
import org.h2.table.Table;
import org.h2.table.TableFilter;
import org.h2.table.TableType;
import org.h2.table.TableView;
import org.h2.table.VirtualTable;
import org.h2.value.TypeInfo;
import org.jspecify.annotations.Nullable;

/**
 * Puts meters into a prepared statement: a {@link ScanMeter} before every scan, and a {@link
 * ValueMeter} around what its queries compute.
 *
 * <p>An UPDATE or a DELETE with LIMIT or FETCH gets its rows in the order of {@link FirstRows}.
 *
 * <p>H2 offers no way from a statement to all of its scans. Subqueries hang in expressions, derived
 * tables and views in indexes, and no visitor leads to them. So this class walks through the
 * objects of the statement, field by field, as far as they belong to statements, expressions and
 * scans. It leaves the catalog alone.
 */
public final class ScanMeters {
  /** Whether the objects of a class are parts of statements, found out once. */
  private static final ClassValue<Boolean> PARTS =
      new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
          return isPartOfAStatement(type);
        }
      };

  private final SessionLocal session;
  private final Deque<Object> open = new ArrayDeque<>();
  private final Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
  private final Set<Table> tables = Collections.newSetFromMap(new IdentityHashMap<>());
  private final KeptRows groups = new KeptRows();
  private final Set<TableView> views = Collections.newSetFromMap(new IdentityHashMap<>());
  private final Set<Sequence> sequences = new LinkedHashSet<>();
  private final Set<Table> returned = new LinkedHashSet<>();

  private ScanMeters(SessionLocal session) {
    this.session = session;
  }

  /**
   * What was found in a statement.
   *
   * @param tables the tables that the statement scans, without views, each once
   * @param keptBytes bytes that aggregates and window functions keep for each examined row
   * @param sequences those that it names, or that a definition stores in an expression
   * @param views the views that it reads, directly or through other views, each once
   * @param returned the tables whose rows it reads while it changes them, as in FINAL TABLE (...)
   */
  public record Found(
      Set<Table> tables,
      long keptBytes,
      Set<Sequence> sequences,
      Set<TableView> views,
      Set<Table> returned) {
    public static final Found NOTHING = new Found(Set.of(), 0, Set.of(), Set.of(), Set.of());

    /** The same for two statements of which one is a part of the other. */
    public Found with(Found other) {
      Set<Table> all = Collections.newSetFromMap(new IdentityHashMap<>());
      all.addAll(tables);
      all.addAll(other.tables);
      Set<Sequence> named = new LinkedHashSet<>(sequences);
      named.addAll(other.sequences);
      Set<TableView> read = Collections.newSetFromMap(new IdentityHashMap<>());
      read.addAll(views);
      read.addAll(other.views);
      Set<Table> changed = new LinkedHashSet<>(returned);
      changed.addAll(other.returned);
      return new Found(all, keptBytes + other.keptBytes, named, read, changed);
    }
  }

  /** Meters all scans of a statement; a scan that is metered already stays as it is. */
  public static Found attach(SessionLocal session, Prepared prepared) {
    // H2 would prepare a statement with LIKE ? again when it runs it, and leave the meters behind
    prepared.setPrepareAlways(false);
    ScanMeters meters = new ScanMeters(session);
    if (prepared instanceof DefineCommand) {
      for (TypeInfo type : H2Definitions.newTypes(session, prepared)) {
        Nesting.requireType(type);
      }
      DefinitionLimits.require(session, prepared);
      meters.sequences.addAll(H2Definitions.sequencesStoredBy(prepared));
    }
    meters.visit(prepared);
    meters.lookIntoAll();
    return new Found(
        meters.tables, meters.groups.keptBytes(), meters.sequences, meters.views, meters.returned);
  }

  private void lookIntoAll() {
    while (!open.isEmpty()) {
      lookInto(open.pop());
    }
  }

  private void visit(@Nullable Object found) {
    if (found != null && PARTS.get(found.getClass()) && seen.add(found)) {
      open.push(found);
    }
  }

  private void lookInto(Object part) {
    if (part instanceof DataChangeStatement change) {
      // a change within FINAL TABLE, which H2 would prepare when it runs the statement
      change.prepare();
    }
    if (part instanceof Query query && query.getExpressions() != null) {
      Nesting.requireTypes(query.getExpressions());
    }
    if (part instanceof SequenceValue value) {
      sequences.add(H2Statements.sequenceOf(value));
    }
    if (part instanceof TableFilter scan) {
      ScanMeter.attach(scan);
      if (scan.getTable().getTableType() == TableType.TABLE) {
        tables.add(scan.getTable());
      } else if (scan.getTable() instanceof TableView view) {
        views.add(view);
      } else if (scan.getTable() instanceof DataChangeDeltaTable delta) {
        returned.add(H2Statements.changedBy(delta));
      }
    } else if (part instanceof Select select) {
      ValueMeter.attach(select.getExpressions());
    } else if (part instanceof Delete delete) {
      visit(FirstRows.limit(delete));
    } else if (part instanceof Update update) {
      visit(FirstRows.limit(update));
    } else if (part instanceof DataAnalysisOperation operation) {
      attach(operation);
    } else if (part instanceof OperationN call && putsTogether(call)) {
      ValueMeter.attachToOperands(call);
    } else if (part instanceof ExpressionList) {
      // H2 keeps all elements of an array or row
      for (Object held : H2Parts.fieldsOf(part)) {
        if (held instanceof Expression[] elements) {
          ValueMeter.attach(elements);
        }
      }
    } else if (part instanceof RecursiveIndex recursion
        && seen.add(H2Statements.tableOf(recursion))) {
      H2Statements.prepareRecursion(session, recursion);
      requireNoSequence(recursion);
    }
    if (part instanceof MeteredExpression meter) {
      visit(meter.original());
    } else if (part instanceof Collection<?> parts) {
      parts.forEach(this::visit);
    } else if (part instanceof Map<?, ?> parts) {
      parts.values().forEach(this::visit);
    } else if (part instanceof Object[] parts) {
      for (Object one : parts) {
        visit(one);
      }
    } else {
      H2Parts.fieldsOf(part).forEach(this::visit);
    }
  }

  /** H2 draws one number for all rows of a step of a recursion, and of the steps after it. */
  private static void requireNoSequence(RecursiveIndex recursion) {
    for (Object part : H2Parts.within(recursion)) {
      if (part instanceof SequenceValue value) {
        throw DbException.convert(
            SqlErrors.exception(
                SqlState.NOT_SUPPORTED,
                "the query of a recursive table draws from sequence "
                    + H2Statements.sequenceOf(value).getName()
                    + ", and the database would draw the same number for several rows: draw the"
                    + " numbers in the statement that reads the recursive table"));
      }
    }
  }

  /** H2 keeps what it evaluates for each row of a group or a window until it has all rows. */
  private void attach(DataAnalysisOperation operation) {
    ValueMeter.attach(H2Functions.arguments(operation));
    Window window = H2Windows.windowOf(operation);
    if (window != null) {
      ValueMeter.attach(H2Windows.partitionOf(window));
      ValueMeter.attachToOrder(H2Windows.orderOf(window));
    }
    if (operation instanceof Aggregate aggregate) {
      ValueMeter.attachToOrder(H2Windows.orderOf(aggregate));
    }
    groups.add(operation);
  }

  private static boolean putsTogether(OperationN call) {
    return call instanceof ConcatenationOperation
        || call instanceof ConcatFunction
        || call instanceof JsonConstructorFunction
        || call instanceof XMLFunction;
  }

  private static boolean isPartOfAStatement(Class<?> type) {
    return Expression.class.isAssignableFrom(type)
        || Prepared.class.isAssignableFrom(type)
        || TableFilter.class.isAssignableFrom(type)
        || QueryExpressionIndex.class.isAssignableFrom(type)
        || VirtualTable.class.isAssignableFrom(type)
        || Object[].class.isAssignableFrom(type)
        || Collection.class.isAssignableFrom(type)
        || Map.class.isAssignableFrom(type)
        || isHelper(type);
  }

  /**
   * Classes without a common type that hold parts of a statement: plans, SET lists, WHEN lists. The
   * tokens that H2 keeps of a statement hold none.
   */
  private static boolean isHelper(Class<?> type) {
    String name = type.getName();
    boolean near =
        name.startsWith("org.h2.command.")
            || name.startsWith("org.h2.expression.")
            || name.startsWith("org.h2.table.PlanItem")
            || name.startsWith("org.h2.index.IndexCursor")
            || name.startsWith("org.h2.index.IndexCondition");
    return near
        && !Command.class.isAssignableFrom(type)
        && !Token.class.isAssignableFrom(type)
        && !type.isEnum();
  }
}
