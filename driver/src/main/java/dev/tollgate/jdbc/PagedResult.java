package dev.tollgate.jdbc;

import dev.tollgate.value.Column;
import dev.tollgate.value.RowSet;
import java.util.List;
import org.h2.api.ErrorCode;
import org.h2.engine.Session;
import org.h2.message.DbException;
import org.h2.result.ResultInterface;
import org.h2.value.TypeInfo;
import org.h2.value.Value;
import org.jspecify.annotations.Nullable;

/**
 * The rows of a result, all of them or one page at a time. Not thread-safe.
 *
 * <p>Forward only, once a second page was fetched.
 */
final class PagedResult implements ResultInterface {
  /** The source of the rows after the first page. */
  interface MoreRows {
    /** Fetches the next page. */
    RowSet.Page next();

    /** Tells the source that no more rows will be fetched. */
    void giveUp();
  }

  private final List<Column> columns;
  private final long rowCount;
  private final @Nullable MoreRows more;
  private List<Value[]> page;
  private boolean lastPage;
  private long rowsBeforePage;
  private long rowId = -1;
  private Value @Nullable [] row;
  private boolean closed;

  private PagedResult(
      List<Column> columns, long rowCount, List<Value[]> page, @Nullable MoreRows more) {
    this.columns = columns;
    this.rowCount = rowCount;
    this.page = page;
    this.more = more;
    this.lastPage = more == null;
  }

  static PagedResult complete(List<Column> columns, List<Value[]> rows) {
    return new PagedResult(columns, rows.size(), rows, null);
  }

  static PagedResult firstPage(RowSet rows, MoreRows more) {
    return new PagedResult(rows.columns(), rows.totalRows(), rows.page().rows(), more);
  }

  @Override
  public boolean next() {
    if (rowId >= rowCount) {
      return false;
    }
    long wanted = rowId + 1;
    while (wanted - rowsBeforePage >= page.size() && !lastPage && more != null) {
      RowSet.Page next = more.next();
      rowsBeforePage += page.size();
      page = next.rows();
      lastPage = next.cursorId() == 0;
    }
    boolean found = wanted - rowsBeforePage < page.size();
    rowId = found ? wanted : rowCount;
    row = found ? page.get((int) (wanted - rowsBeforePage)) : null;
    return found;
  }

  @Override
  public void reset() {
    if (rowsBeforePage > 0) {
      throw DbException.get(ErrorCode.RESULT_SET_NOT_SCROLLABLE);
    }
    rowId = -1;
    row = null;
  }

  @Override
  public Value @Nullable [] currentRow() {
    return row;
  }

  @Override
  public long getRowId() {
    return rowId;
  }

  @Override
  public boolean isAfterLast() {
    return rowId >= rowCount;
  }

  @Override
  public boolean hasNext() {
    return rowId < rowCount - 1;
  }

  @Override
  public long getRowCount() {
    return rowCount;
  }

  @Override
  public int getVisibleColumnCount() {
    return columns.size();
  }

  @Override
  public boolean needToClose() {
    return !lastPage;
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      if (!lastPage && more != null) {
        more.giveUp();
      }
    }
  }

  @Override
  public boolean isClosed() {
    return closed;
  }

  @Override
  public String getAlias(int i) {
    return columns.get(i).label();
  }

  @Override
  public @Nullable String getSchemaName(int i) {
    return columns.get(i).schema();
  }

  @Override
  public @Nullable String getTableName(int i) {
    return columns.get(i).table();
  }

  @Override
  public @Nullable String getColumnName(int i) {
    return columns.get(i).name();
  }

  @Override
  public TypeInfo getColumnType(int i) {
    return columns.get(i).type();
  }

  @Override
  public boolean isIdentity(int i) {
    return columns.get(i).identity();
  }

  @Override
  public int getNullable(int i) {
    return columns.get(i).nullable();
  }

  /** Does nothing: the page size was fixed when the query ran. */
  @Override
  public void setFetchSize(int fetchSize) {}

  @Override
  public int getFetchSize() {
    return page.size();
  }

  /** Returns false: H2 would keep the command of a lazy result open, and this one holds nothing. */
  @Override
  public boolean isLazy() {
    return false;
  }

  /** Returns null: there is no copy. */
  @Override
  public @Nullable ResultInterface createShallowCopy(Session targetSession) {
    return null;
  }
}
