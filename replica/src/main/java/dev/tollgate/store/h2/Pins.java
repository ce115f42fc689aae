package dev.tollgate.store.h2;

import dev.tollgate.core.command.LogPosition;
import dev.tollgate.core.command.RandomSeed;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.concurrent.TimeUnit;
import org.h2.util.DateTimeUtils;
import org.h2.util.TimeZoneProvider;
import org.h2.value.ValueTimestampTimeZone;

/**
 * What a statement sees instead of the clock and of randomness. Random numbers follow from its
 * place in the log and the seed of the leader's term. The execution number tells the executions of
 * a batch apart. The attempt does so for the statements that one command starts.
 *
 * @param timeMicros the time, microseconds since 1970; one for all statements of a transaction
 */
public record Pins(
    RandomSeed seed, LogPosition position, long timeMicros, int attempt, int execution) {
  private static final int INPUT_BYTES = 4 * Long.BYTES + 4 * Integer.BYTES;

  /** A time, with the offset that a time zone has then. */
  static ValueTimestampTimeZone timestamp(long micros, TimeZoneProvider zone) {
    ValueTimestampTimeZone utc = timestamp(micros);
    int offsetSeconds = zone.getTimeZoneOffsetUTC(TimeUnit.MICROSECONDS.toSeconds(micros));
    return DateTimeUtils.timestampTimeZoneAtOffset(
        utc.getDateValue(), utc.getTimeNanos(), utc.getTimeZoneOffsetSeconds(), offsetSeconds);
  }

  /** The seed of the numbers of RAND(). */
  long randSeed() {
    return ByteBuffer.wrap(randomBlock(-1)).getLong();
  }

  /**
   * Returns 32 unique bytes: a UUID that is drawn from them is as good as a random one.
   *
   * @param number tells the blocks of one statement apart
   */
  byte[] randomBlock(int number) {
    ByteBuffer input = ByteBuffer.allocate(INPUT_BYTES);
    input.putLong(seed.high()).putLong(seed.low());
    input.putLong(position.logIndex()).putInt(position.ordinal()).putLong(position.timeMicros());
    input.putInt(attempt).putInt(execution).putInt(number);
    try {
      return MessageDigest.getInstance("SHA-256").digest(input.array());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java runtime has SHA-256", e);
    }
  }

  /** Microseconds since 1970-01-01T00:00:00Z as a timestamp in UTC. */
  static ValueTimestampTimeZone timestamp(long micros) {
    long day = Math.floorDiv(micros, TimeUnit.DAYS.toMicros(1));
    long microsOfDay = Math.floorMod(micros, TimeUnit.DAYS.toMicros(1));
    return ValueTimestampTimeZone.fromDateValueAndNanos(
        DateTimeUtils.dateValueFromAbsoluteDay(day), TimeUnit.MICROSECONDS.toNanos(microsOfDay), 0);
  }
}
