package dev.tollgate.log;

import static java.util.Objects.requireNonNull;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The time that a leader stamps into entries: the one on which the wall clocks of a majority agree.
 * If no majority agrees, the time of the last entry goes on with the monotonic clock. So no clock
 * alone decides what time the log has (docs/adr/0110). Thread-safe.
 */
public final class LogClock {
  /** By how much clocks may differ that agree. */
  public static final Duration BOUND = Duration.ofMinutes(1);

  /** An older reading says nothing of a clock, which may have been set since. */
  static final Duration LONGEST_SILENCE = Duration.ofSeconds(10);

  private static final Logger LOG = LoggerFactory.getLogger(LogClock.class);
  private static final long BOUND_MICROS = TimeUnit.MILLISECONDS.toMicros(BOUND.toMillis());

  private final String nodeId;
  private final Clock clock;
  private final LongSupplier nanoTime;
  private final Supplier<MemberClocks> members;

  private final ReentrantLock mutex = new ReentrantLock();

  /** The time of the last entry, stamped or applied here. */
  private @Nullable ClockReading last;

  private long logTimeMicros;

  /** True if {@link #last} is of an entry that was stamped here. */
  private boolean stamped;

  private boolean toldLast;
  private Set<String> toldWrong = Set.of();
  private boolean toldDisagreement;
  private boolean toldAhead;

  /**
   * @param clock the wall clock of this node
   * @param nanoTime the monotonic clock of this node
   * @param members what is known of the clocks of the cluster; must not wait
   */
  public LogClock(
      String nodeId, Clock clock, LongSupplier nanoTime, Supplier<MemberClocks> members) {
    this.nodeId = requireNonNull(nodeId, "nodeId");
    this.clock = requireNonNull(clock, "clock");
    this.nanoTime = requireNonNull(nanoTime, "nanoTime");
    this.members = requireNonNull(members, "members");
  }

  /** Creates the clock of a node of a log, on the monotonic clock of this process. */
  public static LogClock of(String nodeId, Clock clock, ReplicatedLog log) {
    return new LogClock(nodeId, clock, System::nanoTime, log::clocks);
  }

  /**
   * What the clocks of a cluster say, as the node sees it that has stamped or would stamp.
   *
   * @param agreed true if the clocks of a majority agree
   * @param nowMicros what would be stamped now, microseconds since 1970
   * @param aheadMicros by how much the clock of each member whose clock is known is ahead of that
   * @param logAheadMicros by how much the time of the log is ahead of that; 0 if it is not
   */
  public record Look(
      boolean agreed, long nowMicros, SortedMap<String, Long> aheadMicros, long logAheadMicros) {
    /** The clocks that are known, for messages. */
    public String describe() {
      Map<String, Instant> clocks = new TreeMap<>();
      aheadMicros.forEach((node, ahead) -> clocks.put(node, instant(nowMicros + ahead)));
      return clocks.toString();
    }

    /** True if the time of the log stands still, because it is ahead of the clocks. */
    public boolean logStands() {
      return logAheadMicros > BOUND_MICROS;
    }
  }

  /** The time for an entry, microseconds since 1970. */
  public long stampMicros() {
    mutex.lock();
    try {
      Reading reading = read();
      report(reading);
      last = new ClockReading(reading.time, reading.nanos);
      stamped = true;
      return reading.time;
    } finally {
      mutex.unlock();
    }
  }

  /** What the clocks say now. */
  public Look look() {
    mutex.lock();
    try {
      return read().look();
    } finally {
      mutex.unlock();
    }
  }

  /**
   * This node has applied an entry, or a snapshot. The entry may be an old one, and was stamped
   * before, so its time is a lower bound.
   *
   * @param stampMicros of the entry; 0 if the entry has no time
   * @param logMicros the time of the log after the entry
   */
  public void applied(long stampMicros, long logMicros) {
    mutex.lock();
    try {
      logTimeMicros = logMicros;
      if (stampMicros == 0) {
        return;
      }
      long nanos = nanoTime.getAsLong();
      ClockReading before = last;
      if (before == null
          || stampMicros > before.at(nanos)
          || stampMicros < before.at(nanos) - BOUND_MICROS) {
        last = new ClockReading(stampMicros, nanos);
        stamped = false;
      }
    } finally {
      mutex.unlock();
    }
  }

