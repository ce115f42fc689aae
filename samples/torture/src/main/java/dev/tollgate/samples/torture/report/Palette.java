package dev.tollgate.samples.torture.report;

import java.util.List;
import java.util.Map;

/** The colors of a report. Red is kept for what is refused, missing or wrong. */
final class Palette {
  static final String LEADER = "#e2a72e";
  static final String NODE = "#dfe3e8";

  private static final List<String> CLIENTS =
      List.of(
          "#3274b5", "#3f9b6b", "#9a5aa8", "#c77f2c", "#1f9aa5", "#7d6a4f", "#5a68c9", "#7f9a2f");

  private static final Map<String, String> FAULTS =
      Map.of(
          "kill", "#3d4350",
          "pause", "#8a64b5",
          "partition", "#d2702a",
          "clock", "#2f8aa8",
          "disk", "#8a6a35",
          "slow", "#b89b1a",
          "rotate", "#5c9a3f");

  private Palette() {}

  static String client(int number) {
    return CLIENTS.get(number % CLIENTS.size());
  }

  static String fault(String kind) {
    return FAULTS.getOrDefault(kind, Canvas.FAINT);
  }
}
