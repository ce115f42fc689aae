package dev.tollgate.sql;

import dev.tollgate.sql.TableFence.Reading;
import dev.tollgate.sql.tree.FenceClause;
import org.apache.calcite.sql.SqlCharStringLiteral;
import org.apache.calcite.sql.SqlDynamicParam;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlUtil;

/** Turns FENCED BY LOCK clauses into fences, each where it belongs. */
final class Fences {

  private Fences() {}

  /** The clause at the end of a statement, which says under which token it is written. */
  static StatementFence ofStatement(FenceClause clause) {
    SqlNode token = clause.token();
    if (token == null) {
      throw Refusals.syntax(
          clause.start(), "FENCED BY LOCK needs a TOKEN here: write FENCED BY LOCK 'name' TOKEN ?");
    }
    return new StatementFence(lock(clause.lock()), token(token), clause.monotonic());
  }

  /** The clause of a CREATE or ALTER TABLE, which binds the table to a lock. */
  static TableFence ofTable(FenceClause clause) {
    if (clause.token() != null) {
      throw Refusals.notAllowed(
          clause.token().getParserPosition(),
          "a table is bound to a lock, not to a token: write FENCED BY LOCK 'name' without TOKEN");
    }
    if (clause.lock() instanceof SqlDynamicParam) {
      throw Refusals.notAllowed(
          clause.lock().getParserPosition(),
          "the lock of a table must be written out: it belongs to the definition");
    }
    Argument lock = lock(clause.lock());
    return new TableFence(
        ((Argument.Text) lock).value(), clause.monotonic() ? Reading.MONOTONIC : Reading.HELD);
  }

  /** The lock of a fence or of SET FENCING TOKEN. */
  static Argument lock(SqlNode lock) {
    if (lock instanceof SqlDynamicParam parameter) {
      return new Argument.Parameter(parameter.getIndex());
    }
    if (lock instanceof SqlCharStringLiteral literal) {
      return new Argument.Text(Arguments.lockName(literal));
    }
    throw Refusals.notSupported(
        lock.getParserPosition(),
        "a lock for each row, FENCED BY LOCK (expression), is not supported in this version:"
            + " name one lock for the table");
  }

  /** A token, written out or as a parameter. */
  static Argument token(SqlNode token) {
    Argument argument = Arguments.of(token);
    if (argument == null) {
      throw Refusals.notAllowed(
          token.getParserPosition(), "a fencing token is at most " + Long.MAX_VALUE);
    }
    return argument;
  }

  /** A token, or NULL. */
  static Argument tokenOrNull(SqlNode token) {
    return SqlUtil.isNullLiteral(token, false) ? new Argument.Null() : token(token);
  }
}
