package dev.tollgate.store.limits;

import dev.tollgate.h2.Meter;
import dev.tollgate.store.h2.Exhausted;

/**
 * Ends one execution of a statement of the log that takes too many steps, whatever H2 does in them
 * (docs/adr/0093). The steps follow from the statement and its rows alone, so every replica ends it
 * at the same step.
 */
public final class StepBudget implements Meter.Watch {
  private final BatchWork batch;
  private long rowsOfTables;
  private long most;
  private long taken;

  StepBudget(BatchWork batch) {
    this.batch = batch;
    most = batch.steps().left(0);
  }

  /** Grants the steps for which the rows pay to which the statement refers. */
  void payFor(long rows) {
    rowsOfTables = rows;
    most = batch.steps().left(rows);
  }

  /** Ends the execution: the next set of the batch gets what this set has left. */
  void end() {
    batch.steps().add(taken, rowsOfTables);
  }

  @Override
  public long reached(long steps) {
    if (steps <= most) {
      return most + 1;
    }
    throw Exhausted.work(
        "the statement was ended and its changes undone, because it took more than "
            + most
            + " steps, and every replica would stand still meanwhile: do less in one statement."
            + batch.whyLess()
            + batch.steps().shared());
  }

  @Override
  public void ended(long steps) {
    taken = steps;
  }
}
