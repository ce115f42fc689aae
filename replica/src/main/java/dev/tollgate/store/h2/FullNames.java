package dev.tollgate.store.h2;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The full names in a text that H2 has written: there the name of each object stands in quotes
 * behind that of its schema, with escapes if it has characters that are not ASCII. What stands in a
 * text constant is no name.
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
      Pattern.compile(
          "'(?:[^']++|'')*+'|((?:U&)?\"(?:[^\"]++|\"\")*+\")(?:\\.((?:U&)?\"(?:[^\"]++|\"\")*+\"))?");

  private static final Pattern FURTHER = Pattern.compile("\\.(?:U&)?\"");

  private static final String ESCAPED = "U&";

  /** H2 2.4 (StringUtils.quoteIdentifierOrLiteral) writes no other escapes. */
  private static final Pattern ESCAPE =
      Pattern.compile("\\\\(?:(\\\\)|\\+([0-9A-Fa-f]{6})|([0-9A-Fa-f]{4}))");

  private FullNames() {}

  /** Returns the names in the order of the text, each as often as it stands there. */
  public static List<FullName> in(String text) {
    List<FullName> found = new ArrayList<>();
    Matcher tokens = TOKEN.matcher(text);
    Matcher further = FURTHER.matcher(text);
    while (tokens.find()) {
      if (tokens.group(2) != null) {
        found.add(
            new FullName(
                unquoted(tokens.group(1)),
                unquoted(tokens.group(2)),
                tokens.start(),
                further.region(tokens.end(), text.length()).lookingAt()));
      }
    }
    return found;
  }

  private static String unquoted(String token) {
    String name = token.substring(token.indexOf('"') + 1, token.length() - 1).replace("\"\"", "\"");
    return token.startsWith(ESCAPED) ? unescaped(name) : name;
  }

  /** Returns what an identifier behind {@code U&} means, without a clause UESCAPE. */
  public static String unescaped(String name) {
    return ESCAPE.matcher(name).replaceAll(FullNames::meant);
  }

  private static String meant(MatchResult escape) {
    if (escape.group(1) != null) {
      return Matcher.quoteReplacement("\\");
    }
    String digits = escape.group(2) == null ? escape.group(3) : escape.group(2);
    return Matcher.quoteReplacement(Character.toString(Integer.parseInt(digits, 16)));
  }
}
