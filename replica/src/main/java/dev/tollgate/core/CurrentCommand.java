package dev.tollgate.core;

import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.LogPosition;
import dev.tollgate.core.command.Notice;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** The command that is being applied: its place in the log, and the notices that it has caused. */
final class CurrentCommand {
  private LogPosition position = new LogPosition(0, 0, 0);
  private final List<Notice> notices = new ArrayList<>();
  private long stampMicros;
  private int attempts;
  private int searchSteps;

  /**
   * Moves on to the next command.
   *
   * @throws IllegalStateException if that command does not come after the last one in the log
   */
  void begin(LogPosition at) {
    boolean later =
        at.logIndex() > position.logIndex()
            || (at.logIndex() == position.logIndex() && at.ordinal() > position.ordinal())
            || position.logIndex() == 0;
    if (!later) {
      throw new IllegalStateException("applied " + at + " after " + position);
    }
    long timeMicros = Math.max(position.timeMicros(), at.timeMicros());
    position = new LogPosition(at.logIndex(), at.ordinal(), timeMicros);
    stampMicros = at.timeMicros();
    notices.clear();
    attempts = 0;
    searchSteps = 0;
  }

  /**
   * Sets the time of the log back to the time stamp of the command, if that is earlier.
   *
   * @return true if it was; never for an entry that has no time
   */
  boolean resetTime() {
    if (stampMicros <= 0 || stampMicros >= position.timeMicros()) {
      return false;
    }
    position = new LogPosition(position.logIndex(), position.ordinal(), stampMicros);
    return true;
  }

  /**
   * The position of the command, with a time that goes back only with {@link #resetTime}; index 0
   * before the first.
   */
  LogPosition position() {
    return position;
  }

  /** Log time, microseconds since 1970. */
  long nowMicros() {
    return position.timeMicros();
  }

  /** Adds a notice to deliver to others. */
  void tell(Notice notice) {
    notices.add(notice);
  }

  /** Notices to deliver so far, in order. A live view that must not be kept. */
  List<Notice> notices() {
    return Collections.unmodifiableList(notices);
  }

  /** Numbers the statements that the command tries, from 0. */
  int nextAttempt() {
    return attempts++;
  }

  /** Counts a step of a search for deadlocks; false if the command may take no more of them. */
  boolean step() {
    searchSteps++;
    return maySearch();
  }

  /** Returns true if the searches for deadlocks have not taken too many steps. */
  boolean maySearch() {
    return searchSteps <= Limits.DEADLOCK_STEPS;
  }

  /**
   * Continues after the command at which a snapshot was made.
   *
   * @throws IllegalStateException if a command has been applied
   */
  void restore(LogPosition last) {
    if (position.logIndex() != 0) {
      throw new IllegalStateException("the state stands at " + position + " already");
    }
    position = last;
  }
}
