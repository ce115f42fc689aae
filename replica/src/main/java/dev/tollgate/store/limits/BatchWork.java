package dev.tollgate.store.limits;

import dev.tollgate.core.SqlContext;
import dev.tollgate.core.command.Limits;
import dev.tollgate.store.h2.Exhausted;
import org.h2.message.DbException;
import org.jspecify.annotations.Nullable;

/**
 * The work that the statements and parameter sets of one request have done together. Nothing else
 * is applied between them, so they share the base and the maximum of one statement's limits, and
 * what one transaction may change. Only the allowance for rows starts anew with each set. After a
 * set was too much, no later set runs.
 */
public final class BatchWork {
  private final SqlContext context;
  private final StoreLimits limits;
  private final Account rows;
  private final Account bytes;
  private final Account steps;
  private @Nullable WorkBudget running;
  private @Nullable StepBudget stepping;
  private final long mostChanges;
  private long changes;
  private boolean over;

  /**
   * @param context the context of the attempt to run the sets; a batch that had to wait goes on
   *     with another context
   * @param standard the limits of a user without a work limit
   */
  public BatchWork(SqlContext context, StoreLimits standard) {
    this.context = context;
    limits = standard.of(context.workLimit());
    // a bound on memory, whoever the user is
    mostChanges = standard.transactionChanges();
    rows = new Account(limits.rows());
    bytes = new Account(limits.bytes());
    steps = new Account(limits.steps());
  }

  public boolean isOf(SqlContext other) {
    return context == other;
  }

  /** Begins a set, which is not prepared yet, and returns a budget of its steps. */
  public StepBudget beginSteps() {
    if (stepping != null) {
      stepping.end();
    }
    StepBudget budget = new StepBudget(this);
    stepping = budget;
    return budget;
  }

  /**
   * Begins the work of a set, and returns a budget of what the sets before it have left.
   *
   * @param rowsOfTables as in {@link WorkBudget}
   * @param changesBefore as in {@link WorkBudget}
   */
  public WorkBudget begin(long rowsOfTables, long changesBefore) {
    if (running != null) {
      running.end();
    }
    WorkBudget budget = new WorkBudget(this, rowsOfTables, changesBefore);
    running = budget;
    if (stepping != null) {
      stepping.payFor(rowsOfTables);
    }
    return budget;
  }

  /** Records that a set was ended because it was too much; the sets after it do not run. */
  public void end() {
    over = true;
  }

  public boolean isOver() {
    return over;
  }

  /** The limits of the user of the statement. */
  public StoreLimits limits() {
    return limits;
  }

  /**
   * Refuses a definition that goes through so many rows of a table, unless the user has no work
   * limit.
   *
   * @throws DbException with SQLState 54001
   */
  public void requireSmall(long rowsGoneThrough) {
    long most = limits.rows().most();
    if (context.workLimit() < Limits.FULL_WORK && rowsGoneThrough > most) {
      throw Exhausted.work(
          "the definition was not carried out, because it goes through all "
              + rowsGoneThrough
              + " rows of its table, more than "
              + most
              + ", and every replica would stand still meanwhile: have an administrator do it."
              + whyLess());
    }
  }

  /** Why the limits are less than others', for a message; empty if they are not. */
  public String whyLess() {
    return context.workLimit() == Limits.FULL_WORK
        ? ""
        : " (User "
            + context.user()
            + " has WORK LIMIT "
            + context.workLimit()
            + ", in percent of what an administrator may do. Have one ALTER USER "
            + context.user()
            + " WORK LIMIT "
            + Limits.FULL_WORK
            + " for work that has to be done in one statement.)";
  }

  /** Adds the changes that a set has made. */
  void changed(long more) {
    changes += more;
  }

  long changesLeft() {
    return mostChanges - changes;
  }

  long mostChanges() {
    return mostChanges;
  }

  Account rows() {
    return rows;
  }

  Account bytes() {
    return bytes;
  }

  Account steps() {
    return steps;
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

    /** What the sets before have done, for a message; empty if there was none. */
    String shared() {
      return done == 0
          ? ""
          : " The statements and sets of one request share this, and those before this one have"
              + " taken "
              + done
              + ": send fewer in one request.";
    }

    /** Returns what the next set may do if its tables have this many rows. */
    long left(long rowsOfTables) {
      return Math.max(Math.min(limit.with(rowsOfTables) - unpaid, limit.most() - done), 0);
    }

    /** Adds the work of a set whose tables had this many rows. */
    void add(long work, long rowsOfTables) {
      done += work;
      unpaid += Math.max(work - limit.perRow() * rowsOfTables, 0);
    }
  }
}
