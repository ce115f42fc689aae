package dev.tollgate.sql;

import dev.tollgate.sql.TableFence.Reading;
import dev.tollgate.sql.tree.FenceClause;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlCharStringLiteral;
import org.apache.calcite.sql.SqlDynamicParam;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlUtil;

/** Turns FENCED BY LOCK clauses into fences of statements and of tables. */
final class Fences {

  private static final String PERMITS = "a lock has 1 to " + SqlLimits.LOCK_PERMITS + " permits";

  private Fences() {}

  /**
   * Returns the fence of a statement, from the clause at its end that gives the token of the write.
   */
  static StatementFence ofStatement(FenceClause clause) {
    SqlNode token = clause.token();
    if (token == null) {
      throw Refusals.syntax(
          clause.start(), "FENCED BY LOCK needs a TOKEN here: write FENCED BY LOCK 'name' TOKEN ?");
    }
    return new StatementFence(lock(clause.lock()), token(token), clause.monotonic());
  }

  /** Returns the fence that SET gives to all writes of a session. */
  static StatementFence ofSession(FenceClause clause) {
    StatementFence fence = ofStatement(clause);
    if (fence.monotonic()) {
      throw Refusals.notSupported(
          clause.start(),
          "SET FENCED MONOTONIC is not supported: a write to a table that is not fenced would have"
              + " nothing to compare the token with; write SET FENCING TOKEN n FOR LOCK 'name'");
    }
    return fence;
  }

  /**
   * Returns the fence of a table, from the clause of CREATE or ALTER TABLE that binds it to a lock.
   */
  static TableFence ofTable(Tokens tokens, FenceClause clause) {
    if (clause.token() != null) {
      throw Refusals.notAllowed(
          clause.token().getParserPosition(),
          "a table is bound to a lock, not to a token: write FENCED BY LOCK 'name' without TOKEN");
    }
    SqlNode lock = withoutParentheses(clause.lock());
    if (lock instanceof SqlDynamicParam) {
      throw Refusals.notAllowed(
          lock.getParserPosition(),
          "the lock of a table must be written out: it belongs to the definition");
    }
    if (lock instanceof SqlCharStringLiteral literal) {
      return new TableFence.OneLock(
          Arguments.lockName(literal), clause.monotonic() ? Reading.MONOTONIC : Reading.HELD);
    }
    if (clause.monotonic()) {
      throw Refusals.notSupported(
          clause.lock().getParserPosition(),
          "FENCED MONOTONIC BY LOCK (expression) is not supported: the table would have to keep"
              + " the highest token of every name for ever; write FENCED BY LOCK (expression)");
    }
    return new TableFence.LockPerRow(RowLockClause.expressionSql(tokens, clause.lock()));
  }

  /** The one lock that a statement, CREATE LOCK or SET FENCING TOKEN names. */
  static Argument lock(SqlNode lock) {
    SqlNode name = withoutParentheses(lock);
    if (name instanceof SqlDynamicParam parameter) {
      return new Argument.Parameter(parameter.getIndex());
    }
    if (name instanceof SqlCharStringLiteral literal) {
      return new Argument.Text(Arguments.lockName(literal));
    }
    throw Refusals.notAllowed(
        lock.getParserPosition(),
        "a lock for each row is for CREATE and ALTER TABLE: here name one lock, or write ?");
  }

  /** A token: a literal or a parameter. */
  static Argument token(SqlNode token) {
    return integer(token, "a fencing token is at most " + Long.MAX_VALUE);
  }

  /** The number of leases that may hold a lock at a time: a literal or a parameter. */
  static Argument permits(SqlNode permits) {
    Argument argument = integer(permits, PERMITS);
    if (argument instanceof Argument.Integral number
        && (number.value() < 1 || number.value() > SqlLimits.LOCK_PERMITS)) {
      throw Refusals.notAllowed(permits.getParserPosition(), PERMITS);
    }
    return argument;
  }

  private static Argument integer(SqlNode node, String otherwise) {
    Argument argument = Arguments.of(node);
    if (argument == null) {
      throw Refusals.notAllowed(node.getParserPosition(), otherwise);
    }
    return argument;
  }

  /** A token, or NULL. */
  static Argument tokenOrNull(SqlNode token) {
    return SqlUtil.isNullLiteral(token, false) ? new Argument.Null() : token(token);
  }

  /** Removes the parentheses of an expression, which the grammar represents as a row. */
  private static SqlNode withoutParentheses(SqlNode lock) {
    return lock.getKind() == SqlKind.ROW ? ((SqlCall) lock).operand(0) : lock;
  }
}
