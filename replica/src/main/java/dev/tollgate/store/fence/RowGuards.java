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

/** The tables whose rows have locks of their own. */
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
   * Makes sure that every row of a table has a lock.
   *
   * @throws org.h2.message.DbException if one has none, or the expression does not fit the table
   */
  void requireLocks(Table table, Operation.RowFence terms) {
    RowLockExpression lock = new RowLockExpression(evaluator, table, terms.lockSql());
    forEachLock(table, lock, name -> null);
  }

  /**
   * Guards a table from now on. H2 has taken away the guard of the table object that it has
   * replaced.
   */
  public void guard(FenceId fence, Table table, Operation.RowFence terms) {
    RowLockExpression lock = new RowLockExpression(evaluator, table, terms.lockSql());
    RowGuard guard = new RowGuard(hidden, table, fence, lock);
    guards.put(fence, guard);
    hidden.add(guard);
    guard.standLast();
  }

  /** True if this fence is one of theirs. */
  boolean isGuarded(FenceId fence) {
    return guards.containsKey(fence);
  }

  /** Ends the guard of a table, which may be gone. */
  void remove(FenceId fence) {
    RowGuard guard = guards.remove(fence);
    if (guard != null) {
      guard.leave();
    }
  }

  /**
   * Constraints are asked in the order in which they were made. Replicas have made the guards at
   * different times, if one of them comes from a snapshot.
   */
  void standLast() {
    guards.values().forEach(RowGuard::standLast);
  }

  /** Asks whether a definition may do to a table what it does; null if it may. */
  Outcome.@Nullable Refused admit(
      FenceId fence, Table table, Prepared definition, SqlContext context) {
    RowGuard guard = guards.get(fence);
    if (guard == null) {
      return null;
    }
    int type = definition.getType();
    if (!keepsRows(type) || type == CommandInterface.ALTER_TABLE_ALTER_COLUMN_RENAME) {
      for (String column : H2Statements.alteredColumns(definition)) {
        if (guard.lock().columnNames().contains(column)) {
          return columnInUse(table, column);
        }
      }
    }
    return keepsRows(type) ? null : admitAllRows(fence, table, context);
  }

  /** Asks whether somebody may take or let go of all rows of a table at once; null if so. */
  Outcome.@Nullable Refused admitAllRows(FenceId fence, Table table, SqlContext context) {
    RowGuard guard = guards.get(fence);
    return guard == null
        ? null
        : forEachLock(table, guard.lock(), lock -> context.admitAllRows(fence, lock));
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
   * Asks about the committed rows of a table, of which no transaction may have others. No meter
   * counts them: their number is bounded by the table, and a large one must remain changeable.
   *
   * @return the first refusal, or null
   */
  private Outcome.@Nullable Refused forEachLock(
      Table table,
      RowLockExpression expression,
      Function<LockName, Outcome.@Nullable Refused> question) {
    SessionLocal scanner = database.openSession();
    try {
      Cursor rows = table.getScanIndex(scanner).find(scanner, null, null, false);
      Outcome.Refused refused = null;
      while (refused == null && rows.next()) {
        refused = question.apply(expression.of(rows.get()));
      }
      return refused;
    } finally {
      scanner.close();
    }
  }
}
