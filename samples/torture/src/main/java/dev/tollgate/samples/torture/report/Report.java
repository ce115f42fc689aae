package dev.tollgate.samples.torture.report;

import dev.tollgate.samples.torture.history.Rule;
import dev.tollgate.samples.torture.history.Violation;
import dev.tollgate.samples.torture.report.Canvas.Anchor;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Draws a run: its figures and the verdict, and below them all of its time, in strips like those of
 * a score. The file needs nothing else. A shape explains itself when the mouse is over it.
 */
public final class Report {
  static final double WIDTH = 1600;
  static final double MARGIN = 40;

  private static final int SHOWN_VIOLATIONS = 8;
  private static final double ROW = 21;

  private final Tale tale;
  private final Summary summary;
  private final Canvas canvas = new Canvas();
  private double y;

  private Report(Tale tale) {
    this.tale = tale;
    this.summary = Summary.of(tale);
  }

  /** Returns the document. */
  public static String svg(Tale tale) {
    Report report = new Report(tale);
    report.title();
    report.tiles();
    report.tables();
    report.violations();
    double height = new Timeline(tale, report.canvas).draw(report.y) + MARGIN;
    return report.canvas.document(WIDTH, height);
  }

  private void title() {
    boolean held = tale.violations().isEmpty();
    canvas.text(
        MARGIN,
        70,
        34,
        Anchor.START,
        Canvas.fill(Canvas.INK) + " font-weight=\"bold\"",
        "Tollgate under torture");
    canvas.text(
        MARGIN,
        98,
        15,
        Anchor.START,
        Canvas.fill(Canvas.FAINT),
        String.format(
            Locale.ROOT,
            "seed %d  \u00b7  %d nodes  \u00b7  %.0f s  \u00b7  %s",
            tale.seed(),
            tale.nodes(),
            tale.evidence().endNanos() / 1e9,
            tale.command()));
    String color = held ? Canvas.GOOD : Canvas.BAD;
    double width = 330;
    canvas.rectangle(WIDTH - MARGIN - width, 36, width, 52, Canvas.fill(color) + " rx=\"8\"", "");
    canvas.text(
        WIDTH - MARGIN - width / 2,
        70,
        21,
        Anchor.MIDDLE,
        Canvas.fill("#ffffff") + " font-weight=\"bold\"",
        held
            ? "\u2713 all " + Rule.of(tale.evidence()).size() + " promises held"
            : "\u2717 violations: " + tale.violations().size());
    y = 124;
  }

  private record Tile(String figure, String name, String color) {}

  private void tiles() {
    List<Tile> tiles =
        List.of(
            new Tile(number(summary.operations()), "operations", Canvas.INK),
            new Tile(number(summary.grants()), "locks granted", Canvas.INK),
            new Tile(number(summary.writes()), "writes accepted", Canvas.INK),
            new Tile(number(summary.staleWritesRefused()), "stale writes refused", Canvas.BAD),
            new Tile(number(summary.bareWritesRefused()), "refused without a token", Canvas.BAD),
            new Tile(number(tale.evidence().disturbances().size()), "faults injected", Canvas.INK),
            new Tile(number(summary.leaderChanges()), "changes of the leader", Canvas.INK),
            new Tile(Summary.seconds(summary.longestOutageNanos()), "longest outage", Canvas.INK),
            new Tile(
                Summary.seconds(summary.slowestReturnNanos()), "answer after healing", Canvas.INK));
    double gap = 12;
    double width = (WIDTH - 2 * MARGIN - gap * (tiles.size() - 1)) / tiles.size();
    for (int i = 0; i < tiles.size(); i++) {
      Tile tile = tiles.get(i);
      double x = MARGIN + i * (width + gap);
      canvas.rectangle(
          x,
          y,
          width,
          66,
          Canvas.fill("#ffffff") + " rx=\"6\" " + Canvas.stroke(Canvas.RULE, 1),
          "");
      canvas.text(
          x + width / 2,
          y + 34,
          24,
          Anchor.MIDDLE,
          Canvas.fill(tile.color()) + " font-weight=\"bold\"",
          tile.figure());
      canvas.text(x + width / 2, y + 54, 11, Anchor.MIDDLE, Canvas.fill(Canvas.FAINT), tile.name());
    }
    y += 66 + 34;
  }

