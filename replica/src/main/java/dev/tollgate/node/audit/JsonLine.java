package dev.tollgate.node.audit;

import dev.tollgate.core.command.Text;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A JSON object (RFC 8259) on a line of its own. Whatever a text has in it, it stays within its
 * string, and its string on the line. Everything that a terminal might obey or a reader might
 * mistake is escaped: control and format characters, separators of lines, private and unassigned
 * characters, and surrogates without a partner. Keys are constants. Not thread-safe.
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
    line.append("{\"time\":\"");
    TIME.formatTo(Instant.EPOCH.plus(timeMicros, ChronoUnit.MICROS), line);
    line.append('"');
    text("event", event);
  }

  /** Adds a member, unless the value is null. */
  JsonLine text(String key, @Nullable String value) {
    if (value == null) {
      return this;
    }
    key(key);
    line.append('"');
    String shown = Text.first(value, TEXT_CHARS);
    for (int at = 0; at < shown.length(); ) {
      int point = shown.codePointAt(at);
      append(point);
      at += Character.charCount(point);
    }
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

  private void key(String key) {
    line.append(",\"").append(key).append("\":");
  }

  private void append(int point) {
    if (point == '"' || point == '\\') {
      line.append('\\').append((char) point);
    } else if (isPlain(point)) {
      line.appendCodePoint(point);
    } else {
      for (char unit : Character.toChars(point)) {
        line.append(String.format(Locale.ROOT, "\\u%04x", (int) unit));
      }
    }
  }

  private static boolean isPlain(int point) {
    return switch (Character.getType(point)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR,
          Character.SURROGATE,
          Character.PRIVATE_USE,
          Character.UNASSIGNED ->
          false;
      default -> true;
    };
  }

  /** Ends the line. */
  @Override
  public String toString() {
    return line + "}\n";
  }
}
