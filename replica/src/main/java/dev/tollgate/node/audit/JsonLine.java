package dev.tollgate.node.audit;

import dev.tollgate.core.command.Text;
import dev.tollgate.node.json.JsonText;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A JSON object (RFC 8259) on a line of its own. Its texts stay within their strings ({@link
 * JsonText}). Keys are constants. Not thread-safe.
 */
final class JsonLine {
  /** Characters of a text that are written; the rest is counted. Names of the core are shorter. */
  static final int TEXT_CHARS = 520;

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSSSS'Z'", Locale.ROOT)
          .withZone(ZoneOffset.UTC);

  private final StringBuilder line = new StringBuilder(400);

  /**
   * Begins a line.
   *
   * @param timeMicros microseconds since 1970, written as RFC 3339 in UTC
   */
  JsonLine(long timeMicros, String event) {
    line.append("{\"time\":");
    time(timeMicros);
    text("event", event);
  }

  /** Adds a member, unless the value is null. */
  JsonLine text(String key, @Nullable String value) {
    return text(key, value, TEXT_CHARS);
  }

  /** Adds a member of at most so many characters, unless the value is null. */
  JsonLine text(String key, @Nullable String value, int mostChars) {
    if (value == null) {
      return this;
    }
    key(key);
    line.append('"');
    String shown = Text.first(value, mostChars);
    JsonText.escape(shown, line);
    if (shown.length() < value.length()) {
      line.append("... (").append(value.length()).append(" characters)");
    }
    line.append('"');
    return this;
  }

  /** Adds the name of a constant in lower case, unless it is null. */
  JsonLine constant(String key, @Nullable Enum<?> value) {
    return text(key, value == null ? null : value.name().toLowerCase(Locale.ROOT));
  }

  /** Adds a member, unless the value is null. */
  JsonLine number(String key, @Nullable Long value) {
    if (value != null) {
      key(key);
      line.append(value.longValue());
    }
    return this;
  }

  /** Adds a time, in microseconds since 1970. */
  JsonLine moment(String key, long micros) {
    key(key);
    time(micros);
    return this;
  }

  private void time(long micros) {
    line.append('"');
    TIME.formatTo(Instant.EPOCH.plus(micros, ChronoUnit.MICROS), line);
    line.append('"');
  }

  private void key(String key) {
    line.append(",\"").append(key).append("\":");
  }

  /** Ends the line. */
  @Override
  public String toString() {
    return line + "}\n";
  }
}
