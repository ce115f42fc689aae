package dev.tollgate.store.h2;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The full names in a text that H2 has written: there the name of each object stands in quotes
 * behind that of its schema. What stands in a text constant is no name.
 */
public final class FullNames {
  /**
   * A name.
   *
   * @param schema without its quotes
   * @param name of an object of the schema, without its quotes
   * @param at where it begins
   * @param qualifies whether it stands before a further name, that of a column
   */
  public record FullName(String schema, String name, int at, boolean qualifies) {}

  /** A text constant, or a name that may have the name of an object behind it. */
  private static final Pattern TOKEN =
      Pattern.compile("'(?:[^']++|'')*+'|\"((?:[^\"]++|\"\")*+)\"(?:\\.\"((?:[^\"]++|\"\")*+)\")?");

  private static final String FURTHER = ".\"";

  private FullNames() {}

  /** Returns the names in the order of the text, each as often as it stands there. */
  public static List<FullName> in(String text) {
    List<FullName> found = new ArrayList<>();
    Matcher tokens = TOKEN.matcher(text);
    while (tokens.find()) {
      if (tokens.group(2) != null) {
        found.add(
            new FullName(
                unquoted(tokens.group(1)),
                unquoted(tokens.group(2)),
                tokens.start(),
                text.startsWith(FURTHER, tokens.end())));
      }
    }
    return found;
  }

  private static String unquoted(String name) {
    return name.replace("\"\"", "\"");
  }
}
