package dev.tollgate.store.fence;

import dev.tollgate.core.SqlContext;
import dev.tollgate.core.command.FenceId;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.store.h2.H2Clock;
import dev.tollgate.store.h2.H2Database;
import dev.tollgate.store.h2.H2Statements;
import dev.tollgate.store.h2.HiddenConstraint;
import dev.tollgate.store.h2.SqlErrors;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import org.h2.command.CommandInterface;
import org.h2.command.Prepared;
import org.h2.engine.SessionLocal;
import org.h2.index.Cursor;
import org.h2.schema.Schema;
import org.h2.table.Table;
import org.jspecify.annotations.Nullable;

/** The guards of all tables whose rows have their own locks. */
public final class RowGuards {
  private final H2Database database;
  private final SessionLocal evaluator;
  private final Schema hidden;
  private final Map<FenceId, RowGuard> guards = new LinkedHashMap<>();

  public RowGuards(H2Database database) {
    this.database = database;
    evaluator = database.openSession();
    evaluator.setCurrentSchemaName(H2Database.SYSTEM_SCHEMA);
    H2Clock.stopTime(evaluator);
    hidden = HiddenConstraint.hiddenSchema(database.h2(), "FENCES");
  }

  /**
   * Checks that every row of a table has a lock.
   *
   * @throws org.h2.message.DbException if a row has none, or the expression does not fit the table
   */
  RowLockExpression requireLocks(Table table, Operation.RowFence terms) {
    RowLockExpression lock = new RowLockExpression(evaluator, table, terms.lockSql());
    forEachLock(table, lock, name -> null);
    return lock;
  }

  /** Guards a table from now on, by a guard that admits nothing if the expression fails. */
  public void guard(FenceId fence, Table table, Operation.RowFence terms) {
    RowLocks locks;
    try {
      locks = new RowLockExpression(evaluator, table, terms.lockSql());
    } catch (RuntimeException e) {
      SqlErrors.requireFunctionOfLog(e);
      locks = new UnknownRowLocks(table, terms.lockSql());
    }
    guard(fence, table, locks);
  }

  /** Guards a table from now on, instead of the table that H2 had in its place, if it had one. */
  void guard(FenceId fence, Table table, RowLocks locks) {
    remove(fence);
    RowGuard guard = new RowGuard(hidden, table, fence, locks);
    guards.put(fence, guard);
    hidden.add(guard);
    table.addConstraint(guard);
  }

  /** True if the table of this fence has a guard. */
  boolean isGuarded(FenceId fence) {
    return guards.containsKey(fence);
  }

  /** Removes the guard of a table; the table may already be dropped. */
  void remove(FenceId fence) {
    RowGuard guard = guards.remove(fence);
    if (guard != null) {
      guard.leave();
    }
  }

  /** Returns null if a definition may change a table as it does, otherwise the refusal. */
  Outcome.@Nullable Refused admit(
      FenceId fence, Table table, Prepared definition, SqlContext context) {
    RowGuard guard = guards.get(fence);
    if (guard == null) {
      return null;
    }
    int type = definition.getType();
    if (!keepsRows(type)) {
      guard.locks().requireKnown();
    }
    if (!keepsRows(type) || type == CommandInterface.ALTER_TABLE_ALTER_COLUMN_RENAME) {
      for (String column : H2Statements.alteredColumns(definition)) {
        if (guard.locks().columnNames().contains(column)) {
          return columnInUse(table, column);
        }
      }
    }
    return keepsRows(type) ? null : admitAllRows(fence, table, context);
  }

  /** Returns null if all rows of a table may be changed or released at once, else the refusal. */
  Outcome.@Nullable Refused admitAllRows(FenceId fence, Table table, SqlContext context) {
    RowGuard guard = guards.get(fence);
    return guard == null || !guard.locks().areKnown()
        ? null
        : forEachLock(table, guard.locks(), lock -> context.admitAllRows(fence, lock));
  }

  /** True for definitions that leave the values of all rows as they are. */
  private static boolean keepsRows(int type) {
    return switch (type) {
      case CommandInterface.NO_OPERATION,
          CommandInterface.COMMENT,
          CommandInterface.CREATE_TABLE,
          CommandInterface.CREATE_VIEW,
          CommandInterface.CREATE_INDEX,
          CommandInterface.DROP_INDEX,
          CommandInterface.ALTER_INDEX_RENAME,
          CommandInterface.ALTER_SCHEMA_RENAME,
          CommandInterface.ALTER_TABLE_RENAME,
          CommandInterface.ALTER_TABLE_ADD_COLUMN,
          CommandInterface.ALTER_TABLE_ADD_CONSTRAINT_CHECK,
          CommandInterface.ALTER_TABLE_ADD_CONSTRAINT_PRIMARY_KEY,
          CommandInterface.ALTER_TABLE_ADD_CONSTRAINT_REFERENTIAL,
          CommandInterface.ALTER_TABLE_ADD_CONSTRAINT_UNIQUE,
          CommandInterface.ALTER_TABLE_DROP_CONSTRAINT,
          CommandInterface.ALTER_TABLE_RENAME_CONSTRAINT,
          CommandInterface.ALTER_TABLE_ALTER_COLUMN_DEFAULT,
          CommandInterface.ALTER_TABLE_ALTER_COLUMN_DEFAULT_ON_NULL,
          CommandInterface.ALTER_TABLE_ALTER_COLUMN_NOT_NULL,
          CommandInterface.ALTER_TABLE_ALTER_COLUMN_DROP_NOT_NULL,
          CommandInterface.ALTER_TABLE_ALTER_COLUMN_ON_UPDATE,
          CommandInterface.ALTER_TABLE_ALTER_COLUMN_RENAME,
          CommandInterface.ALTER_TABLE_ALTER_COLUMN_VISIBILITY ->
          true;
      default -> false;
    };
  }

  private static Outcome.Refused columnInUse(Table table, String column) {
    return new Outcome.Refused(
        RefusalCode.FENCE_STATE,
        "the locks of the rows of table "
            + FencedTables.nameOf(table)
            + " are computed from column "
            + column
            + ", which cannot be changed so meanwhile: first ALTER TABLE ... NOT FENCED");
  }

  /**
   * Asks about the lock of each committed row of a table. No open transaction may have changed rows
   * of the table. No meter counts the rows: the table bounds their number, and a large table must
   * remain changeable.
   *
   * @return the first refusal, or null
   */
  private Outcome.@Nullable Refused forEachLock(
      Table table, RowLocks locks, Function<LockName, Outcome.@Nullable Refused> question) {
    SessionLocal scanner = database.openSession();
    try {
      Cursor rows = table.getScanIndex(scanner).find(scanner, null, null, false);
      Outcome.Refused refused = null;
      while (refused == null && rows.next()) {
        refused = question.apply(locks.of(rows.get()));
      }
      return refused;
    } finally {
      scanner.close();
    }
  }
}
