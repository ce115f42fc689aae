package dev.tollgate.store.limits;

import dev.tollgate.core.command.Limits;
import dev.tollgate.store.h2.Exhausted;
import dev.tollgate.store.statement.StatementMeter;
import dev.tollgate.store.statement.StatementWeight;

/**
 * The budget of one execution of a statement of the log, which grows with the existing data. It
 * counts what the statement does and no time, so every replica ends the statement at the same row.
 */
public final class WorkBudget implements StatementMeter {
  /**
   * Steps for one visit: H2 goes through a frame at least twice, for its ends and for its values.
   */
  private static final int STEPS_PER_VISIT = 2;

  private final BatchWork batch;
  private final long rowsOfTables;
  private final long maxRows;
  private final long paidChanges;
  private long paidSteps;
  private final long maxBytes;
  private long rows;
  private long changesBefore;
  private long unpaidChanges;
  private long lastChanges;
  private long operations;
  private long examined;
  private StatementWeight weight = StatementWeight.NONE;
  private long bytes;

  /**
   * @param batch what the sets before this one have done
   * @param rowsOfTables how many rows the tables to which the statement refers have before it runs,
   *     each table counted once, and its VALUES
   * @param changesBefore how many changes its transaction had made before it runs
   */
  WorkBudget(BatchWork batch, long rowsOfTables, long changesBefore) {
    this.batch = batch;
    this.rowsOfTables = rowsOfTables;
    this.changesBefore = changesBefore;
    lastChanges = changesBefore;
    maxRows = batch.rows().left(rowsOfTables);
    paidSteps = Math.min(rowsOfTables * Limits.STATEMENT_STEPS_PER_ROW, batch.limits().paidSteps());
    paidChanges = rowsOfTables * Limits.STATEMENT_CHANGES_PER_ROW;
    maxBytes = batch.bytes().left(rowsOfTables);
  }

  /** Returns the bytes written so far. */
  public long bytes() {
    return bytes;
  }

  /** Ends the execution: the next set of the batch gets what this set has left. */
  void end() {
    batch.rows().add(rows + unpaidChanges * Limits.ROWS_PER_CHANGE, rowsOfTables);
    batch.bytes().add(bytes, rowsOfTables);
  }

  @Override
  public void weighed(StatementWeight found) {
    weight = found;
    operations = Math.max(weight.operations() - Limits.FREE_OPERATIONS, 0);
  }

  @Override
  public void looked(int more) {
    rows += more + more * weight.divisions();
    examined += more;
    long visits = 0;
    for (long most : weight.visits()) {
      visits += Math.min(examined, most);
    }
    pay(more * (operations + visits * STEPS_PER_VISIT));
    requireRows();
    if (weight.keptBytes() > 0) {
      wrote(more * weight.keptBytes());
    }
  }

  @Override
  public void stepped(int steps) {
    pay(steps);
    requireRows();
  }

  @Override
  public void compared(long bytes) {
    if (bytes <= SizeMeter.SMALL) {
      return;
    }
    int comparisons = Long.SIZE - Long.numberOfLeadingZeros(rowsOfTables + examined);
    pay(bytes / SizeMeter.BYTES_PER_STEP * comparisons);
    requireRows();
  }

  private void pay(long steps) {
    paidSteps -= steps;
    if (paidSteps < 0) {
      rows += StatementMeter.rowsOf(-paidSteps);
      paidSteps = 0;
    }
  }

  @Override
  public void changed(long changes) {
    // a definition has committed the changes before it
    changesBefore = Math.min(changesBefore, changes);
    pay(Math.max(changes - lastChanges, 0) * operations);
    lastChanges = changes;
    unpaidChanges = Math.max(changes - changesBefore - paidChanges, 0);
    requireRows();
  }

  private void requireRows() {
    if (rows + unpaidChanges * Limits.ROWS_PER_CHANGE > maxRows) {
      throw Exhausted.work(
          "the statement was ended and changed nothing, because it looked at more than "
              + maxRows
              + " rows"
              + (unpaidChanges == 0
                  ? ""
                  : ", and each of "
                      + unpaidChanges
                      + " changes counts as "
                      + Limits.ROWS_PER_CHANGE)
              + ": every replica would stand still meanwhile. "
              + terms(batch.rows(), "look at", "rows")
              + " Split it, for instance by ranges of the key, or give its conditions and joins an"
              + " index");
    }
  }

  @Override
  public void wrote(long more) {
    bytes += more;
    if (bytes > maxBytes) {
      throw Exhausted.work(
          "the statement was ended and changed nothing, because it made and wrote more than "
              + maxBytes
              + " bytes: every replica keeps them in memory until it ends. "
              + terms(batch.bytes(), "write", "bytes")
              + " Split it, for instance by ranges of the key");
    }
  }

  private String terms(BatchWork.Account account, String does, String what) {
    WorkLimit limit = account.limit();
    return "A statement may "
        + does
        + " "
        + limit.base()
        + " "
        + what
        + ", and "
        + limit.perRow()
        + " more for each of the "
        + rowsOfTables
        + " rows that its tables and its VALUES have, but not more than "
        + limit.most()
        + "."
        + batch.whyLess()
        + (account.done() == 0
            ? ""
            : " The sets of a batch share the first and the last of these numbers, and those before"
                + " this one have taken "
                + account.done()
                + ": send fewer in a batch.");
  }
}
