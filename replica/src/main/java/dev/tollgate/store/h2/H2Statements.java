package dev.tollgate.store.h2;

import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.h2.command.Parser;
import org.h2.command.Prepared;
import org.h2.command.ddl.AlterTableAlterColumn;
import org.h2.command.ddl.AlterTableRenameColumn;
import org.h2.command.ddl.CreateTable;
import org.h2.command.dml.CommandWithValues;
import org.h2.command.dml.DataChangeStatement;
import org.h2.command.dml.Delete;
import org.h2.command.dml.Insert;
import org.h2.command.dml.ScriptCommand;
import org.h2.command.query.Query;
import org.h2.engine.SessionLocal;
import org.h2.expression.Expression;
import org.h2.expression.Parameter;
import org.h2.expression.SequenceValue;
import org.h2.index.Index;
import org.h2.index.IndexCondition;
import org.h2.index.IndexCursor;
import org.h2.index.QueryExpressionIndex;
import org.h2.index.RecursiveIndex;
import org.h2.schema.Sequence;
import org.h2.table.Column;
import org.h2.table.DataChangeDeltaTable;
import org.h2.table.QueryExpressionTable;
import org.h2.table.Table;
import org.h2.table.TableFilter;
import org.h2.table.TableView;
import org.jspecify.annotations.Nullable;

/** Accesses prepared statements of H2: what they scan, limit, write, alter and script. */
public final class H2Statements {
  private static final VarHandle FILTER_CONDITION =
      H2Fields.field(TableFilter.class, "filterCondition", Expression.class);
  private static final VarHandle INDEX_CONDITIONS =
      H2Fields.field(TableFilter.class, "indexConditions", ArrayList.class);
  private static final VarHandle SEQUENCE =
      H2Fields.field(SequenceValue.class, "sequence", Sequence.class);
  private static final VarHandle FETCH =
      H2Fields.field(Delete.class.getSuperclass(), "fetchExpr", Expression.class);
  private static final VarHandle WRITTEN_ROWS =
      H2Fields.field(CommandWithValues.class, "valuesExpressionList", ArrayList.class);
  private static final VarHandle TABLE_QUERY =
      H2Fields.field(CreateTable.class, "asQuery", Query.class);
  private static final VarHandle TABLE_WITHOUT_DATA =
      H2Fields.field(CreateTable.class, "withNoData", boolean.class);
  private static final VarHandle DROPPED_COLUMNS =
      H2Fields.field(AlterTableAlterColumn.class, "columnsToRemove", ArrayList.class);
  private static final VarHandle RENAMED_COLUMN =
      H2Fields.field(AlterTableRenameColumn.class, "oldName", String.class);
  private static final VarHandle INDEX_QUERY =
      H2Fields.field(QueryExpressionIndex.class, "query", Query.class);
  private static final VarHandle INDEX_SQL =
      H2Fields.field(QueryExpressionIndex.class, "querySQL", String.class);
  private static final VarHandle INDEX_PARAMETERS =
      H2Fields.field(QueryExpressionIndex.class, "originalParameters", ArrayList.class);
  private static final VarHandle INDEX_TABLE =
      H2Fields.field(QueryExpressionIndex.class, "table", QueryExpressionTable.class);
  private static final VarHandle CHANGE =
      H2Fields.field(DataChangeDeltaTable.class, "statement", DataChangeStatement.class);
  private static final VarHandle SCRIPTED_SCHEMAS =
      H2Fields.field(ScriptCommand.class, "schemaNames", Set.class);
  private static final VarHandle SCRIPTED_TABLES =
      H2Fields.field(ScriptCommand.class, "tables", Collection.class);
  private static final VarHandle SCRIPTED_DATA =
      H2Fields.field(ScriptCommand.class, "data", boolean.class);

  private H2Statements() {}

  /** The sequence of NEXT VALUE FOR and CURRENT VALUE FOR. */
  public static Sequence sequenceOf(SequenceValue value) {
    return (Sequence) SEQUENCE.get(value);
  }

  /**
   * Replaces the condition that a scan checks for each row.
   *
   * @param replacement receives null if there is no condition
   */
  public static void replaceCondition(
      TableFilter scan, Function<@Nullable Expression, Expression> replacement) {
    FILTER_CONDITION.set(
        scan, replacement.apply((@Nullable Expression) FILTER_CONDITION.get(scan)));
  }

  /** Makes a cursor find what a scan would find by an index and the scan's conditions. */
  @SuppressWarnings("unchecked")
  public static void find(IndexCursor cursor, Index index, SessionLocal session, TableFilter scan) {
    cursor.setIndex(index, /* reverse= */ false);
    cursor.find(session, (ArrayList<IndexCondition>) INDEX_CONDITIONS.get(scan));
  }

  /** How many rows a DELETE or an UPDATE may change at most, or null if it has no limit. */
  public static @Nullable Expression fetchOf(Prepared change) {
    return (Expression) FETCH.get(change);
  }

