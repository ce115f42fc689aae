package dev.tollgate.sql.tree;

import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.parser.SqlParserPos;
import org.jspecify.annotations.Nullable;

/**
 * An INSERT, UPDATE, DELETE or MERGE: the table it changes, and all the expressions and queries in
 * it.
 */
public final class DataChange extends TollgateCall {

  public enum Verb {
    INSERT,
    UPDATE,
    DELETE,
    MERGE
  }

  private final SqlIdentifier target;
  private final @Nullable SqlNode using;
  private final List<SqlNode> parts;

  /**
   * @param using the table reference after USING, in a MERGE that has one
   * @param parts expressions and queries, in the order of the text
   */
  public DataChange(
      SqlParserPos position,
      Verb verb,
      SqlIdentifier target,
      @Nullable SqlNode using,
      List<SqlNode> parts) {
    super(position, verb.name());
    this.target = target;
    this.using = using;
    this.parts = List.copyOf(parts);
  }

  public SqlIdentifier target() {
    return target;
  }

  public @Nullable SqlNode using() {
    return using;
  }

  public List<SqlNode> parts() {
    return parts;
  }

  @Override
  public List<SqlNode> getOperandList() {
    List<SqlNode> operands = new ArrayList<>();
    operands.add(target);
    if (using != null) {
      operands.add(using);
    }
    operands.addAll(parts);
    return operands;
  }
}
