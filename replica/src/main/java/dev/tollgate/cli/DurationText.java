package dev.tollgate.cli;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads a time such as {@code 500ms}, {@code 30s}, {@code 5m}, {@code 6h} or {@code 2d}. */
final class DurationText implements ITypeConverter<Duration> {
  /** Nine digits of days fit into a Duration. */
  private static final Pattern TIME = Pattern.compile("([0-9]{1,9})(ms|s|m|h|d|)");

  DurationText() {}

  @Override
  public Duration convert(String value) {
    Matcher time = TIME.matcher(value);
    if (!time.matches()) {
      throw new TypeConversionException(
          "'" + value + "' is no time: write 500ms, 30s, 5m, 6h or 2d, or a number of seconds");
    }
    return of(time.group(1), time.group(2));
  }

  /**
   * Returns the time.
   *
   * @param number at most nine digits
   * @param unit ms, s, m, h or d; empty for seconds
   */
  static Duration of(String number, String unit) {
    long count = Long.parseLong(number);
    return switch (unit) {
      case "ms" -> Duration.ofMillis(count);
      case "m" -> Duration.ofMinutes(count);
      case "h" -> Duration.ofHours(count);
      case "d" -> Duration.ofDays(count);
      default -> Duration.ofSeconds(count);
    };
  }

  /** As {@link #convert} reads it, without a remainder below a millisecond. */
  static String of(Duration time) {
    long millis = time.toMillis();
    return millis % 1_000 == 0 ? millis / 1_000 + "s" : millis + "ms";
  }
}
