package dev.tollgate.node.audit;

import dev.tollgate.core.command.Limits;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Which events of one kind have a line of their own. A stranger makes as many failed logins as it
 * likes, and a user as many refused requests, and neither may fill the file with them: the first
 * ones of an address or user in a minute have a line, and the rest of the minute has one line with
 * their number. Thread-safe; times are in microseconds since 1970.
 */
final class LineShares {
  /** Stands for all addresses or users beyond those that are counted apart. */
  static final String OTHERS = "others";

  private static final long MINUTE_MICROS = TimeUnit.MINUTES.toMicros(1);

  private final String event;
  private final String whose;

  /** In the order of their beginnings. */
  private final Map<String, Minute> minutes = new LinkedHashMap<>();

  private @Nullable Minute all;

  /**
   * @param event of the lines that have numbers
   * @param whose the member that names who makes the events: address, or user
   */
  LineShares(String event, String whose) {
    this.event = event;
    this.whose = whose;
  }

  /** The events of an address or user beyond those that have lines. */
  record Sum(String of, long sinceMicros, long count) {}

  private static final class Minute {
    final long sinceMicros;
    int lines;
    long more;

    Minute(long sinceMicros) {
      this.sinceMicros = sinceMicros;
    }

    boolean isOver(long nowMicros) {
      return nowMicros - sinceMicros >= MINUTE_MICROS || nowMicros < sinceMicros;
    }
  }

  /** True if this event has a line of its own; else it is counted. */
  synchronized boolean takesLine(String of, long nowMicros) {
    Minute total = all;
    if (total == null || total.isOver(nowMicros)) {
      total = new Minute(nowMicros);
      all = total;
    }
    boolean apart = minutes.containsKey(of) || minutes.size() < Limits.AUDITED_REPEATERS;
    Minute minute = minutes.computeIfAbsent(apart ? of : OTHERS, any -> new Minute(nowMicros));
    if (apart
        && minute.lines < Limits.AUDITED_REPEATS
        && total.lines < Limits.AUDITED_REPEATS_IN_ALL) {
      minute.lines++;
      total.lines++;
      return true;
    }
    minute.more++;
    return false;
  }

  /** The line of a number. */
  String line(String nodeId, long nowMicros, Sum sum) {
    return EventLines.local(nodeId, nowMicros, event, null)
        .text(whose, sum.of())
        .number("count", sum.count())
        .moment("since", sum.sinceMicros())
        .toString();
  }

  /** Ends the minutes that are over, and returns what was counted in them. */
  synchronized List<Sum> takeDue(long nowMicros) {
    return take(nowMicros, /* whole= */ false);
  }

  /** Ends all minutes. */
  synchronized List<Sum> takeAll() {
    return take(0, /* whole= */ true);
  }

  private List<Sum> take(long nowMicros, boolean whole) {
    List<Sum> due = new ArrayList<>();
    for (Iterator<Map.Entry<String, Minute>> each = minutes.entrySet().iterator();
        each.hasNext(); ) {
      Map.Entry<String, Minute> entry = each.next();
      Minute minute = entry.getValue();
      if (!whole && !minute.isOver(nowMicros)) {
        // those after it began later
        break;
      }
      each.remove();
      if (minute.more > 0) {
        due.add(new Sum(entry.getKey(), minute.sinceMicros, minute.more));
      }
    }
    return due;
  }
}
