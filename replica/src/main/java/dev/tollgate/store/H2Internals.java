package dev.tollgate.store;

import dev.tollgate.core.command.RowKey;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.h2.command.Parser;
import org.h2.command.Prepared;
import org.h2.command.ddl.AlterTableAlterColumn;
import org.h2.command.ddl.AlterTableRenameColumn;
import org.h2.command.ddl.CreateTable;
import org.h2.command.dml.CommandWithValues;
import org.h2.command.dml.Delete;
import org.h2.command.dml.ScriptCommand;
import org.h2.command.dml.SetClauseList;
import org.h2.command.dml.Update;
import org.h2.command.query.Query;
import org.h2.command.query.Select;
import org.h2.engine.Constants;
import org.h2.engine.Database;
import org.h2.engine.Session;
import org.h2.engine.SessionLocal;
import org.h2.engine.User;
import org.h2.expression.Expression;
import org.h2.expression.OperationN;
import org.h2.expression.Parameter;
import org.h2.expression.aggregate.AbstractAggregate;
import org.h2.expression.analysis.DataAnalysisOperation;
import org.h2.expression.analysis.WindowFunction;
import org.h2.expression.condition.CompareLike;
import org.h2.expression.function.JavaFunction;
import org.h2.index.Index;
import org.h2.index.IndexCondition;
import org.h2.index.IndexCursor;
import org.h2.index.QueryExpressionIndex;
import org.h2.index.RecursiveIndex;
import org.h2.message.DbException;
import org.h2.mvstore.DataUtils;
import org.h2.mvstore.MVStore;
import org.h2.mvstore.MVStoreException;
import org.h2.mvstore.db.MVPrimaryIndex;
import org.h2.mvstore.tx.Transaction;
import org.h2.table.Column;
import org.h2.table.QueryExpressionTable;
import org.h2.table.TableFilter;
import org.h2.util.MathUtils;
import org.h2.util.NetworkConnectionInfo;
import org.h2.value.ValueTimestampTimeZone;
import org.h2.value.VersionedValue;
import org.jspecify.annotations.Nullable;

/**
 * Everything of H2 that is not its public API, in one place. Built for and tested with H2 {@value
 * #BUILT_FOR}; {@link H2SelfCheck} makes sure at start-up that it still does what is meant here.
 *
 * <ul>
 *   <li>Row locks: a conflict fails at once instead of after a wait that nobody can end, because
 *       one thread applies everything.
 *   <li>H2's transactions keep a bit "has rolled back" after a failed statement; another
 *       transaction that meets such a row would spin for ever. The bit is cleared after every
 *       statement.
 *   <li>Who holds the row that a statement needs is read off the mark that a transaction gets when
 *       another one meets it.
 *   <li>The row itself is read off the message of the conflict, and who holds it now off the entry
 *       of its table.
 *   <li>Time and random numbers of a statement are pinned.
 *   <li>Which columns a definition alters is read off its private fields.
 *   <li>Which rows a scan finds by its conditions on an index, and whether an UPDATE or a DELETE
 *       has a limit.
 *   <li>Scans tell a meter about every row that they look at, and patterns about their steps; from
 *       a statement to its scans the way leads over private fields.
 * </ul>
 */
final class H2Internals {
  /** The version of H2 that this class was written against. */
  static final String BUILT_FOR = "2.5.250";

  /** Bits of the log id, above which is the status. */
  private static final int LOG_ID_BITS = 41;

  /** Bits of an operation's number within its transaction, above which is the transaction's. */
  private static final int OPERATION_BITS = 40;

  /** Place of the bit "has rolled back": above the status (4 bits). */
  private static final long HAS_ROLLED_BACK = 1L << (4 + LOG_ID_BITS);

  /** What {@link #holderOf} says of a row that no open transaction has changed or locked. */
  static final int NO_TRANSACTION = 0;

