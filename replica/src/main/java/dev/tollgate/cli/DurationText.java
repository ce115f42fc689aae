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
    long number = Long.parseLong(time.group(1));
    return switch (time.group(2)) {
      case "ms" -> Duration.ofMillis(number);
      case "m" -> Duration.ofMinutes(number);
      case "h" -> Duration.ofHours(number);
      case "d" -> Duration.ofDays(number);
      default -> Duration.ofSeconds(number);
    };
  }

  /** As {@link #convert} reads it, without a remainder below a millisecond. */
  static String of(Duration time) {
    long millis = time.toMillis();
    return millis % 1_000 == 0 ? millis / 1_000 + "s" : millis + "ms";
  }
}
