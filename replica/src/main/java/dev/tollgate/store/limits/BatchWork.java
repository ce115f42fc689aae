package dev.tollgate.store.limits;

import dev.tollgate.core.SqlContext;
import org.jspecify.annotations.Nullable;

/**
 * What the sets of one batch have done together. Nothing else is applied between them, so all of
 * them share what one statement may do for nothing, and the most that it may do at all; only what
 * rows pay for is there for each set anew. Once one was too much, no other is tried.
 */
public final class BatchWork {
  private final SqlContext context;
  private final Account rows;
  private final Account bytes;
  private @Nullable WorkBudget running;
  private boolean over;

  /**
   * @param context of the attempt to run the sets: one that had to wait goes on with another
   */
  public BatchWork(SqlContext context, StoreLimits limits) {
    this.context = context;
    rows = new Account(limits.rows());
    bytes = new Account(limits.bytes());
  }

  public boolean isOf(SqlContext other) {
    return context == other;
  }

  /**
   * A set runs, and gets what those before it have left.
   *
   * @param rowsOfTables and changesBefore as in {@link WorkBudget}
   */
  public WorkBudget begin(long rowsOfTables, long changesBefore) {
    if (running != null) {
      running.end();
    }
    WorkBudget budget = new WorkBudget(this, rowsOfTables, changesBefore);
    running = budget;
    return budget;
  }

  /** A set was ended because it was too much; those after it do not run. */
  public void end() {
    over = true;
  }

  public boolean isOver() {
    return over;
  }

  Account rows() {
    return rows;
  }

  Account bytes() {
    return bytes;
  }

  /** One kind of work. */
  static final class Account {
    private final WorkLimit limit;
    private long done;
    private long unpaid;

    Account(WorkLimit limit) {
      this.limit = limit;
    }

    WorkLimit limit() {
      return limit;
    }

    /** What the sets before this one have done. */
    long done() {
      return done;
    }

    /** What the next set may do if its tables have so many rows. */
    long left(long rowsOfTables) {
      return Math.max(Math.min(limit.with(rowsOfTables) - unpaid, limit.most() - done), 0);
    }

    /** A set whose tables had so many rows has done this. */
    void add(long work, long rowsOfTables) {
      done += work;
      unpaid += Math.max(work - limit.perRow() * rowsOfTables, 0);
    }
  }
}