  /** How H2 says that an entry of a table is held: its map is named after the table's number. */
  private static final Pattern LOCKED_ROW =
      Pattern.compile("Map entry <table\\.([0-9]{1,9})> with key <(-?[0-9]{1,18})>");

  /** The fields of a class that may hold parts of a statement, found once. */
  private static final ClassValue<List<Field>> FIELDS =
      new ClassValue<>() {
        @Override
        protected List<Field> computeValue(Class<?> type) {
          return partsOf(type);
        }
      };

  private static final VarHandle LOCK_TIMEOUT_MILLIS;
  private static final VarHandle STATUS_AND_LOG_ID;
  private static final VarHandle CURRENT_TIMESTAMP;
  private static final VarHandle SHOWN_LOCK_TIMEOUT;
  private static final VarHandle DERIVED_TABLES;
  private static final VarHandle HAD_WAITER;
  private static final VarHandle SET_CLAUSES;
  private static final VarHandle SET_ACTIONS;
  private static final VarHandle FILTER_CONDITION;
  private static final VarHandle INDEX_CONDITIONS;
  private static final VarHandle FETCH;
  private static final VarHandle TOP_FILTERS;
  private static final VarHandle WRITTEN_ROWS;
  private static final VarHandle TABLE_QUERY;
  private static final VarHandle TABLE_WITHOUT_DATA;
  private static final VarHandle ALTERED_COLUMN;
  private static final VarHandle DROPPED_COLUMNS;
  private static final VarHandle RENAMED_COLUMN;
  private static final VarHandle AGGREGATE_ARGUMENTS;
  private static final VarHandle WINDOW_ARGUMENTS;
  private static final VarHandle LIKE_VALUE;
  private static final VarHandle LIKE_PATTERN;
  private static final VarHandle LIKE_TYPE;
  private static final VarHandle FUNCTION_ARGUMENTS;
  private static final VarHandle JAVA_ARGUMENTS;
  private static final VarHandle INDEX_QUERY;
  private static final VarHandle INDEX_SQL;
  private static final VarHandle INDEX_PARAMETERS;
  private static final VarHandle INDEX_TABLE;
  private static final VarHandle OBJECT_IDS;
  private static final VarHandle LAST_NUMBER;
  private static final VarHandle SCRIPTED_SCHEMAS;
  private static final VarHandle SCRIPTED_TABLES;
  private static final VarHandle SCRIPTED_DATA;
  private static final MethodHandle CREATE_SESSION;
  private static final PinnedRandom RANDOM;

