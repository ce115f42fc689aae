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
 * The rows that an UPDATE or a DELETE with LIMIT or FETCH changes: the first rows that meet its
 * condition, in the order of the row keys. H2 alone would take the first rows that its plan finds.
 *
 * <p>If the primary key is one column of integers, row keys follow the order of the primary key.
 * Otherwise they follow the order in which the rows were inserted. A replica that was restored from
 * a snapshot may have other row keys, but in the same order: snapshots and checksums take rows in
 * this order, too.
 *
 * <p>This index stands between the statement and the index that H2 has chosen. It finds the rows by
 * the chosen index, and gives them to the statement in order.
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
   * Gives a DELETE with a limit its rows in order, and removes its condition.
   *
   * @return the removed condition, which has not been metered yet; null if the statement keeps its
   *     condition
   */
  static @Nullable Expression limit(Delete delete) {
    return limit(delete, delete::getTableFilter, delete::getCondition, delete::setCondition);
  }

  /**
   * Gives an UPDATE with a limit its rows in order, as {@link #limit(Delete)} does for a DELETE.
   */
  static @Nullable Expression limit(Update update) {
    return limit(update, update::getTableFilter, update::getCondition, update::setCondition);
  }

  /** Takes suppliers, because H2 hides the common class of DELETE and UPDATE. */
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

  /**
   * Replaces the index of the scan, but not if H2 is about to report that its target is no table.
   */
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

  /**
   * Makes H2 leave the conditions on columns to the statement: the rows found here meet them
   * already.
   */
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
