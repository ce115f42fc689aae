package dev.tollgate.samples.torture.report;

import java.util.Locale;

/** SVG, shape by shape. Lengths are pixels from the upper left. */
final class Canvas {
  static final String INK = "#24272e";
  static final String FAINT = "#8b8f98";
  static final String RULE = "#dcdad3";
  static final String BAD = "#cf2e2e";
  static final String GOOD = "#2f8f5b";

  /** Average width of a letter in the fonts below, relative to the font size. */
  private static final double LETTER = 0.52;

  private final StringBuilder shapes = new StringBuilder();

  /** The position of a text relative to its x. */
  enum Anchor {
    START,
    MIDDLE,
    END
  }

  void rectangle(double x, double y, double width, double height, String style, String title) {
    shapes.append(
        String.format(
            Locale.ROOT,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" %s",
            x,
            y,
            width,
            height,
            style));
    close("rect", title);
  }

  void line(double x1, double y1, double x2, double y2, String style, String title) {
    shapes.append(
        String.format(
            Locale.ROOT,
            "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s",
            x1,
            y1,
            x2,
            y2,
            style));
    close("line", title);
  }

  void circle(double x, double y, double radius, String style, String title) {
    shapes.append(
        String.format(
            Locale.ROOT, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" %s", x, y, radius, style));
    close("circle", title);
  }

  /** Draws two crossed strokes. */
  void cross(double x, double y, double size, String color, String title) {
    shapes.append(
        String.format(
            Locale.ROOT,
            "<path d=\"M%.1f %.1fl%.1f %.1fm0 %.1fl%.1f %.1f\" stroke=\"%s\""
                + " stroke-width=\"1.8\" fill=\"none\" stroke-linecap=\"round\"",
            x - size,
            y - size,
            2 * size,
            2 * size,
            -2 * size,
            -2 * size,
            2 * size,
            color));
    close("path", title);
  }

  private void close(String element, String title) {
    if (title.isEmpty()) {
      shapes.append("/>\n");
    } else {
      shapes.append("><title>").append(escape(title)).append("</title></").append(element);
      shapes.append(">\n");
    }
  }

  void text(double x, double y, double size, Anchor anchor, String style, String text) {
    shapes.append(
        String.format(
            Locale.ROOT,
            "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\" text-anchor=\"%s\" %s>%s</text>%n",
            x,
            y,
            size,
            anchor.name().toLowerCase(Locale.ROOT),
            style,
            escape(text)));
  }

  /** Draws text that is cut where there is no more room. */
  void textWithin(double x, double y, double width, double size, String style, String text) {
    int letters = (int) (width / (size * LETTER));
    if (letters >= text.length()) {
      text(x, y, size, Anchor.START, style, text);
    } else if (letters > 3) {
      text(x, y, size, Anchor.START, style, text.substring(0, letters - 1) + "\u2026");
    }
  }

  static String fill(String color) {
    return "fill=\"" + color + "\"";
  }

  static String stroke(String color, double width) {
    return String.format(Locale.ROOT, "stroke=\"%s\" stroke-width=\"%.1f\"", color, width);
  }

  private static String escape(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }

  /** The whole document. */
  String document(double width, double height) {
    return String.format(
            Locale.ROOT,
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %1$.0f %2$.0f" \
            width="%1$.0f" height="%2$.0f" \
            font-family="Helvetica, Arial, 'DejaVu Sans', sans-serif">
            <defs>
            <pattern id="stopped" width="5" height="5" patternUnits="userSpaceOnUse" \
            patternTransform="rotate(45)"><rect width="2" height="5" fill="#ffffff" \
            fill-opacity="0.65"/></pattern>
            </defs>
            <rect width="%1$.0f" height="%2$.0f" fill="#fcfbf8"/>
            """,
            width,
            height)
        + shapes
        + "</svg>\n";
  }
}