  static {
    try {
      Lookup own = MethodHandles.lookup();
      Lookup transaction = MethodHandles.privateLookupIn(Transaction.class, own);
      LOCK_TIMEOUT_MILLIS =
          transaction.findVarHandle(Transaction.class, "timeoutMillis", int.class);
      HAD_WAITER =
          transaction.findVarHandle(Transaction.class, "notificationRequested", boolean.class);
      SET_CLAUSES =
          MethodHandles.privateLookupIn(Update.class, own)
              .findVarHandle(Update.class, "setClauseList", SetClauseList.class);
      Lookup clauses = MethodHandles.privateLookupIn(SetClauseList.class, own);
      Class<?> action =
          Class.forName(
              "org.h2.command.dml.SetClauseList$UpdateAction",
              /* initialize= */ false,
              SetClauseList.class.getClassLoader());
      SET_ACTIONS = clauses.findVarHandle(SetClauseList.class, "actions", action.arrayType());
      STATUS_AND_LOG_ID =
          transaction.findVarHandle(Transaction.class, "statusAndLogId", AtomicLong.class);
      CURRENT_TIMESTAMP =
          MethodHandles.privateLookupIn(SessionLocal.class, own)
              .findVarHandle(SessionLocal.class, "currentTimestamp", ValueTimestampTimeZone.class);
      SHOWN_LOCK_TIMEOUT =
          MethodHandles.privateLookupIn(SessionLocal.class, own)
              .findVarHandle(SessionLocal.class, "lockTimeout", int.class);
      DERIVED_TABLES =
          MethodHandles.privateLookupIn(SessionLocal.class, own)
              .findVarHandle(SessionLocal.class, "derivedTableIndexCache", HashMap.class);
      FILTER_CONDITION =
          MethodHandles.privateLookupIn(TableFilter.class, own)
              .findVarHandle(TableFilter.class, "filterCondition", Expression.class);
      INDEX_CONDITIONS =
          MethodHandles.privateLookupIn(TableFilter.class, own)
              .findVarHandle(TableFilter.class, "indexConditions", ArrayList.class);
      FETCH =
          MethodHandles.privateLookupIn(Delete.class, own)
              .findVarHandle(Delete.class.getSuperclass(), "fetchExpr", Expression.class);
      TOP_FILTERS =
          MethodHandles.privateLookupIn(Select.class, own)
              .findVarHandle(Select.class, "topFilters", ArrayList.class);
      WRITTEN_ROWS =
          MethodHandles.privateLookupIn(CommandWithValues.class, own)
              .findVarHandle(CommandWithValues.class, "valuesExpressionList", ArrayList.class);
      Lookup createTable = MethodHandles.privateLookupIn(CreateTable.class, own);
      TABLE_QUERY = createTable.findVarHandle(CreateTable.class, "asQuery", Query.class);
      TABLE_WITHOUT_DATA =
          createTable.findVarHandle(CreateTable.class, "withNoData", boolean.class);
      Lookup alterTable = MethodHandles.privateLookupIn(AlterTableAlterColumn.class, own);
      ALTERED_COLUMN =
          alterTable.findVarHandle(AlterTableAlterColumn.class, "oldColumn", Column.class);
      DROPPED_COLUMNS =
          alterTable.findVarHandle(AlterTableAlterColumn.class, "columnsToRemove", ArrayList.class);
      RENAMED_COLUMN =
          MethodHandles.privateLookupIn(AlterTableRenameColumn.class, own)
              .findVarHandle(AlterTableRenameColumn.class, "oldName", String.class);
      AGGREGATE_ARGUMENTS =
          MethodHandles.privateLookupIn(AbstractAggregate.class, own)
              .findVarHandle(AbstractAggregate.class, "args", Expression[].class);
      WINDOW_ARGUMENTS =
          MethodHandles.privateLookupIn(WindowFunction.class, own)
              .findVarHandle(WindowFunction.class, "args", Expression[].class);
      Lookup like = MethodHandles.privateLookupIn(CompareLike.class, own);
      LIKE_VALUE = like.findVarHandle(CompareLike.class, "left", Expression.class);
      LIKE_PATTERN = like.findVarHandle(CompareLike.class, "right", Expression.class);
      LIKE_TYPE = like.findVarHandle(CompareLike.class, "likeType", CompareLike.LikeType.class);
      FUNCTION_ARGUMENTS =
          MethodHandles.privateLookupIn(OperationN.class, own)
              .findVarHandle(OperationN.class, "args", Expression[].class);
      JAVA_ARGUMENTS =
          MethodHandles.privateLookupIn(JavaFunction.class, own)
              .findVarHandle(JavaFunction.class, "args", Expression[].class);
      Lookup index = MethodHandles.privateLookupIn(QueryExpressionIndex.class, own);
      INDEX_QUERY = index.findVarHandle(QueryExpressionIndex.class, "query", Query.class);
      INDEX_SQL = index.findVarHandle(QueryExpressionIndex.class, "querySQL", String.class);
      INDEX_PARAMETERS =
          index.findVarHandle(QueryExpressionIndex.class, "originalParameters", ArrayList.class);
      INDEX_TABLE =
          index.findVarHandle(QueryExpressionIndex.class, "table", QueryExpressionTable.class);
      Lookup database = MethodHandles.privateLookupIn(Database.class, own);
      OBJECT_IDS = database.findVarHandle(Database.class, "objectIds", BitSet.class);
      LAST_NUMBER =
          MethodHandles.privateLookupIn(MVPrimaryIndex.class, own)
              .findVarHandle(MVPrimaryIndex.class, "lastKey", AtomicLong.class);
      Lookup script = MethodHandles.privateLookupIn(ScriptCommand.class, own);
      SCRIPTED_SCHEMAS = script.findVarHandle(ScriptCommand.class, "schemaNames", Set.class);
      SCRIPTED_TABLES = script.findVarHandle(ScriptCommand.class, "tables", Collection.class);
      SCRIPTED_DATA = script.findVarHandle(ScriptCommand.class, "data", boolean.class);
      CREATE_SESSION =
          database.findVirtual(
              Database.class,
              "createSession",
              MethodType.methodType(SessionLocal.class, User.class, NetworkConnectionInfo.class));
      // makes H2 fill the field first, so that nothing replaces ours later
      MathUtils.secureRandomLong();
      VarHandle secureRandom =
          MethodHandles.privateLookupIn(MathUtils.class, own)
              .findStaticVarHandle(MathUtils.class, "secureRandom", SecureRandom.class);
      RANDOM = new PinnedRandom((SecureRandom) secureRandom.get());
      secureRandom.set(RANDOM);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(
          "H2 " + Constants.FULL_VERSION + " is not the one Tollgate was built for, " + BUILT_FOR,
          e);
    }
  }

