package dev.tollgate.migrations;

import static java.util.Objects.requireNonNull;

/**
 * Tells which statements an earlier run has done, as the statements come one after the other (ADR
 * 0058). The caller need not know how many there are.
 */
final class EarlierRun {
  /** What the earlier run has to do with a statement. */
  enum Verdict {
    DONE,
    /** Not done, and neither is any behind it. */
    LEFT,
    /** Statements that are done have changed since. */
    CHANGED,
    /** The earlier run ended at the statement, and whether it took effect cannot be known. */
    UNKNOWN
  }

  private final StatementProgress progress;
  private final StatementChecksum checksum = new StatementChecksum();
  private int number;

  EarlierRun(StatementProgress progress) {
    this.progress = requireNonNull(progress, "progress");
  }

  /** Takes the next statement. */
  Verdict next(SqlStatement statement) {
    number++;
    checksum.add(statement);
    if (number < progress.done()) {
      return Verdict.DONE;
    }
    if (number == progress.done()) {
      return unlessChanged(progress.doneChecksum());
    }
    return number > progress.attempted() ? Verdict.LEFT : Verdict.UNKNOWN;
  }

  private Verdict unlessChanged(long expected) {
    return checksum.value() == expected ? Verdict.DONE : Verdict.CHANGED;
  }

  /** There are no more statements. */
  Verdict end() {
    if (number >= progress.attempted()) {
      return Verdict.DONE;
    }
    return number < progress.done() ? Verdict.CHANGED : Verdict.UNKNOWN;
  }

  /** How many statements have come. */
  int number() {
    return number;
  }

  /** Of the statements that have come. */
  long checksum() {
    return checksum.value();
  }
}
