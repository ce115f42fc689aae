package dev.tollgate.store.limits;

import dev.tollgate.store.h2.H2Definitions;
import dev.tollgate.store.h2.H2Functions;
import dev.tollgate.store.h2.H2Parts;
import dev.tollgate.store.h2.H2Statements;
import dev.tollgate.store.h2.H2Windows;
import dev.tollgate.store.h2.Nesting;
import dev.tollgate.store.h2.SqlErrors;
import dev.tollgate.store.statement.StatementWeight;
import dev.tollgate.wire.SqlState;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.h2.command.Command;
import org.h2.command.Prepared;
import org.h2.command.ddl.CreateConstant;
import org.h2.command.ddl.CreateTable;
import org.h2.command.ddl.DefineCommand;
import org.h2.command.dml.DataChangeStatement;
import org.h2.command.dml.Delete;
import org.h2.command.dml.Update;
import org.h2.command.query.Query;
import org.h2.command.query.Select;
import org.h2.command.query.SelectUnion;
import org.h2.engine.SessionLocal;
import org.h2.expression.BinaryOperation;
import org.h2.expression.ConcatenationOperation;
import org.h2.expression.Expression;
import org.h2.expression.OperationN;
import org.h2.expression.SequenceValue;
import org.h2.expression.aggregate.Aggregate;
import org.h2.expression.analysis.DataAnalysisOperation;
import org.h2.expression.analysis.Window;
import org.h2.expression.condition.CompareLike;
import org.h2.expression.function.ConcatFunction;
import org.h2.expression.function.HashFunction;
import org.h2.expression.function.JavaFunction;
import org.h2.expression.function.JsonConstructorFunction;
import org.h2.expression.function.RegexpFunction;
import org.h2.expression.function.StringFunction;
import org.h2.expression.function.XMLFunction;
import org.h2.index.QueryExpressionIndex;
import org.h2.index.RecursiveIndex;
import org.h2.message.DbException;
import org.h2.schema.Sequence;
import org.h2.table.Table;
import org.h2.table.TableFilter;
import org.h2.table.TableType;
import org.h2.table.VirtualTable;
import org.h2.value.TypeInfo;
import org.jspecify.annotations.Nullable;

/**
 * Puts meters into a prepared statement: a {@link ScanMeter} before every scan, a {@link
 * ValueMeter} around what its queries compute, and a {@link MatchMeter} or {@link SearchMeter}
 * around what its patterns and searches look into.
 *
 * <p>An UPDATE or a DELETE with LIMIT or FETCH gets its rows in the order of {@link FirstRows}.
 *
 * <p>H2 offers no way from a statement to all of its scans. Subqueries hang in expressions, derived
 * tables and views in indexes, and no visitor leads to them. So this class walks through the
 * objects of the statement, field by field, as far as they belong to statements, expressions and
 * scans. It leaves the catalog alone.
 */
public final class ScanMeters {
  private final SessionLocal session;
  private final Deque<Object> open = new ArrayDeque<>();
  private final Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
  private final List<Object> parts = new ArrayList<>();
  private final Set<Table> tables = Collections.newSetFromMap(new IdentityHashMap<>());
  private final Set<Table> changed = new LinkedHashSet<>();
  private final OperationCount operations = new OperationCount();
  private final GroupCost groups = new GroupCost();
  private final Set<Sequence> sequences = new LinkedHashSet<>();
  private int widestJoin;
  private boolean geometry;
  private boolean json;
  private boolean numbers;
  private boolean typed = true;

  private ScanMeters(SessionLocal session) {
    this.session = session;
  }

