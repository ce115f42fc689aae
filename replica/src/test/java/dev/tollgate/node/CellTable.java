package dev.tollgate.node;

import dev.tollgate.node.MigrationCell.End;
import dev.tollgate.node.MigrationCell.Moment;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** How many cells of migrations were right, by moment and end. Thread-safe. */
final class CellTable {
  /** The cells of one moment and one end. */
  private static final class Count {
    private int cells;
    private int right;
    private int notKnown;
  }

  private final Map<Moment, Map<End, Count>> counts = new EnumMap<>(Moment.class);
  private final List<String> wrong = new ArrayList<>();

  /**
   * @param notKnown true if the next run has said that it does not know what became of a statement
   * @param whatIsWrong empty if every statement has run exactly once
   */
  synchronized void add(MigrationCell cell, boolean notKnown, String whatIsWrong) {
    Count count =
        counts
            .computeIfAbsent(cell.moment(), moment -> new EnumMap<>(End.class))
            .computeIfAbsent(cell.end(), end -> new Count());
    count.cells++;
    if (notKnown) {
      count.notKnown++;
    } else if (whatIsWrong.isEmpty()) {
      count.right++;
    } else {
      wrong.add(cell + ": " + whatIsWrong);
    }
  }

  /** What was wrong, a line for each cell. */
  synchronized List<String> wrong() {
    return List.copyOf(wrong);
  }

  /** A line for each moment: of how many cells how many were right, and how many not known. */
  @Override
  public synchronized String toString() {
    StringBuilder text = new StringBuilder("%-16s".formatted("right of cells"));
    for (End end : End.values()) {
      text.append("%16s".formatted(end));
    }
    counts.forEach(
        (moment, ends) -> {
          text.append("%n%-16s".formatted(moment));
          for (End end : End.values()) {
            Count count = ends.get(end);
            text.append("%16s".formatted(count == null ? "-" : text(count)));
          }
        });
    return text.toString();
  }

  private static String text(Count count) {
    String right = count.right + "/" + count.cells;
    return count.notKnown == 0 ? right : right + " (" + count.notKnown + " not known)";
  }
}
