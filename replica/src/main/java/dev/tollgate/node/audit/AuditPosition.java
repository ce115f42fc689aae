package dev.tollgate.node.audit;

import dev.tollgate.core.command.LogPosition;

/**
 * The place of an event of the log. It is the same on every node.
 *
 * @param number place of the event among those of its command, from 0
 */
record AuditPosition(long logIndex, int ordinal, int number) implements Comparable<AuditPosition> {
  /** Before every event. */
  static final AuditPosition NONE = new AuditPosition(0, 0, 0);

  static AuditPosition of(LogPosition command, int number) {
    return new AuditPosition(command.logIndex(), command.ordinal(), number);
  }

  /** The end of what an entry may have brought about. */
  static AuditPosition endOf(long logIndex) {
    return new AuditPosition(logIndex, Integer.MAX_VALUE, Integer.MAX_VALUE);
  }

  void appendTo(JsonLine line) {
    line.number("index", logIndex)
        .number("ordinal", (long) ordinal)
        .number("number", (long) number);
  }

  @Override
  public int compareTo(AuditPosition other) {
    int byIndex = Long.compare(logIndex, other.logIndex);
    int byOrdinal = Integer.compare(ordinal, other.ordinal);
    return byIndex != 0
        ? byIndex
        : byOrdinal != 0 ? byOrdinal : Integer.compare(number, other.number);
  }
}
