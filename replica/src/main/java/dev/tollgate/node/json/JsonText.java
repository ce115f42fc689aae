package dev.tollgate.node.json;

import java.util.HexFormat;

/**
 * Texts as strings of JSON (RFC 8259). Whatever a text has in it, it stays within its string, and
 * its string on one line. All that a terminal might obey or a reader might mistake is escaped:
 * control and format characters, separators of lines, private and unassigned characters, and
 * surrogates without a partner.
 */
public final class JsonText {
  private static final HexFormat HEX = HexFormat.of();

  private JsonText() {}

  /** Returns the text between quotation marks. */
  public static String quoted(String text) {
    StringBuilder quoted = new StringBuilder(text.length() + 16).append('"');
    escape(text, quoted);
    return quoted.append('"').toString();
  }

  /** Appends the text as it stands between quotation marks. */
  public static void escape(String text, StringBuilder out) {
    for (int at = 0; at < text.length(); ) {
      int point = text.codePointAt(at);
      int length = Character.charCount(point);
      if (point == '"' || point == '\\') {
        out.append('\\').append((char) point);
      } else if (isPlain(point)) {
        out.appendCodePoint(point);
      } else {
        // not by a Formatter: a text may have a million of these
        for (int unit = at; unit < at + length; unit++) {
          out.append("\\u").append(HEX.toHexDigits(text.charAt(unit)));
        }
      }
      at += length;
    }
  }

  /** True for a character that shows itself: it orders nothing, and stands where it was written. */
  public static boolean isPlain(int point) {
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
}
