package dev.tollgate.sql;

import org.jspecify.annotations.Nullable;

/**
 * Text in, plan out: every statement of a client is parsed, classified, and checked against lists
 * of what is allowed, before anything else happens to it. See DESIGN.md of this module for the way
 * of a statement through it.
 *
 * <p>Thread-safe. Planning is computation alone: it takes some 50 to 500 microseconds, nothing is
 * waited for, and the catalog is not consulted, so a plan never becomes stale.
 */
public final class SqlFrontend {

  private final PlanCache cache;

  /**
   * @param cachedPlans how many plans are kept, those that were used last; 0 keeps none. A kept
   *     plan takes about four times the length of its statement, at most {@link
   *     SqlLimits#CACHED_STATEMENT_LENGTH} characters.
   */
  public SqlFrontend(int cachedPlans) {
    this.cache = new PlanCache(cachedPlans);
  }

  /**
   * @throws SqlRefused when the statement cannot be read, is not allowed, or is not supported
   */
  public Plan plan(String sql) {
    Plan known = cache.get(sql);
    if (known != null) {
      return known;
    }
    Plan plan = Planner.plan(sql);
    cache.put(sql, plan);
    return plan;
  }

  /**
   * The plan of a statement that was planned lately, else null. Only a lookup, so it may be called
   * where no time may be lost; whoever gets null plans the statement elsewhere.
   */
  public @Nullable Plan cached(String sql) {
    return cache.get(sql);
  }

  /**
   * Plans one statement of every kind, so that the first client does not pay for the loading of a
   * thousand classes: half a second on one core. The cache stays as it is.
   */
  public void warmUp() {
    for (String sql : WarmUp.STATEMENTS) {
      Planner.plan(sql);
    }
  }
}
