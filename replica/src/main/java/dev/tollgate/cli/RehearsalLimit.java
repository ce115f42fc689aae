package dev.tollgate.cli;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads the value of {@code --rehearsal}. Zero stands for "off". */
final class RehearsalLimit implements ITypeConverter<Duration> {
  /** A supervisor that waits for a node gives up after some minutes at most. */
  private static final Duration MOST = Duration.ofSeconds(60);

  private static final Pattern TIME = Pattern.compile("([0-9]{1,6})(s|ms)");
  private static final String OFF = "off";

  RehearsalLimit() {}

  @Override
  public Duration convert(String value) {
    if (value.equals(OFF)) {
      return Duration.ZERO;
    }
    Matcher time = TIME.matcher(value);
    if (!time.matches()) {
      throw new TypeConversionException("'" + value + "' is no time: write 5s, 500ms or off");
    }
    long number = Long.parseLong(time.group(1));
    Duration limit =
        time.group(2).equals("s") ? Duration.ofSeconds(number) : Duration.ofMillis(number);
    if (limit.isZero() || limit.compareTo(MOST) > 0) {
      throw new TypeConversionException(
          "'" + value + "' has to be from 1ms to " + MOST.toSeconds() + "s; off for no rehearsal");
    }
    return limit;
  }
}