  private H2Internals() {}

  /** Opens a session that H2 counts among the users' sessions. */
  static SessionLocal openSession(Database database, User user) {
    try {
      return (SessionLocal)
          CREATE_SESSION.invokeExact(database, user, (NetworkConnectionInfo) null);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("createSession declares no checked exception", e);
    }
  }

  /** The highest number that a row of a table has had. */
  static AtomicLong lastNumber(MVPrimaryIndex rows) {
    return (AtomicLong) LAST_NUMBER.get(rows);
  }

  /** Takes an object's id out of those that H2 gives to new objects; false if it is taken. */
  static boolean reserveObjectId(Database database, int id) {
    BitSet ids = (BitSet) OBJECT_IDS.get(database);
    synchronized (ids) {
      boolean free = !ids.get(id);
      ids.set(id);
      return free;
    }
  }

  /** The ids that H2 gives to no new object, as {@link BitSet#toLongArray} has them. */
  static long[] takenObjectIds(Database database) {
    BitSet ids = (BitSet) OBJECT_IDS.get(database);
    synchronized (ids) {
      return ids.toLongArray();
    }
  }

  /** Has H2 give ids to new objects as the database would from which these were taken. */
  static void takeObjectIds(Database database, long[] taken) {
    BitSet ids = (BitSet) OBJECT_IDS.get(database);
    synchronized (ids) {
      ids.or(BitSet.valueOf(taken));
    }
  }

  /**
   * Lets LOCK_TIMEOUT() give this. H2's own setter would have the open transaction wait so long.
   *
   * @return what it gave before
   */
  static int showLockTimeout(SessionLocal session, long millis) {
    int before = session.getLockTimeout();
    SHOWN_LOCK_TIMEOUT.set(session, (int) Math.min(millis, Integer.MAX_VALUE));
    return before;
  }

  /**
   * Forgets the derived tables of statements that were prepared. No later statement can use them,
   * and H2 forgets them by itself only for those that it prepares as commands.
   */
  static void forgetDerivedTables(SessionLocal session) {
    DERIVED_TABLES.set(session, (@Nullable HashMap<?, ?>) null);
  }

  /** How many derived tables a session remembers. */
  static int derivedTables(SessionLocal session) {
    HashMap<?, ?> tables = (HashMap<?, ?>) DERIVED_TABLES.get(session);
    return tables == null ? 0 : tables.size();
  }

