package dev.tollgate.node.admin;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/** Reads fields as HTML forms and queries send them. */
final class ConsoleForm {
  private static final int MOST_FIELDS = 16;

  private ConsoleForm() {}

  /**
   * The fields by name.
   *
   * @throws IllegalArgumentException if that is no form, or names a field twice
   */
  static Map<String, String> decode(String text) {
    Map<String, String> fields = new LinkedHashMap<>();
    if (text.isEmpty()) {
      return fields;
    }
    String[] pairs = text.split("&", MOST_FIELDS + 1);
    if (pairs.length > MOST_FIELDS) {
      throw new IllegalArgumentException("more than " + MOST_FIELDS + " fields");
    }
    for (String pair : pairs) {
      int equal = pair.indexOf('=');
      String name = decoded(equal < 0 ? pair : pair.substring(0, equal));
      if (fields.put(name, equal < 0 ? "" : decoded(pair.substring(equal + 1))) != null) {
        throw new IllegalArgumentException("the same field twice");
      }
    }
    return fields;
  }

  private static String decoded(String text) {
    return URLDecoder.decode(text, StandardCharsets.UTF_8);
  }
}