  /** The number of rows that are written out in an INSERT or MERGE ... VALUES. */
  public static int rowsIn(Prepared prepared) {
    return prepared instanceof CommandWithValues values
        ? ((ArrayList<?>) WRITTEN_ROWS.get(values)).size()
        : 0;
  }

  /** The query whose rows CREATE TABLE ... AS puts into the table, or null. */
  public static @Nullable Query queryOf(CreateTable definition) {
    boolean empty = (boolean) TABLE_WITHOUT_DATA.get(definition);
    return empty ? null : (Query) TABLE_QUERY.get(definition);
  }

  /** True for CREATE TABLE ... AS, with rows or without. */
  public static boolean isFromQuery(CreateTable definition) {
    return (@Nullable Query) TABLE_QUERY.get(definition) != null;
  }

  /**
   * Makes CREATE TABLE ... AS leave its table empty.
   *
   * @return the query whose rows it would have inserted, or null
   */
  public static @Nullable Query takeQuery(CreateTable definition) {
    Query rows = queryOf(definition);
    definition.setWithNoData(true);
    return rows;
  }

  /** Creates an INSERT that is ready to run. */
  public static Insert insertion(SessionLocal session, Table target, Query rows) {
    Insert insertion = new Insert(session);
    insertion.setTable(target);
    insertion.setQuery(rows);
    insertion.setInsertFromSelect(true);
    insertion.prepare();
    return insertion;
  }

  /** The names of the columns that a definition renames, drops, or changes otherwise. */
  @SuppressWarnings("unchecked")
  public static List<String> alteredColumns(Prepared definition) {
    if (definition instanceof AlterTableRenameColumn rename) {
      return List.of((String) RENAMED_COLUMN.get(rename));
    }
    List<String> names = new ArrayList<>();
    if (definition instanceof AlterTableAlterColumn alter) {
      Column altered = H2Definitions.alteredColumn(alter);
      if (altered != null) {
        names.add(altered.getName());
      }
      ArrayList<Column> dropped = (ArrayList<Column>) DROPPED_COLUMNS.get(alter);
      if (dropped != null) {
        dropped.forEach(column -> names.add(column.getName()));
      }
    }
    return names;
  }

  /** The table that a query expression stands for. */
  public static QueryExpressionTable tableOf(QueryExpressionIndex index) {
    return (QueryExpressionTable) INDEX_TABLE.get(index);
  }

  /**
   * Prepares the query of a recursive table. H2 itself would prepare the query when it first reads
   * the table, which is too late to meter it.
   */
  @SuppressWarnings("unchecked")
  public static void prepareRecursion(SessionLocal session, RecursiveIndex index) {
    if (INDEX_QUERY.get(index) == null) {
      Parser parser = new Parser(session);
      parser.setRightsChecked(true);
      parser.setSuppliedParameters((ArrayList<Parameter>) INDEX_PARAMETERS.get(index));
      parser.setQueryScope(tableOf(index).getQueryScope());
      Query query = (Query) parser.prepare((String) INDEX_SQL.get(index));
      query.setNeverLazy(true);
      INDEX_QUERY.set(index, query);
    }
  }

  /** The views that a statement reads, directly or through other views, in any order. */
  public static Set<TableView> viewsIn(Prepared prepared) {
    Set<TableView> views = new HashSet<>();
    for (Object part : H2Parts.within(prepared)) {
      if (part instanceof TableFilter scan && scan.getTable() instanceof TableView view) {
        views.add(view);
      }
    }
    return views;
  }

  /** The table that is changed in FINAL TABLE, NEW TABLE or OLD TABLE. */
  public static Table changedBy(DataChangeDeltaTable delta) {
    return ((DataChangeStatement) CHANGE.get(delta)).getTable();
  }

  /** The tables whose rows a statement reads while it changes them, as they stand in it. */
  public static Set<Table> returnedBy(Prepared prepared) {
    Set<Table> tables = new LinkedHashSet<>();
    for (Object part : H2Parts.within(prepared)) {
      if (part instanceof TableFilter scan
          && scan.getTable() instanceof DataChangeDeltaTable delta) {
        tables.add(changedBy(delta));
      }
    }
    return tables;
  }

  /** The schemas to which a SCRIPT is limited; null if it has all. */
  public static @Nullable Set<?> schemasOf(ScriptCommand script) {
    return (@Nullable Set<?>) SCRIPTED_SCHEMAS.get(script);
  }

  /** The tables to which a SCRIPT is limited; null if it has all. */
  public static @Nullable Collection<?> tablesOf(ScriptCommand script) {
    return (@Nullable Collection<?>) SCRIPTED_TABLES.get(script);
  }

  /** True if a SCRIPT has the rows of its tables. */
  public static boolean hasRows(ScriptCommand script) {
    return (boolean) SCRIPTED_DATA.get(script);
  }
}
