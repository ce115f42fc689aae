package dev.tollgate.core;

import dev.tollgate.core.command.LogPosition;
import dev.tollgate.core.command.Notice;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** The command that is being applied: its place in the log, and the notices that it has caused. */
final class CurrentCommand {
  private LogPosition position = new LogPosition(0, 0, 0);
  private final List<Notice> notices = new ArrayList<>();
  private int attempts;

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
    notices.clear();
    attempts = 0;
  }

  /** The position of the command, with a time that never goes back; index 0 before the first. */
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
