package dev.tollgate.cli;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads a time such as 500ms, 5s, 10m, 1h or 7d. Zero stands for "off". */
final class TimeOrOff implements ITypeConverter<Duration> {
  private static final Duration MOST = Duration.ofDays(365);
  private static final Pattern TIME = Pattern.compile("([0-9]{1,9})(ms|s|m|h|d)");
  private static final String OFF = "off";

  TimeOrOff() {}

  @Override
  public Duration convert(String value) {
    if (value.equals(OFF)) {
      return Duration.ZERO;
    }
    Matcher time = TIME.matcher(value);
    if (!time.matches()) {
      throw new TypeConversionException("'" + value + "' is no time: write 500ms, 5s, 10m or off");
    }
    long number = Long.parseLong(time.group(1));
    Duration duration =
        switch (time.group(2)) {
          case "ms" -> Duration.ofMillis(number);
          case "s" -> Duration.ofSeconds(number);
          case "m" -> Duration.ofMinutes(number);
          case "h" -> Duration.ofHours(number);
          default -> Duration.ofDays(number);
        };
    if (duration.isZero() || duration.compareTo(MOST) > 0) {
      throw new TypeConversionException(
          "'" + value + "' has to be from 1ms to " + MOST.toDays() + "d, or off");
    }
    return duration;
  }
}
