package dev.tollgate.simulation;

import dev.tollgate.core.command.Command;
import dev.tollgate.log.LogClock;
import dev.tollgate.log.entry.Entry;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * What time the log has, and what time a leader may stamp: one on which the clocks of a majority
 * agree, or the time of the last entry, which goes on.
 */
final class LogTimes {
  /** By how much a leader may misread the clock of another node. */
  private static final long SLACK_MICROS = 2_000_000;

  private static final long BOUND_MICROS =
      TimeUnit.MILLISECONDS.toMicros(LogClock.BOUND.toMillis()) + SLACK_MICROS;

  private static final int COMPARED_EVERY = 64;

  private final Simulation simulation;

  /** By how much the latest stamp was ahead of the start of the simulation and what has passed. */
  private long mostAhead = Long.MIN_VALUE;

  private final Map<String, Long> lastApplied = new TreeMap<>();
  private long logMicros;
  private boolean compares;
  private @Nullable String wrong;

  LogTimes(Simulation simulation) {
    this.simulation = simulation;
  }

  /** Only where bugs of this kind are looked for: others change times, and are found otherwise. */
  private boolean isChecked() {
    return switch (simulation.breakage()) {
      case NONE, LEADER_GOES_BY_ITS_CLOCK, RESET_OF_TIME_IGNORED -> true;
      default -> false;
    };
  }

  /** A leader proposes an entry with this time. */
  void stamped(SimulatedNode leader, long stampMicros) {
    if (!isChecked() || stampMicros == 0) {
      return;
    }
    long passed = TimeUnit.NANOSECONDS.toMicros(simulation.world().now());
    boolean goesOn =
        stampMicros - passed <= mostAhead + SLACK_MICROS
            && stampMicros >= lastApplied.getOrDefault(leader.id(), 0L);
    if (!goesOn && !simulation.isTimeOfMajority(stampMicros, BOUND_MICROS)) {
      // the pipeline would catch it
      wrong =
          leader.id()
              + " stamps "
              + stampMicros
              + ", its clock says "
              + leader.wallMicros()
              + ", and no majority is near that";
    }
    mostAhead = Math.max(mostAhead, stampMicros - passed);
  }

  /** An entry is applied for the first time. */
  void appliesFirst(long index, Entry entry) {
    compares = index % COMPARED_EVERY == 0;
    for (Command command : entry.commands()) {
      if (command instanceof Command.ResetLogTime
          && entry.stampMicros() > 0
          && entry.stampMicros() < logMicros) {
        logMicros = entry.stampMicros();
        compares = true;
        simulation.world().count("times reset");
      }
      logMicros = Math.max(logMicros, entry.stampMicros());
    }
  }

  void applies(String node, Entry entry) {
    if (wrong != null) {
      throw new Violation("time", wrong);
    }
    if (entry.stampMicros() != 0) {
      lastApplied.put(node, entry.stampMicros());
    }
  }

  void restored(String node) {
    lastApplied.remove(node);
  }

  /** A node has applied the entry that was applied first just now. */
  void applied(SimulatedNode node) {
    if (compares && isChecked()) {
      AtomicLong time = new AtomicLong();
      node.replica().figures(now -> time.set(now.logTimeMicros()));
      if (time.get() != logMicros) {
        throw new Violation(
            "time", node.id() + " has the time " + time + ", by the log it is " + logMicros);
      }
    }
  }
}
