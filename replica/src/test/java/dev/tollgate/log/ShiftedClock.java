package dev.tollgate.log;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/** The clock of this machine, as if it were set wrong. */
public final class ShiftedClock implements InstantSource {
  private volatile Duration ahead = Duration.ZERO;

  /** From now on the clock is ahead by this, or behind if it is negative. */
  public void setAhead(Duration shift) {
    ahead = shift;
  }

  @Override
  public Instant instant() {
    return Instant.now().plus(ahead);
  }
}
