package dev.tollgate.cli;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads a time such as 500ms, 5s, 10m, 1h or 7d. Zero stands for "off". */
class TimeOrOff implements ITypeConverter<Duration> {
  private static final String OFF = "off";

  private final Pattern time;
  private final Duration most;
  private final String examples;
  private final String bounds;

  TimeOrOff() {
    this(
        "([0-9]{1,9})(ms|s|m|h|d)",
        Duration.ofDays(365),
        "500ms, 5s, 10m or off",
        "from 1ms to 365d, or off");
  }

  /**
   * @param time a number and a unit, as groups
   * @param examples what to write, for a text that is no time
   * @param bounds what is allowed, for a time beyond {@code most}
   */
  TimeOrOff(String time, Duration most, String examples, String bounds) {
    this.time = Pattern.compile(time);
    this.most = most;
    this.examples = examples;
    this.bounds = bounds;
  }

  @Override
  public Duration convert(String value) {
    if (value.equals(OFF)) {
      return Duration.ZERO;
    }
    Matcher matcher = time.matcher(value);
    if (!matcher.matches()) {
      throw new TypeConversionException("'" + value + "' is no time: write " + examples);
    }
    Duration duration = DurationText.of(matcher.group(1), matcher.group(2));
    if (duration.isZero() || duration.compareTo(most) > 0) {
      throw new TypeConversionException("'" + value + "' has to be " + bounds);
    }
    return duration;
  }
}
