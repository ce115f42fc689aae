package dev.tollgate.sql;

import org.jspecify.annotations.Nullable;

/**
 * Turns the text of a statement into a plan. Every statement of a client is parsed, classified, and
 * checked against lists of what is allowed, before anything else happens to it. DESIGN.md of this
 * module describes these steps.
 *
 * <p>Thread-safe. Planning takes some 50 to 500 microseconds of computation and never waits. It
 * does not consult the catalog, so a plan never becomes stale.
 */
public final class SqlFrontend {

  private final PlanCache cache;

  /**
   * @param cachedPlans how many of the most recently used plans are kept; 0 keeps none. A kept plan
   *     takes about four times the length of its statement, which is at most {@link
   *     SqlLimits#CACHED_STATEMENT_LENGTH} characters.
   */
  public SqlFrontend(int cachedPlans) {
    this.cache = new PlanCache(cachedPlans);
  }

  /**
   * Returns the plan of a statement, and keeps the plan unless the statement holds a password.
   *
   * @throws SqlRefused when the statement cannot be read, is not allowed, or is not supported
   */
  public Plan plan(String sql) {
    Plan known = cache.get(sql);
    if (known != null) {
      return known;
    }
    Plan plan = Planner.plan(sql);
    if (!PasswordStatements.holdsPassword(plan)) {
      cache.put(sql, plan);
    }
    return plan;
  }

  /**
   * Returns the plan of a recently planned statement, else null. This is only a lookup, so threads
   * that must not lose time may call it. A caller that gets null plans the statement elsewhere.
   */
  public @Nullable Plan cached(String sql) {
    return cache.get(sql);
  }

  /**
   * Returns the query that computes what a planned statement would store, change or delete. Its
   * parameters are the first ones of the statement.
   *
   * @return null if the statement has no such query, or if the query changes something itself
   */
  public static Plan.@Nullable Read readPart(String sql) {
    return ReadPart.of(sql);
  }

  /** Whether a statement can be read, and has neither too many characters nor too many tokens. */
  public static boolean isShortEnough(String sql) {
    return sql.length() <= SqlLimits.STATEMENT_LENGTH && Tokens.isReadable(sql);
  }

  /**
   * Returns the form of a statement that was planned: its text without values, which operators may
   * see, of at most some 1,000 characters. This takes some tens of microseconds.
   */
  public static String form(String sql) {
    return StatementForm.of(sql);
  }

  /**
   * Plans statements that together use the code that most statements need, so that the first client
   * does not wait for the loading of a thousand classes. That takes half a second on one core. The
   * cache does not change.
   */
  public void warmUp() {
    for (String sql : WarmUp.STATEMENTS) {
      Planner.plan(sql);
    }
  }
}