  /** The clocks at one moment. */
  private final class Reading {
    final long nanos = nanoTime.getAsLong();
    final long own = ChronoUnit.MICROS.between(Instant.EPOCH, clock.instant());
    final SortedMap<String, Long> others = new TreeMap<>();
    final int members;
    final boolean agreed;
    final long time;

    Reading(MemberClocks known) {
      members = known.members();
      for (Map.Entry<String, ClockReading> other : known.others().entrySet()) {
        if (nanos - other.getValue().atNanos() <= LONGEST_SILENCE.toNanos()) {
          others.put(other.getKey(), other.getValue().at(nanos));
        }
      }
      OptionalLong majority = AgreedTime.of(own, others.values(), members, BOUND_MICROS);
      agreed = majority.isPresent();
      ClockReading before = last;
      time =
          agreed
              ? majority.getAsLong()
              : before == null ? AgreedTime.median(own, others.values()) : before.at(nanos);
    }

    /** True if the clocks of a majority are known. */
    boolean isMajorityKnown() {
      return 2 * (others.size() + 1) > members;
    }

    /** The nodes whose clocks are not those of the majority that agrees. */
    Set<String> wrong() {
      Set<String> wrong = new TreeSet<>();
      others.forEach((node, wall) -> addIfWrong(wrong, node, wall));
      addIfWrong(wrong, nodeId, own);
      return wrong;
    }

    private void addIfWrong(Set<String> wrong, String node, long wall) {
      if (Math.abs(wall - time) > BOUND_MICROS) {
        wrong.add(node);
      }
    }

    Look look() {
      SortedMap<String, Long> ahead = new TreeMap<>();
      others.forEach((node, wall) -> ahead.put(node, wall - time));
      ahead.put(nodeId, own - time);
      return new Look(agreed, time, ahead, Math.max(0, logTimeMicros - time));
    }
  }

  private Reading read() {
    return new Reading(members.get());
  }

  /** Logs what an operator has to know, once. */
  private void report(Reading reading) {
    if (reading.agreed) {
      reportWrong(reading);
    } else if (reading.isMajorityKnown() && !toldDisagreement) {
      toldDisagreement = true;
      LOG.error(
          "{}: THE CLOCKS OF NO MAJORITY AGREE: they say {}. The time of the log goes on from its"
              + " last entry until they do. Set them right",
          nodeId,
          reading.look().describe());
    }
    ClockReading before = last;
    if (reading.agreed && before != null) {
      long jumped = reading.time - before.at(reading.nanos);
      if (Math.abs(jumped) > BOUND_MICROS) {
        reportJump(before.at(reading.nanos), reading.time);
      }
    }
    boolean ahead = logTimeMicros - reading.time > BOUND_MICROS;
    if (ahead != toldAhead) {
      toldAhead = ahead;
      if (ahead) {
        LOG.error(
            "{}: THE TIME OF THE LOG STANDS STILL at {}: the clocks say {}. CURRENT_TIMESTAMP is the"
                + " same until then, unless an administrator runs CALL reset_log_time()",
            nodeId,
            instant(logTimeMicros),
            instant(reading.time));
      }
    }
  }

  private void reportWrong(Reading reading) {
    Set<String> wrong = reading.wrong();
    if (wrong.equals(toldWrong) && !toldDisagreement) {
      return;
    }
    toldWrong = wrong;
    toldDisagreement = false;
    if (wrong.isEmpty()) {
      LOG.info("{}: the clocks agree again: {}", nodeId, reading.look().describe());
    } else {
      LOG.error(
          "{}: CLOCKS ARE WRONG on {}: the clocks say {}, and entries get the time of the majority."
              + " Set them right",
          nodeId,
          wrong,
          reading.look().describe());
    }
  }

  private void reportJump(long from, long to) {
    if (stamped) {
      LOG.warn(
          "{}: the time of entries goes from {} to {}, because the clocks of a majority were set",
          nodeId,
          instant(from),
          instant(to));
    } else if (!toldLast) {
      toldLast = true;
      LOG.info(
          "{}: the last entry that is known here is of {}, and it is {}",
          nodeId,
          instant(from),
          instant(to));
    }
  }

  private static Instant instant(long micros) {
    return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
  }
}
