package dev.tollgate.log.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.tollgate.log.ClockReading;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class PeerClocksTest {
  private long nanos = TimeUnit.SECONDS.toNanos(100);
  private final PeerClocks clocks =
      new PeerClocks(Clock.fixed(Instant.ofEpochSecond(7, 8_999), ZoneOffset.UTC), () -> nanos);

  @Test
  void readingIsOfTheMiddleOfTheCall() {
    clocks.said("n2", 5_000_000, nanos - 400_000_000);
    ClockReading reading = clocks.of("n2");
    assertEquals(5_000_000, reading.at(nanos - 200_000_000));
    assertEquals(5_200_000, reading.at(nanos));
    assertNull(clocks.of("n3"));
  }

  @Test
  void answerThatSaysNothingOfUseIsNoReading() {
    clocks.said("n2", 5_000_000, nanos);
    nanos += TimeUnit.SECONDS.toNanos(2);
    clocks.said("n2", 0, nanos);
    clocks.said("n2", -1, nanos);
    clocks.said("n2", Long.MAX_VALUE, nanos);
    clocks.said("n2", 9_000_000, nanos - 1_000_000_001);
    assertEquals(7_000_000, clocks.of("n2").at(nanos));
  }

  @Test
  void ownClockIsInMicroseconds() {
    assertEquals(7_000_008, clocks.ownMicros());
  }
}
