package dev.tollgate.samples.benchmark.measure;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A result as Markdown, which reads well in a terminal too. */
public final class Table {
  private Table() {}

  /** The medians with their ranges, then how the first entrant compares with each other one. */
  public static String of(Result result) {
    StringBuilder text = new StringBuilder();
    text.append("\n### ").append(result.scenario()).append(": ").append(result.label());
    text.append("\n\n");
    List<Metric> metrics = result.metrics();
    List<List<String>> rows = new ArrayList<>();
    List<String> headings = new ArrayList<>(List.of("median (range)"));
    metrics.forEach(metric -> headings.add(metric.heading()));
    rows.add(headings);
    for (String entrant : result.samples().keySet()) {
      List<String> row = new ArrayList<>(List.of(entrant));
      metrics.forEach(metric -> row.add(spread(result.rounds(entrant, metric), "")));
      rows.add(row);
    }
    append(text, rows);
    List<String> entrants = List.copyOf(result.samples().keySet());
    if (entrants.size() > 1) {
      text.append('\n');
      append(text, ratios(result, entrants, metrics));
    }
    result.absent().forEach((name, why) -> text.append("\nnot here: " + name + ": " + why));
    return text.append(result.absent().isEmpty() ? "" : "\n").toString();
  }

  private static List<List<String>> ratios(
      Result result, List<String> entrants, List<Metric> metrics) {
    List<Metric> compared = metrics.stream().filter(Metric::isCompared).toList();
    List<List<String>> rows = new ArrayList<>();
    List<String> headings = new ArrayList<>(List.of("ratio per round: median (range)"));
    compared.forEach(metric -> headings.add(metric.heading()));
    rows.add(headings);
    String first = entrants.get(0);
    for (String other : entrants.subList(1, entrants.size())) {
      List<String> row = new ArrayList<>(List.of(first + " / " + other));
      for (Metric metric : compared) {
        double[] own = result.rounds(first, metric);
        double[] others = result.rounds(other, metric);
        row.add(
            own.length == 0 || others.length != own.length
                ? ""
                : text(Spread.ofRatios(own, others), "x"));
      }
      rows.add(row);
    }
    return rows;
  }

  private static String spread(double[] values, String unit) {
    return values.length == 0 ? "" : text(Spread.of(values), unit);
  }

  private static String text(Spread spread, String unit) {
    return number(spread.median())
        + unit
        + " ("
        + number(spread.least())
        + ".."
        + number(spread.most())
        + ")";
  }

  private static String number(double value) {
    if (value == Math.rint(value) || value >= 100) {
      return String.format(Locale.ROOT, "%.0f", value);
    }
    return String.format(Locale.ROOT, value < 0.1 ? "%.4f" : "%.2f", value);
  }

  private static void append(StringBuilder text, List<List<String>> rows) {
    int columns = rows.get(0).size();
    int[] widths = new int[columns];
    for (List<String> row : rows) {
      for (int i = 0; i < columns; i++) {
        widths[i] = Math.max(widths[i], row.get(i).length());
      }
    }
    for (int r = 0; r < rows.size(); r++) {
      for (int i = 0; i < columns; i++) {
        String padding = " ".repeat(widths[i] - rows.get(r).get(i).length());
        String cell = rows.get(r).get(i);
        text.append("| ").append(i == 0 ? cell + padding : padding + cell).append(' ');
      }
      text.append("|\n");
      if (r == 0) {
        for (int i = 0; i < columns; i++) {
          String line = "-".repeat(widths[i] + 1);
          text.append("|").append(i == 0 ? line + "-" : line + ":");
        }
        text.append("|\n");
      }
    }
  }
}
