package dev.tollgate.store.limits;

import dev.tollgate.store.h2.H2Statements;
import java.util.Iterator;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.h2.command.Prepared;
import org.h2.command.dml.Delete;
import org.h2.command.dml.Update;
import org.h2.command.query.AllColumnsForPlan;
import org.h2.engine.SessionLocal;
import org.h2.expression.Expression;
import org.h2.index.Cursor;
import org.h2.index.Index;
import org.h2.index.IndexCursor;
import org.h2.index.IndexType;
import org.h2.message.DbException;
import org.h2.result.Row;
import org.h2.result.SearchRow;
import org.h2.result.SortOrder;
import org.h2.table.IndexColumn;
import org.h2.table.TableFilter;
import org.h2.table.TableType;
import org.jspecify.annotations.Nullable;

/**
 * The rows that an UPDATE or a DELETE with LIMIT or FETCH changes: of those that meet its
 * condition, the first in the order of the row keys. H2 alone would take the first that its plan
 * comes to.
 *
 * <p>The order of the row keys is that of the primary key, if it is one column of integers, else
 * that in which the rows were inserted. A replica that was restored from a snapshot may have other
 * keys, in the same order: snapshots and checksums take rows in this order, too.
 *
 * <p>It stands between the statement and the index that H2 has chosen: it finds the rows by that
 * index, and gives them to the statement in order.
 */
final class FirstRows extends Index {
  private final TableFilter scan;
  private final Index chosen;
  private final @Nullable Expression condition;
  private final Expression count;

  private FirstRows(TableFilter scan, @Nullable Expression condition, Expression count) {
    super(
        scan.getTable(),
        0,
        "FIRST_ROWS",
        IndexColumn.wrap(scan.getTable().getColumns()),
        0,
        IndexType.createScan(/* persistent= */ false));
    this.scan = scan;
    this.chosen = scan.getIndex();
    this.condition = condition;
    this.count = count;
  }

  /**
   * Gives a DELETE its rows in order, if it has a limit, and takes its condition away.
   *
   * @return that condition, which has not been metered yet; null if the statement keeps it
   */
  static @Nullable Expression limit(Delete delete) {
    return limit(delete, delete::getTableFilter, delete::getCondition, delete::setCondition);
  }

  /** The same for an UPDATE. */
  static @Nullable Expression limit(Update update) {
    return limit(update, update::getTableFilter, update::getCondition, update::setCondition);
  }

  /** H2 hides the class that both are of. */
  private static @Nullable Expression limit(
      Prepared change,
      Supplier<TableFilter> scan,
      Supplier<@Nullable Expression> condition,
      Consumer<@Nullable Expression> setCondition) {
    Expression count = H2Statements.fetchOf(change);
    if (count == null) {
      return null;
    }
    change.prepare();
    Expression stated = condition.get();
    if (!stands(scan.get(), stated, count)) {
      return null;
    }
    setCondition.accept(null);
    return stated;
  }

  /** Steps between; not where H2 is about to say that this is no table. */
  private static boolean stands(
      TableFilter scan, @Nullable Expression condition, Expression count) {
    if (scan.getTable().getTableType() != TableType.TABLE || scan.getIndex() instanceof FirstRows) {
      return false;
    }
    scan.setIndex(new FirstRows(scan, condition, count), /* reverse= */ false);
    return true;
  }

  @Override
  public Cursor find(
      SessionLocal session, @Nullable SearchRow first, @Nullable SearchRow last, boolean reverse) {
    return new Rows(session, keys(session, count.getValue(session).getLong()));
  }

  private NavigableSet<Long> keys(SessionLocal session, long most) {
    NavigableSet<Long> keys = new TreeSet<>();
    boolean inOrder = chosen.equals(table.getScanIndex(session));
    IndexCursor found = new IndexCursor();
    H2Statements.find(found, chosen, session, scan);
    while (!(inOrder && keys.size() >= most) && !found.isAlwaysFalse() && found.next()) {
      ScanMeter.INSTANCE.getValue(session);
      Row row = found.get();
      scan.set(row);
      if (condition == null || condition.getBooleanValue(session)) {
        keys.add(row.getKey());
        if (keys.size() > most) {
          keys.pollLast();
        }
      }
    }
    return keys;
  }

  /** H2 leaves the conditions on columns to the statement then: here, they are met already. */
  @Override
  public boolean isFindUsingFullTableScan() {
    return true;
  }

  /** The rows with some keys, in the order of the keys. */
  private final class Rows implements Cursor {
    private final SessionLocal session;
    private final Iterator<Long> keys;
    private @Nullable Row current;

    Rows(SessionLocal session, NavigableSet<Long> keys) {
      this.session = session;
      this.keys = keys.iterator();
    }

    @Override
    public @Nullable Row get() {
      return current;
    }

    @Override
    public @Nullable SearchRow getSearchRow() {
      return current;
    }

    @Override
    public boolean next() {
      current = keys.hasNext() ? table.getRow(session, keys.next()) : null;
      return current != null;
    }

    @Override
    public boolean previous() {
      throw DbException.getInternalError("rows are taken forwards");
    }
  }

  @Override
  public void close(SessionLocal session) {}

  @Override
  public void add(SessionLocal session, Row row) {
    throw notKept();
  }

  @Override
  public void remove(SessionLocal session, Row row) {
    throw notKept();
  }

  @Override
  public double getCost(
      SessionLocal session,
      int[] masks,
      TableFilter[] filters,
      int filter,
      SortOrder sortOrder,
      AllColumnsForPlan allColumnsSet,
      boolean isSelectCommand) {
    throw notKept();
  }

  @Override
  public void remove(SessionLocal session) {
    throw notKept();
  }

  @Override
  public void truncate(SessionLocal session) {
    throw notKept();
  }

  @Override
  public boolean needRebuild() {
    return false;
  }

  @Override
  public long getRowCount(SessionLocal session) {
    return chosen.getRowCount(session);
  }

  @Override
  public long getRowCountApproximation(SessionLocal session) {
    return chosen.getRowCountApproximation(session);
  }

  private static RuntimeException notKept() {
    return DbException.getInternalError("it belongs to one statement, not to the table");
  }
}
