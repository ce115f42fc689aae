package dev.tollgate.sql;

/**
 * The limits of one statement. A statement that exceeds a limit is refused with {@link
 * SqlRefused.Reason#TOO_LONG}.
 */
public final class SqlLimits {

  /** Characters of a statement. */
  public static final int STATEMENT_LENGTH = 1_048_576;

  /**
   * Tokens of a statement: words, names, literals, parameters and signs. A token becomes some 600
   * bytes while a statement is planned, half of which are alive at the end, and as much again when
   * H2 parses the text on each replica. A literal or a comment is one token at most, however long
   * it is.
   */
  public static final int TOKENS = 100_000;

  /**
   * Nesting depth of parentheses, brackets and CASEs. Calcite's parser is recursive: at this depth
   * it was measured to need up to 400 KiB of stack, and 500 KiB with {@link #OPERATORS} in
   * addition.
   */
  public static final int NESTING = 100;

  /**
   * Operators on the path from the outermost to the innermost expression; BETWEEN and LIKE count
   * {@code 3}. Calcite builds trees of operators recursively, which needs 120 KiB of stack for this
   * many. The time grows with the square of their number, and with the cube for BETWEEN and LIKE.
   */
  public static final int OPERATORS = 500;

  /**
   * Nodes of derived tables and WITH queries, each counted as often as H2 prepares it: 4 times for
   * each level. Preparing this many takes one or two tenths of a second. No client can interrupt
   * that work, and during a write all clients wait for it.
   */
  public static final int PREPARATION = 500_000;

  /** {@link #PREPARATION} in a view, which a statement may use beside many others. */
  public static final int PREPARATION_OF_A_VIEW = 100_000;

  /**
   * Uses in a view of queries that WITH names, each counted as often as the query in which it
   * stands. A statement, or another view, may use the view many times.
   */
  public static final int USES_OF_QUERIES_IN_A_VIEW = 50;

  /** Joins of all queries of a statement that writes. */
  public static final int JOINS = 400;

  /** Values of an ENUM: H2 compares each with all others whenever it reads the type. */
  public static final int VALUES_OF_AN_ENUM = 4_096;

  /** Characters of a name; this is H2's limit. */
  public static final int NAME_LENGTH = 256;

  /**
   * Digits of a number, and the absolute value of an exponent, as in 1E10. With larger numbers, H2
   * computes forever or runs out of memory: {@code MOD(1E100000000, 3)}.
   */
  public static final int NUMBER_LENGTH = 1_000;

  /** Characters of the name of a lock; it has at least one. */
  public static final int LOCK_NAME_LENGTH = 255;

  /**
   * Characters of the pattern of lock names in GRANT LOCK and GRANT FORCE; it has at least one. It
   * is {@link #LOCK_NAME_LENGTH} twice, because each {@code %} of a name is written {@code \%}.
   */
  public static final int LOCK_PATTERN_LENGTH = 510;

  /** Characters of a password; it has at least one. */
  public static final int PASSWORD_LENGTH = 1_024;

  /** Leases that may hold a lock at a time; it is at least one. */
  public static final int LOCK_PERMITS = 10_000;

  /** The WORK LIMIT of a user whose statements may do as much as any, in percent. */
  public static final int FULL_WORK = 100;

  /**
   * Characters of a statement whose plan is kept in the cache. A longer statement is planned anew
   * each time.
   */
  public static final int CACHED_STATEMENT_LENGTH = 16_384;

  /**
   * Characters of the result of LPAD, REPEAT, REPLACE, RPAD and SPACE. Also characters of a value
   * of CHAR(n) or BINARY(n), types that pad a value to their length. H2 itself would let one call
   * ask for gigabytes.
   */
  public static final int FUNCTION_RESULT_LENGTH = 1_048_576;

  private SqlLimits() {}
}
