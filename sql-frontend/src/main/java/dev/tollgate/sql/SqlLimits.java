package dev.tollgate.sql;

/**
 * How much one statement may be. What exceeds a limit is refused with {@link
 * SqlRefused.Reason#TOO_LONG}.
 */
public final class SqlLimits {

  /** Characters of a statement. */
  public static final int STATEMENT_LENGTH = 1_048_576;

  /**
   * Parentheses, brackets and CASEs within each other. Calcite's parser descends recursively: at
   * this depth it was seen to need up to 400 KiB of stack, and with {@link #OPERATORS} on top of it
   * 500 KiB.
   */
  public static final int NESTING = 100;

  /**
   * Operators on the way from the outermost to the innermost expression; BETWEEN and LIKE count
   * {@code 3}. Calcite makes trees of them recursively, 120 KiB of stack for this many, and takes a
   * time that grows with the square of their number, and with the cube for those two.
   */
  public static final int OPERATORS = 500;

  /**
   * Nodes of derived tables and WITH queries, each counted as often as H2 prepares it: 4 times for
   * each level. It takes a tenth of a second or two for so many, which nobody can interrupt and, in
   * a write, everybody waits for.
   */
  public static final int PREPARATION = 500_000;

  /** The same in a view, which a statement may use beside many others. */
  public static final int PREPARATION_OF_A_VIEW = 100_000;

  /** Uses of queries that WITH names, each counted as often as the query in which it stands. */
  public static final int USES_OF_QUERIES = 2_000;

  /** The same in a view, which a statement, or another view, may use many times. */
  public static final int USES_OF_QUERIES_IN_A_VIEW = 50;

  /** Fields of a ROW, with those of the rows within it; so many a stored one may have too. */
  public static final int FIELDS_OF_A_ROW = 1_000;

  /**
   * Characters of the constants that H2 computes while it reads a statement, REPEAT('x', 1000000),
   * where nobody counts what they take.
   */
  public static final int COMPUTED_CONSTANTS = 16 << 20;

  /**
   * Characters of a computed constant that may become a GEOMETRY. H2's time grows with the square
   * of what it nests; for so many characters it is a millisecond at most.
   */
  public static final int COMPUTED_GEOMETRY = 4_096;

  /** Parentheses within each other in a longer literal that may become a GEOMETRY. */
  public static final int GEOMETRY_NESTING = 64;

  /** Characters of a name; it is H2's limit. */
  public static final int NAME_LENGTH = 256;

  /**
   * Digits of a number, and the exponent of one like 1E10. With larger ones, H2 computes for ever
   * or runs out of memory: {@code MOD(1E100000000, 3)}.
   */
  public static final int NUMBER_LENGTH = 10_000;

  /**
   * Digits of a number in JSON; H2 reads them in a time that grows with the square of their count.
   */
  public static final int JSON_NUMBER_LENGTH = 1_000;

  /** Characters of the name of a lock; it has at least one. */
  public static final int LOCK_NAME_LENGTH = 255;

  /**
   * Characters of a statement whose plan is kept in the cache. Longer ones are planned anew each
   * time.
   */
  public static final int CACHED_STATEMENT_LENGTH = 16_384;

  /**
   * Characters of what LPAD, REPEAT, REPLACE, RPAD and SPACE give, and of a data type that fills a
   * value up to its length, CHAR(n) and BINARY(n). H2 alone would let one call ask for gigabytes.
   */
  public static final int FUNCTION_RESULT_LENGTH = 1_048_576;

  private SqlLimits() {}
}
