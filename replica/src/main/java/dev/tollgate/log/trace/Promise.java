package dev.tollgate.log.trace;

import static java.util.Objects.requireNonNull;

import java.util.List;

/**
 * One line of a trace.
 *
 * @param sequence the place of the event among those of its node since the node was started; lines
 *     are not always written in this order
 * @param nanos the monotonic clock of the node, for a reader
 * @param time the wall clock of the node, for a reader
 * @param node the node that wrote the line
 * @param term depends on the kind
 * @param index depends on the kind; -1 for none
 * @param other depends on the kind; -1 for none
 * @param detail depends on the kind; {@link #NOTHING} for nothing
 */
public record Promise(
    long sequence,
    long nanos,
    String time,
    String node,
    Kind kind,
    long term,
    long index,
    long other,
    String detail) {
  /** Stands for an empty detail. */
  public static final String NOTHING = "-";

  /** Stands before the incarnation of a directory. */
  static final char OF = '@';

  /** Ends each whole line: a process may be killed while it writes one. */
  private static final String END = ".";

  private static final int FIELDS = 10;

  /** What happened. */
  public enum Kind {
    /**
     * The node starts: the term that it has kept, the last entry that it has, the last entry that
     * is synced (other), its vote in that term and, after {@link #OF}, the incarnation of its
     * directory. A node with another directory has promised nothing yet.
     */
    RESTARTED,
    /** The file with this term and this vote is synced. */
    KEPT,
    /** A vote in this term for this candidate is about to leave. */
    VOTED,
    /** A request for votes in this term is about to leave. */
    STANDS,
    /** Entries of this term, from other to index, are in the log. */
    APPENDED,
    /** An acknowledgement to the leader of this term, up to this entry, is about to leave. */
    ACKNOWLEDGED,
    /**
     * An answer to the leader of this term, that an entry is missing, is about to leave. The log
     * ended with this entry at some moment since the place that other names.
     */
    LACKS,
    /** The log is synced up to this entry. */
    SYNCED,
    /** The log is cut in this term, from this entry on. */
    CUT,
    /** A snapshot of the leader that ends with this entry of this term has replaced the state. */
    REPLACED,
    /** The leader of this term counts an acknowledgement of a follower, up to this entry. */
    COUNTED,
    /** The node leads this term; its log ends with this entry; the members. */
    LEADS,
    /** The leader of this term has committed this entry; the members. */
    COMMITTED,
    /** The node leads no longer; its log ends with this entry. */
    FOLLOWS
  }

  public Promise {
    requireNonNull(time, "time");
    requireNonNull(node, "node");
    requireNonNull(kind, "kind");
    requireNonNull(detail, "detail");
  }

  /** Returns the line without its end. */
  String toLine() {
    return sequence + " " + nanos + " " + time + " " + node + " " + kind + " " + term + " " + index
        + " " + other + " " + detail + " " + END;
  }

  /**
   * Reads a line.
   *
   * @throws IllegalArgumentException if it is no whole line
   */
  static Promise of(String line) {
    List<String> fields = List.of(line.split(" ", -1));
    if (fields.size() != FIELDS || !fields.get(FIELDS - 1).equals(END)) {
      throw new IllegalArgumentException("no line of a trace: '" + line + "'");
    }
    return new Promise(
        Long.parseLong(fields.get(0)),
        Long.parseLong(fields.get(1)),
        fields.get(2),
        fields.get(3),
        Kind.valueOf(fields.get(4)),
        Long.parseLong(fields.get(5)),
        Long.parseLong(fields.get(6)),
        Long.parseLong(fields.get(7)),
        fields.get(8));
  }

  @Override
  public String toString() {
    return toLine();
  }
}