  /** The schemas to which a SCRIPT is limited; null if it has all. */
  static @Nullable Set<?> schemasOf(ScriptCommand script) {
    return (@Nullable Set<?>) SCRIPTED_SCHEMAS.get(script);
  }

  /** The tables to which a SCRIPT is limited; null if it has all. */
  static @Nullable Collection<?> tablesOf(ScriptCommand script) {
    return (@Nullable Collection<?>) SCRIPTED_TABLES.get(script);
  }

  /** Whether a SCRIPT has the rows of its tables. */
  static boolean hasRows(ScriptCommand script) {
    return (boolean) SCRIPTED_DATA.get(script);
  }

  /** Makes the session's transaction fail at a locked row at once. */
  static void failAtOnceOnConflict(SessionLocal session) {
    Transaction transaction = session.getTransaction();
    if (transaction != null) {
      LOCK_TIMEOUT_MILLIS.set(transaction, 0);
    }
  }

  /** Lets others meet the rows of this session's transaction without spinning. */
  static void forgetRollback(SessionLocal session) {
    Transaction transaction = session.getTransaction();
    if (transaction != null) {
      AtomicLong state = (AtomicLong) STATUS_AND_LOG_ID.get(transaction);
      state.getAndUpdate(bits -> bits & ~HAS_ROLLED_BACK);
    }
  }

  /** How many changes the session's transaction would have to undo, one for each index of a row. */
  static long changes(SessionLocal session) {
    Transaction transaction = session.getTransaction();
    return ((AtomicLong) STATUS_AND_LOG_ID.get(transaction)).get() & ((1L << LOG_ID_BITS) - 1);
  }

  /** Forgets that others met rows of this session's transaction. */
  static void forgetWaiters(SessionLocal session) {
    Transaction transaction = session.getTransaction();
    if (transaction != null) {
      HAD_WAITER.setVolatile(transaction, false);
    }
  }

  /** True if another transaction has met a row of this session's since {@link #forgetWaiters}. */
  static boolean hadWaiter(SessionLocal session) {
    Transaction transaction = session.getTransaction();
    return transaction != null && (boolean) HAD_WAITER.getVolatile(transaction);
  }

  /** The row of a table that a conflict was about, or null if it was about something else. */
  static @Nullable RowKey contestedRow(DbException conflict) {
    for (Throwable cause = conflict; cause != null; cause = cause.getCause()) {
      if (cause instanceof MVStoreException locked
          && locked.getErrorCode() == DataUtils.ERROR_TRANSACTION_LOCKED) {
        Matcher entry = LOCKED_ROW.matcher(String.valueOf(locked.getMessage()));
        return entry.lookingAt()
            ? new RowKey(Integer.parseInt(entry.group(1)), Long.parseLong(entry.group(2)))
            : null;
      }
    }
    return null;
  }

  /** The number of the transaction that has changed or locked a row, or {@link #NO_TRANSACTION}. */
  static int holderOf(Database database, RowKey row) {
    MVStore store = database.getStore().getMvStore();
    String map = "table." + row.table();
    if (!store.hasMap(map)) {
      return NO_TRANSACTION;
    }
    VersionedValue<?> value = store.<Long, VersionedValue<?>>openMap(map).get(row.row());
    return value == null ? NO_TRANSACTION : (int) (value.getOperationId() >>> OPERATION_BITS);
  }

  /** True if an UPDATE gives this column of its table a value. */
  static boolean sets(Update update, Column column) {
    Object actions = SET_ACTIONS.get((SetClauseList) SET_CLAUSES.get(update));
    return ((Object[]) actions)[column.getColumnId()] != null;
  }

  /** True if the transaction carries the bit that {@link #forgetRollback} clears. */
  static boolean hasRolledBack(SessionLocal session) {
    Transaction transaction = session.getTransaction();
    return transaction != null
        && (((AtomicLong) STATUS_AND_LOG_ID.get(transaction)).get() & HAS_ROLLED_BACK) != 0;
  }

