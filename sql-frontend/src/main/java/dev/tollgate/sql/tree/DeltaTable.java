package dev.tollgate.sql.tree;

import java.util.List;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.parser.SqlParserPos;

/**
 * {@code FINAL TABLE (INSERT ...)}, also OLD and NEW: a change that stands where a table may stand.
 */
public final class DeltaTable extends TollgateCall {

  private final DataChange change;

  public DeltaTable(SqlParserPos position, DataChange change) {
    super(position, "DELTA TABLE");
    this.change = change;
  }

  public DataChange change() {
    return change;
  }

  @Override
  public List<SqlNode> getOperandList() {
    return List.of(change);
  }
}
