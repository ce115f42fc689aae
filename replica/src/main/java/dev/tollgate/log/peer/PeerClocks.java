package dev.tollgate.log.peer;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.ClockReading;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The wall clocks of other nodes. Every answer says what the clock of the node says that gives it,
 * so a node that most others elect has read the clocks of most others, and a leader reads them with
 * every heartbeat. Thread-safe.
 */
public final class PeerClocks {
  /** An answer that has taken longer says too little of the moment at which it was given. */
  private static final long LONGEST_CALL_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** The last second of the year 9999. */
  private static final long LATEST_MICROS = TimeUnit.SECONDS.toMicros(253_402_300_799L);

  private final Clock clock;
  private final LongSupplier nanoTime;
  private final Map<String, ClockReading> readings = new ConcurrentHashMap<>();

  /**
   * @param clock the wall clock of this node
   * @param nanoTime the monotonic clock of this node
   */
  public PeerClocks(Clock clock, LongSupplier nanoTime) {
    this.clock = requireNonNull(clock, "clock");
    this.nanoTime = requireNonNull(nanoTime, "nanoTime");
  }

  /** What the clock of this node says, in microseconds since 1970. */
  public long ownMicros() {
    return ChronoUnit.MICROS.between(Instant.EPOCH, clock.instant());
  }

  /**
   * Keeps what another node has said with an answer that has just come.
   *
   * @param wallMicros 0 if it has not said it
   * @param beganNanos when the call began
   */
  public void said(String nodeId, long wallMicros, long beganNanos) {
    long now = nanoTime.getAsLong();
    long took = now - beganNanos;
    if (wallMicros > 0 && wallMicros <= LATEST_MICROS && took <= LONGEST_CALL_NANOS) {
      readings.put(nodeId, new ClockReading(wallMicros, now - took / 2));
    }
  }

  /** The last reading of the clock of a node; null if there is none. */
  public @Nullable ClockReading of(String nodeId) {
    return readings.get(nodeId);
  }
}
