package dev.tollgate.sql;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/**
 * Thrown for a statement that Tollgate does not run. The message starts with the position. It says
 * what is refused, why, and what to write instead if there is something.
 *
 * <p>A refusal is an expected outcome, so it carries no stack trace.
 */
public final class SqlRefused extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /** Why a statement is refused. */
  public enum Reason {
    /** The text is not a statement, or two parsers could read it differently. SQLState 42T01. */
    SYNTAX,
    /** Understood, but against the rules. SQLState 42T01. */
    NOT_ALLOWED,
    /** Understood and harmless, but this version cannot do it. SQLState HYC00. */
    NOT_SUPPORTED,
    /** Longer, or more deeply nested, than {@link SqlLimits} allows. SQLState 54000. */
    TOO_LONG
  }

  private final Reason reason;
  private final int line;
  private final int column;

  SqlRefused(Reason reason, int line, int column, String sentence) {
    this(reason, line, column, sentence, null);
  }

  SqlRefused(Reason reason, int line, int column, String sentence, @Nullable Throwable cause) {
    super("line " + line + ", column " + column + ": " + sentence, cause, false, false);
    this.reason = requireNonNull(reason, "reason");
    this.line = line;
    this.column = column;
  }

  public Reason reason() {
    return reason;
  }

  /** The line of the refused text, from 1. */
  public int line() {
    return line;
  }

  /** The column of the refused text, from 1; a tab is one column. */
  public int column() {
    return column;
  }
}