  /**
   * Pins the time and the random numbers of the statement that the session is about to run, on this
   * thread. H2 forgets the time at the end of the statement and at a commit, and a definition
   * commits before it begins: pin before the statement is prepared, and again when it starts.
   */
  static void pin(SessionLocal session, Pins pins) {
    CURRENT_TIMESTAMP.set(session, pins.now());
    session.getRandom().setSeed(pins.randSeed());
    RANDOM.pin(pins);
  }

  /** Lets a scan tell the meter of its statement about every row that it looks at. */
  static void meter(TableFilter scan) {
    Expression condition = (Expression) FILTER_CONDITION.get(scan);
    if (condition == null) {
      FILTER_CONDITION.set(scan, (Expression) ScanMeter.INSTANCE);
    } else if (!ScanMeter.isMetered(condition)) {
      FILTER_CONDITION.set(scan, ScanMeter.before(condition));
    }
  }

  /** Has a cursor find what a scan would find by an index and its conditions. */
  @SuppressWarnings("unchecked")
  static void find(IndexCursor cursor, Index index, SessionLocal session, TableFilter scan) {
    cursor.setIndex(index, /* reverse= */ false);
    cursor.find(session, (ArrayList<IndexCondition>) INDEX_CONDITIONS.get(scan));
  }

  /** How many rows a DELETE or an UPDATE may change at most, or null if it has no limit. */
  static @Nullable Expression fetchOf(Prepared change) {
    return (Expression) FETCH.get(change);
  }

  /** The number of tables whose order H2 chooses. */
  static int joinedTables(Select select) {
    return ((ArrayList<?>) TOP_FILTERS.get(select)).size();
  }

  /** The number of rows that are written out in an INSERT or MERGE ... VALUES. */
  static int rowsIn(Prepared prepared) {
    return prepared instanceof CommandWithValues values
        ? ((ArrayList<?>) WRITTEN_ROWS.get(values)).size()
        : 0;
  }

  /** The query whose rows CREATE TABLE ... AS puts into the table, or null. */
  static @Nullable Query queryOf(CreateTable definition) {
    boolean empty = (boolean) TABLE_WITHOUT_DATA.get(definition);
    return empty ? null : (Query) TABLE_QUERY.get(definition);
  }

