package dev.tollgate.sql.tree;

import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlOperator;
import org.apache.calcite.sql.SqlSpecialOperator;
import org.apache.calcite.sql.SqlWriter;
import org.apache.calcite.sql.parser.SqlParserPos;

/**
 * A node that may stand within Calcite's own nodes. It is only read. It is not copied, because a
 * copy would lose what is not an operand. It is not written out, because the text for H2 is rebuilt
 * from tokens.
 */
abstract class TollgateCall extends SqlCall {

  private final SqlOperator operator;

  TollgateCall(SqlParserPos position, String name) {
    super(position);
    this.operator = new SqlSpecialOperator(name, SqlKind.OTHER_DDL);
  }

  @Override
  public final SqlOperator getOperator() {
    return operator;
  }

  /**
   * Returns this node. Calcite copies a node in parentheses to give it their position; Tollgate's
   * nodes keep the position they have.
   */
  @Override
  public final SqlNode clone(SqlParserPos position) {
    return this;
  }

  @Override
  public final void unparse(SqlWriter writer, int leftPrecedence, int rightPrecedence) {
    throw new UnsupportedOperationException("rebuilt from tokens, not from the tree");
  }
}