  private static String number(long value) {
    return String.format(Locale.ROOT, "%,d", value);
  }

  private void tables() {
    double top = y;
    for (Rule rule : Rule.of(tale.evidence())) {
      long broken = tale.violations().stream().filter(one -> one.rule() == rule).count();
      canvas.text(
          MARGIN + 4,
          y,
          16,
          Anchor.START,
          Canvas.fill(broken == 0 ? Canvas.GOOD : Canvas.BAD) + " font-weight=\"bold\"",
          broken == 0 ? "\u2713" : "\u2717");
      canvas.text(
          MARGIN + 28,
          y,
          14,
          Anchor.START,
          Canvas.fill(broken == 0 ? Canvas.INK : Canvas.BAD),
          rule.promise() + (broken == 0 ? "" : "  (" + broken + " times not)"));
      y += ROW;
    }
    faults(WIDTH / 2 + 20, top);
  }

  private void faults(double left, double top) {
    double row = top;
    double[] columns = {left + 200, left + 360, left + 540};
    String[] heads = {"times", "longest outage", "answered after healing"};
    canvas.text(left, row, 12, Anchor.START, Canvas.fill(Canvas.FAINT), "fault");
    for (int i = 0; i < heads.length; i++) {
      canvas.text(columns[i], row, 12, Anchor.END, Canvas.fill(Canvas.FAINT), heads[i]);
    }
    row += 6;
    canvas.line(left, row, columns[2], row, Canvas.stroke(Canvas.RULE, 1), "");
    for (Map.Entry<String, Summary.OfKind> fault : summary.faults().entrySet()) {
      row += ROW;
      canvas.rectangle(
          left, row - 11, 12, 12, Canvas.fill(Palette.fault(fault.getKey())) + " rx=\"2\"", "");
      Summary.OfKind of = fault.getValue();
      canvas.text(left + 20, row, 14, Anchor.START, Canvas.fill(Canvas.INK), fault.getKey());
      String[] cells = {
        number(of.count()),
        of.longestOutageNanos() == 0 ? "none" : Summary.seconds(of.longestOutageNanos()),
        "at most " + Summary.seconds(of.slowestReturnNanos())
      };
      for (int i = 0; i < cells.length; i++) {
        canvas.text(columns[i], row, 14, Anchor.END, Canvas.fill(Canvas.INK), cells[i]);
      }
    }
    for (String reason : tale.leftOut()) {
      row += ROW;
      canvas.textWithin(
          left, row, WIDTH - MARGIN - left, 13, Canvas.fill(Canvas.BAD), "left out: " + reason);
    }
    y = Math.max(y, row + ROW);
  }

  private void violations() {
    List<Violation> shown =
        tale.violations().subList(0, Math.min(SHOWN_VIOLATIONS, tale.violations().size()));
    if (!shown.isEmpty()) {
      y += 8;
    }
    for (Violation violation : shown) {
      canvas.textWithin(
          MARGIN + 4,
          y,
          WIDTH - 2 * MARGIN,
          13,
          Canvas.fill(Canvas.BAD),
          String.format(Locale.ROOT, "%.3f s  %s", violation.atNanos() / 1e9, violation.text()));
      y += ROW;
    }
    if (tale.violations().size() > shown.size()) {
      canvas.text(
          MARGIN + 4,
          y,
          13,
          Anchor.START,
          Canvas.fill(Canvas.BAD),
          "and " + (tale.violations().size() - shown.size()) + " more");
      y += ROW;
    }
  }
}