  /** The names of the columns that a definition renames, drops, or changes otherwise. */
  @SuppressWarnings("unchecked")
  static List<String> alteredColumns(Prepared definition) {
    if (definition instanceof AlterTableRenameColumn rename) {
      return List.of((String) RENAMED_COLUMN.get(rename));
    }
    List<String> names = new ArrayList<>();
    if (definition instanceof AlterTableAlterColumn alter) {
      Column altered = (Column) ALTERED_COLUMN.get(alter);
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

  /** The arguments of an aggregate or a window function themselves, not a copy. */
  static Expression[] arguments(DataAnalysisOperation operation) {
    Object arguments =
        operation instanceof WindowFunction window
            ? WINDOW_ARGUMENTS.get(window)
            : AGGREGATE_ARGUMENTS.get((AbstractAggregate) operation);
    return arguments == null ? new Expression[0] : (Expression[]) arguments;
  }

  /** The arguments of a function themselves, not a copy. */
  static Expression[] arguments(OperationN function) {
    return (Expression[]) FUNCTION_ARGUMENTS.get(function);
  }

  /** The same for a function that is written in Java. */
  static Expression[] arguments(JavaFunction function) {
    return (Expression[]) JAVA_ARGUMENTS.get(function);
  }

  /** True if it is REGEXP, and neither LIKE nor ILIKE. */
  static boolean isRegular(CompareLike like) {
    return LIKE_TYPE.get(like) == CompareLike.LikeType.REGEXP;
  }

  /** Gives LIKE another value to look into, and another pattern. */
  static void replaceOperands(CompareLike like, Expression value, Expression pattern) {
    LIKE_VALUE.set(like, value);
    LIKE_PATTERN.set(like, pattern);
  }

  /** The table that a query expression stands for. */
  static QueryExpressionTable tableOf(QueryExpressionIndex index) {
    return (QueryExpressionTable) INDEX_TABLE.get(index);
  }

  /**
   * Prepares the query of a recursive table, as H2 itself would when it first reads the table: too
   * late to meter it.
   */
  @SuppressWarnings("unchecked")
  static void prepareRecursion(SessionLocal session, RecursiveIndex index) {
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

  /** Lets it be one moment for ever on a session that runs no statements. */
  static void stopTime(SessionLocal session) {
    CURRENT_TIMESTAMP.set(session, Pins.timestamp(0));
  }

  /** Ends what {@link #pin} began. */
  static void unpin(SessionLocal session) {
    CURRENT_TIMESTAMP.set(session, (@Nullable ValueTimestampTimeZone) null);
    RANDOM.unpin();
  }

  /** What hangs directly in an object of H2 that belongs to a statement, without nulls. */
  static List<Object> fieldsOf(Object part) {
    List<Object> values = new ArrayList<>();
    for (Field field : FIELDS.get(part.getClass())) {
      try {
        Object value = field.get(part);
        if (value != null) {
          values.add(value);
        }
      } catch (IllegalAccessException e) {
        throw new IllegalStateException("the field was made accessible: " + field, e);
      }
    }
    return values;
  }

  /**
   * Replaces the expressions that hang directly in an object of H2 that belongs to a statement.
   * Those that H2 keeps in a field or an array of a narrower type stay.
   */
  @SuppressWarnings("unchecked")
  static void replaceParts(Object part, UnaryOperator<Expression> replacement) {
    if (part instanceof List<?> list) {
      for (int i = 0; i < list.size(); i++) {
        if (list.get(i) instanceof Expression before) {
          Expression after = replacement.apply(before);
          if (after != before) {
            ((List<Expression>) list).set(i, after);
          }
        }
      }
    } else if (part.getClass() == Expression[].class) {
      Expression[] expressions = (Expression[]) part;
      for (int i = 0; i < expressions.length; i++) {
        expressions[i] = expressions[i] == null ? null : replacement.apply(expressions[i]);
      }
    } else if (inH2(part.getClass())) {
      replaceFields(part, replacement);
    }
  }

  private static void replaceFields(Object part, UnaryOperator<Expression> replacement) {
    for (Field field : FIELDS.get(part.getClass())) {
      try {
        if (field.getType() == Expression.class && field.get(part) instanceof Expression before) {
          Expression after = replacement.apply(before);
          if (after != before) {
            field.set(part, after);
          }
        }
      } catch (IllegalAccessException e) {
        throw new IllegalStateException("the field was made accessible: " + field, e);
      }
    }
  }

  private static List<Field> partsOf(Class<?> type) {
    List<Field> fields = new ArrayList<>();
    for (Class<?> level = type; level != null && inH2(level); level = level.getSuperclass()) {
      for (Field field : level.getDeclaredFields()) {
        if (!Modifier.isStatic(field.getModifiers()) && mayHoldAPart(field.getType())) {
          field.setAccessible(true);
          fields.add(field);
        }
      }
    }
    return List.copyOf(fields);
  }

  private static boolean inH2(Class<?> type) {
    return type.getName().startsWith("org.h2.");
  }

  private static boolean mayHoldAPart(Class<?> type) {
    if (type.isArray()) {
      return !type.getComponentType().isPrimitive();
    }
    if (Collection.class.isAssignableFrom(type) || Map.class.isAssignableFrom(type)) {
      return true;
    }
    return inH2(type)
        && !type.getName().startsWith("org.h2.value.")
        && !type.getName().startsWith("org.h2.engine.")
        && !Session.class.isAssignableFrom(type);
  }
}
