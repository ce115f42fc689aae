package dev.tollgate.node.scripts;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.tollgate.node.admin.AdminRequest;
import java.net.URLDecoder;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a request says by names: the members of its body, or the parameters of its query. A name
 * that the request does not have is refused, so that a slip of the pen changes nothing. Immutable.
 */
final class Arguments {
  private static final Pattern TIME = Pattern.compile("([0-9]{1,9})(ms|s|m|h)?");
  private static final String FORM = "application/json";

  private final Map<String, @Nullable Object> members;

  private Arguments(Map<String, @Nullable Object> members, Set<String> known) throws ScriptRefusal {
    this.members = requireNonNull(members, "members");
    for (String name : members.keySet()) {
      if (!known.contains(name)) {
        throw ScriptRefusal.invalid(
            "there is no \""
                + name
                + "\" here"
                + (known.isEmpty() ? "" : ": only " + String.join(", ", new TreeSet<>(known))));
      }
    }
  }

  /** Reads the body of a request without a query; an empty body has no members. */
  static Arguments ofBody(AdminRequest request, String... known) throws ScriptRefusal {
    if (!request.query().isEmpty()) {
      throw ScriptRefusal.invalid(
          "this request has no parameters in its query: what it says is in its body");
    }
    if (request.body().length == 0) {
      return new Arguments(Map.of(), Set.of(known));
    }
    String type = request.header("Content-Type");
    // forms of foreign pages cannot send this type without being asked for leave
    if (type == null || !type.toLowerCase(Locale.ROOT).split(";", 2)[0].trim().equals(FORM)) {
      throw ScriptRefusal.mediaType("the body has to be JSON, with Content-Type: " + FORM);
    }
    return new Arguments(JsonReader.object(request.body()), Set.of(known));
  }

  /** Reads the query of a request without a body; its values are texts. */
  static Arguments ofQuery(AdminRequest request, String... known) throws ScriptRefusal {
    if (request.body().length > 0) {
      throw ScriptRefusal.invalid(
          "this request has no body: what it says is in the query of its URL");
    }
    Map<String, @Nullable Object> values = new LinkedHashMap<>();
    for (String pair : request.query().split("&", -1)) {
      if (!pair.isEmpty()) {
        int equals = pair.indexOf('=');
        String name = decoded(equals < 0 ? pair : pair.substring(0, equals));
        if (values.put(name, equals < 0 ? "" : decoded(pair.substring(equals + 1))) != null) {
          throw ScriptRefusal.invalid("\"" + name + "\" is there twice");
        }
      }
    }
    return new Arguments(values, Set.of(known));
  }

  /**
   * Reads what URLs escape.
   *
   * @throws ScriptRefusal also for bytes that are not UTF-8: as replacement characters, different
   *     names would be one
   */
  static String decoded(String escaped) throws ScriptRefusal {
    try {
      byte[] bytes = URLDecoder.decode(escaped, ISO_8859_1).getBytes(ISO_8859_1);
      return UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (IllegalArgumentException e) {
      throw ScriptRefusal.invalid("the URL has a wrong escape: " + e.getMessage());
    } catch (CharacterCodingException e) {
      throw ScriptRefusal.invalid("the escapes of the URL are not UTF-8");
    }
  }

  boolean has(String name) {
    return members.get(name) != null;
  }

  private static ScriptRefusal wrong(String name, String what) {
    return ScriptRefusal.invalid("\"" + name + "\" has to be " + what);
  }

  private Object required(String name, String what) throws ScriptRefusal {
    Object value = members.get(name);
    if (value == null) {
      throw wrong(name, what);
    }
    return value;
  }

  String text(String name) throws ScriptRefusal {
    if (required(name, "a text") instanceof String text) {
      return text;
    }
    throw wrong(name, "a text");
  }

  /** A whole number, as a number or as the digits of one. */
  long number(String name) throws ScriptRefusal {
    Object value = required(name, "a whole number");
    if (value instanceof Long number) {
      return number;
    }
    if (value instanceof String digits && digits.matches("[0-9]{1,18}")) {
      return Long.parseLong(digits);
    }
    throw wrong(name, "a whole number");
  }

  /** The number of a lease; 0 is none: a script has no lease of its own. */
  long lease() throws ScriptRefusal {
    long lease = number("lease");
    if (lease < 1) {
      throw wrong("lease", "the number of a lease, 1 or more");
    }
    return lease;
  }

  /** A number from 1 to a maximum, or another one if it is not there. */
  int count(String name, int otherwise, int most) throws ScriptRefusal {
    if (!has(name)) {
      return otherwise;
    }
    long count = number(name);
    if (count < 1 || count > most) {
      throw wrong(name, "1 to " + most);
    }
    return (int) count;
  }

  boolean flag(String name) throws ScriptRefusal {
    Object value = members.get(name);
    if (value == null || value.equals(false) || value.equals("false")) {
      return false;
    }
    if (value.equals(true) || value.equals("true")) {
      return true;
    }
    throw wrong(name, "true or false");
  }

  List<? extends @Nullable Object> list(String name) throws ScriptRefusal {
    Object value = members.get(name);
    if (value == null) {
      return List.of();
    }
    if (value instanceof List<?> list) {
      return list;
    }
    throw wrong(name, "an array");
  }

  /** A time: a number of milliseconds, or a text such as 500ms, 10s, 5m and 2h. */
  Duration time(String name) throws ScriptRefusal {
    Matcher time = TIME.matcher(String.valueOf(required(name, "a time, such as 500ms or 10s")));
    if (!time.matches()) {
      throw wrong(name, "a time, such as 500ms, 10s, 5m or 2h; a number alone is in milliseconds");
    }
    long amount = Long.parseLong(time.group(1));
    String unit = time.group(2);
    return switch (unit == null ? "ms" : unit) {
      case "s" -> Duration.ofSeconds(amount);
      case "m" -> Duration.ofMinutes(amount);
      case "h" -> Duration.ofHours(amount);
      default -> Duration.ofMillis(amount);
    };
  }

  /** A time up to a maximum, or another one if it is not there. */
  Duration time(String name, Duration otherwise, Duration most) throws ScriptRefusal {
    Duration time = has(name) ? time(name) : otherwise;
    if (time.compareTo(most) > 0) {
      throw wrong(name, "at most " + most.toSeconds() + "s");
    }
    return time;
  }
}
