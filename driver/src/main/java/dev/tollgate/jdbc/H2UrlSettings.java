package dev.tollgate.jdbc;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The settings that follow a semicolon in a URL of H2, such as {@code ;MODE=MySQL}. Applications
 * bring them along. One that says what Tollgate does anyway is accepted; any other is refused, so
 * that none is lost in silence.
 */
final class H2UrlSettings {
  /** The values that hold. */
  private static final Map<String, Set<String>> HOLD =
      Map.of(
          "MODE", Set.of("REGULAR"),
          "DB_CLOSE_DELAY", Set.of("-1"),
          "DB_CLOSE_ON_EXIT", Set.of("TRUE", "FALSE"),
          "DATABASE_TO_UPPER", Set.of("TRUE"),
          "DATABASE_TO_LOWER", Set.of("FALSE"),
          "CASE_INSENSITIVE_IDENTIFIERS", Set.of("FALSE"));

  /** What an application does instead. */
  private static final Map<String, String> INSTEAD = instead();

  private H2UrlSettings() {}

  private static Map<String, String> instead() {
    Map<String, String> instead = new LinkedHashMap<>();
    instead.put("MODE", "Tollgate knows the mode REGULAR alone; remove the setting");
    instead.put("NON_KEYWORDS", "remove it, and put names that are keywords in double quotes");
    instead.put("INIT", "remove it, and run the statement as a migration or after connecting");
    instead.put("LOCK_TIMEOUT", "write ?lockTimeout=2s");
    instead.put("SCHEMA", "call setSchema, or set the schema of the pool");
    instead.put("USER", "write ?user=name, or pass it beside the URL");
    instead.put("PASSWORD", "pass it beside the URL");
    instead.put("DATABASE_TO_UPPER", "names without quotes are upper case; remove the setting");
    instead.put("DATABASE_TO_LOWER", "names without quotes are upper case; remove the setting");
    instead.put("CASE_INSENSITIVE_IDENTIFIERS", "names have one case each; remove the setting");
    instead.put("DB_CLOSE_DELAY", "a node runs as long as docs/driver.md says; remove the setting");
    return instead;
  }

  /**
   * Says what is wrong with the settings. A value is never shown: it may be a password.
   *
   * @param settings what follows the first semicolon
   * @return empty if all of them hold
   */
  static Optional<String> fault(String settings) {
    for (String setting : settings.split(";", -1)) {
      String[] pair = setting.trim().split("=", 2);
      String key = pair[0].trim().toUpperCase(Locale.ROOT);
      String value = pair.length == 1 ? "" : pair[1].trim().toUpperCase(Locale.ROOT);
      if (!key.isEmpty() && pair.length == 1) {
        return Optional.of("a setting after ';' has no value; properties follow a '?'");
      }
      if (!key.isEmpty() && !HOLD.getOrDefault(key, Set.of()).contains(value)) {
        return Optional.of(
            "';"
                + key
                + "' is a setting of H2's URLs that does not hold here: "
                + INSTEAD.getOrDefault(key, "remove it; properties of Tollgate follow a '?'"));
      }
    }
    return Optional.empty();
  }
}