  /**
   * What was found in a statement.
   *
   * @param widestJoin the number of tables in its widest join, whose order H2 chooses
   * @param tables the tables that the statement scans, without views, each once
   * @param geometry whether something in the statement is a GEOMETRY
   * @param weight what it may do with each row
   * @param sequences those that it names, without those of defaults
   */
  public record Found(
      int widestJoin,
      Set<Table> tables,
      boolean geometry,
      StatementWeight weight,
      Set<Sequence> sequences) {
    public static final Found NOTHING =
        new Found(0, Set.of(), /* geometry= */ false, StatementWeight.NONE, Set.of());

    /** The same for two statements of which one is a part of the other. */
    public Found with(Found other) {
      Set<Table> all = Collections.newSetFromMap(new IdentityHashMap<>());
      all.addAll(tables);
      all.addAll(other.tables);
      Set<Sequence> named = new LinkedHashSet<>(sequences);
      named.addAll(other.sequences);
      return new Found(
          Math.max(widestJoin, other.widestJoin),
          all,
          geometry || other.geometry,
          weight.with(other.weight),
          named);
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
        meters.geometry |= GeometryText.hasGeometry(type);
      }
      if (prepared instanceof CreateConstant constant) {
        H2Definitions.replaceValue(constant, ValueMeter::of);
      }
      GeometryDefinitions.check(session, prepared);
      NumberDefinitions.check(session, prepared);
      DefinitionLimits.require(session, prepared);
      // H2 does not know the types of the rest yet
      meters.visit(prepared instanceof CreateTable table ? H2Statements.queryOf(table) : null);
    } else {
      meters.visit(prepared);
    }
    meters.lookIntoAll();
    if (meters.geometry) {
      GeometryGuard.attach(meters.parts);
    }
    NumberGuard.attach(meters.parts, meters.numbers);
    if (meters.json) {
      JsonGuard.attach(meters.parts);
    }
    meters.typed = false;
    meters.visit(prepared);
    meters.lookIntoAll();
    Set<Sequence> named = Set.copyOf(meters.sequences);
    meters.guardRules();
    if (!(prepared instanceof DefineCommand)) {
      SizeMeter.attach(meters.parts);
    }
    return new Found(
        meters.widestJoin,
        meters.tables,
        meters.geometry,
        meters.groups.weight(meters.operations.count()),
        named);
  }

  /** Meters a rule or a default of a domain, wherever H2 computes it. */
  static void attach(SessionLocal session, Expression rule) {
    ScanMeters meters = new ScanMeters(session);
    meters.visit(rule);
    meters.lookIntoAll();
    NumberGuard.attach(meters.parts, /* concerned= */ true);
    JsonGuard.attach(meters.parts);
    SizeMeter.attach(meters.parts);
  }

  /** Guards the rules of all changed tables, also of those that are changed within FINAL TABLE. */
  private void guardRules() {
    int statement = parts.size();
    Set<Table> written = TableRules.withTablesOfActions(changed);
    written.forEach(table -> TableRules.of(table).forEach(this::visit));
    lookIntoAll();
    List<Object> rules = List.copyOf(parts.subList(statement, parts.size()));
    NumberGuard.attach(rules, /* concerned= */ true);
    JsonGuard.attach(rules);
    for (Table table : written) {
      NumberGuard.guardRules(table.getColumns());
      JsonGuard.guardRules(table.getColumns());
    }
  }

  private void lookIntoAll() {
    while (!open.isEmpty()) {
      lookInto(open.pop());
    }
  }

  private void visit(@Nullable Object found) {
    if (found != null && isPartOfAStatement(found) && seen.add(found)) {
      parts.add(found);
      open.push(found);
    }
  }

  private void lookInto(Object part) {
    operations.add(part);
    if (part instanceof DataChangeStatement change) {
      // a change within FINAL TABLE, which H2 would prepare when it runs the statement
      change.prepare();
      changed.add(change.getTable());
    }
    geometry |= typed && GeometryGuard.concerns(part);
    json |= typed && JsonGuard.concerns(part);
    numbers |= typed && NumberGuard.concerns(part);
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
      }
    } else if (part instanceof Select select) {
      ValueMeter.attach(select.getExpressions());
      CompareMeter.attach(select);
      widestJoin = Math.max(widestJoin, H2Statements.joinedTables(select));
    } else if (part instanceof SelectUnion union) {
      CompareMeter.attach(union);
    } else if (part instanceof Delete delete) {
      visit(FirstRows.limit(delete));
    } else if (part instanceof Update update) {
      visit(FirstRows.limit(update));
    } else if (part instanceof DataAnalysisOperation operation) {
      attach(operation);
    } else if (part instanceof OperationN call && putsTogether(call)) {
      ValueMeter.attachToOperands(call);
    } else if (part instanceof BinaryOperation operation) {
      DivisionMeter.attach(operation);
    } else if (part instanceof HashFunction function) {
      RoundsMeter.attach(function);
    } else if (part instanceof CompareLike like) {
      MatchMeter.attach(like);
    } else if (part instanceof RegexpFunction function) {
      MatchMeter.attach(function);
    } else if (part instanceof StringFunction function) {
      SearchMeter.attach(function);
    } else if (part instanceof JavaFunction function) {
      SearchMeter.attach(function);
    } else if (part instanceof RecursiveIndex recursion
        && seen.add(H2Statements.tableOf(recursion))) {
      H2Statements.prepareRecursion(session, recursion);
      requireNoSequence(recursion);
    }
    if (part instanceof MeteredExpression meter) {
      visit(meter.metered());
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
    CompareMeter.attach(operation);
    groups.add(operation);
  }

  private static boolean putsTogether(OperationN call) {
    return call instanceof ConcatenationOperation
        || call instanceof ConcatFunction
        || call instanceof JsonConstructorFunction
        || call instanceof XMLFunction;
  }

  private static boolean isPartOfAStatement(Object found) {
    return found instanceof Expression
        || found instanceof Prepared
        || found instanceof TableFilter
        || found instanceof QueryExpressionIndex
        || found instanceof VirtualTable
        || found instanceof Object[]
        || found instanceof Collection
        || found instanceof Map
        || isHelper(found.getClass());
  }

  /** Classes without a common type that hold parts of a statement: plans, SET lists, WHEN lists. */
  private static boolean isHelper(Class<?> type) {
    String name = type.getName();
    boolean near =
        name.startsWith("org.h2.command.")
            || name.startsWith("org.h2.expression.")
            || name.startsWith("org.h2.table.PlanItem")
            || name.startsWith("org.h2.index.IndexCursor")
            || name.startsWith("org.h2.index.IndexCondition");
    return near && !Command.class.isAssignableFrom(type) && !type.isEnum();
  }
}
