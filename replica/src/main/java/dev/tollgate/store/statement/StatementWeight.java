package dev.tollgate.store.statement;

import java.util.ArrayList;
import java.util.List;

/**
 * What a statement may do with each row that it examines, as far as its expressions tell.
 *
 * @param operations how many operations its expressions have, with those of the rules of tables
 *     that it changes
 * @param keptBytes bytes that its aggregates and window functions keep
 * @param visits for each window function that goes through rows again: at most how many rows,
 *     {@link Long#MAX_VALUE} for all rows so far
 * @param divisions as how many examined rows the divisions of its aggregates count
 */
public record StatementWeight(int operations, long keptBytes, List<Long> visits, long divisions) {
  public static final StatementWeight NONE = new StatementWeight(0, 0, List.of(), 0);

  /** Returns the weight of a statement that consists of two. */
  public StatementWeight with(StatementWeight other) {
    List<Long> all = new ArrayList<>(visits);
    all.addAll(other.visits);
    return new StatementWeight(
        Math.max(operations, other.operations),
        keptBytes + other.keptBytes,
        all,
        divisions + other.divisions);
  }
}
