package dev.tollgate.samples.benchmark.measure;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** All rounds of all results, for programs: nothing is summed up. */
public final class Json {
  private Json() {}

  /**
   * @param about what the run was, as names and values
   */
  public static String of(Map<String, String> about, List<Result> results) {
    List<String> members = new ArrayList<>();
    about.forEach((name, value) -> members.add("  " + string(name) + ": " + string(value)));
    members.add(
        "  \"results\": "
            + results.stream()
                .map(Json::result)
                .collect(Collectors.joining(",\n", "[\n", "\n  ]")));
    return members.stream().collect(Collectors.joining(",\n", "{\n", "\n}\n"));
  }

  private static String result(Result result) {
    String entrants =
        result.samples().entrySet().stream()
            .map(entry -> "      " + string(entry.getKey()) + ": " + rounds(entry.getValue()))
            .collect(Collectors.joining(",\n", "{\n", "\n    }"));
    String absent =
        result.absent().entrySet().stream()
            .map(entry -> string(entry.getKey()) + ": " + string(entry.getValue()))
            .collect(Collectors.joining(", ", "{", "}"));
    return "    {\"scenario\": "
        + string(result.scenario())
        + ", \"case\": "
        + string(result.label())
        + ", \"absent\": "
        + absent
        + ", \"entrants\": "
        + entrants
        + "}";
  }

  private static String rounds(List<Sample> samples) {
    return samples.stream().map(Json::sample).collect(Collectors.joining(", ", "[", "]"));
  }

  private static String sample(Sample sample) {
    return sample.values().entrySet().stream()
        .map(
            entry ->
                string(entry.getKey().heading())
                    + ": "
                    + String.format(Locale.ROOT, "%.3f", entry.getValue()))
        .collect(Collectors.joining(", ", "{", "}"));
  }

  private static String string(String value) {
    StringBuilder text = new StringBuilder("\"");
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if (c == '"' || c == '\\') {
        text.append('\\').append(c);
      } else if (c < ' ') {
        text.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
      } else {
        text.append(c);
      }
    }
    return text.append('"').toString();
  }
}
