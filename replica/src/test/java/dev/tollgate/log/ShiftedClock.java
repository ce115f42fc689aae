package dev.tollgate.log;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;

/** The clock of this machine, as if it were set wrong. */
public final class ShiftedClock extends Clock {
  private volatile Duration ahead = Duration.ZERO;

  /** From now on the clock is ahead by this, or behind if it is negative. */
  public void setAhead(Duration shift) {
    ahead = shift;
  }

  @Override
  public ZoneId getZone() {
    return ZoneOffset.UTC;
  }

  @Override
  public Clock withZone(ZoneId zone) {
    return this;
  }

  @Override
  public Instant instant() {
    return Instant.now().plus(ahead);
  }
}
