package dev.tollgate.sql;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The plans of the most recently used statements, by their text. Thread-safe. */
final class PlanCache {

  private final Map<String, Plan> plans;

  /**
   * @param capacity the number of plans that are kept; 0 keeps none
   */
  PlanCache(int capacity) {
    if (capacity < 0) {
      throw new IllegalArgumentException("capacity: " + capacity);
    }
    this.plans = new LeastRecentlyUsed(capacity);
  }

  synchronized @Nullable Plan get(String sql) {
    return plans.get(sql);
  }

  /**
   * Keeps a plan. Statements longer than {@link SqlLimits#CACHED_STATEMENT_LENGTH} are not kept,
   * which bounds the memory.
   */
  synchronized void put(String sql, Plan plan) {
    if (sql.length() <= SqlLimits.CACHED_STATEMENT_LENGTH) {
      plans.put(sql, plan);
    }
  }

  private static final class LeastRecentlyUsed extends LinkedHashMap<String, Plan> {
    private static final long serialVersionUID = 1L;

    private final int capacity;

    LeastRecentlyUsed(int capacity) {
      super(16, 0.75f, true);
      this.capacity = capacity;
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<String, Plan> eldest) {
      return size() > capacity;
    }
  }
}
