package dev.tollgate.node.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The alerts of docs/dashboards/alerts.yaml, as promtool of Prometheus reads and tries them. */
class AlertRulesTest {
  private static final Path PROMTOOL = Path.of("/usr/bin/promtool");
  private static final Path DOCS = Path.of("..", "docs");
  private static final Path ALERTS = DOCS.resolve(Path.of("dashboards", "alerts.yaml"));
  private static final List<String> CASES = List.of("alerts-test.yaml", "alerts-day-test.yaml");
  private static final long PATIENCE_SECONDS = 120;

  @TempDir Path directory;

  private static SortedSet<String> found(String pattern, String text) {
    SortedSet<String> names = new TreeSet<>();
    Pattern.compile(pattern).matcher(text).results().forEach(found -> names.add(found.group(1)));
    return names;
  }

  private static SortedSet<String> alerts() throws IOException {
    return found("- alert: (\\w+)", Files.readString(ALERTS));
  }

  private static String resource(String name) throws IOException {
    try (var in = AlertRulesTest.class.getResourceAsStream(name)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private void promtool(String... words) throws Exception {
    assumeTrue(
        Files.isExecutable(PROMTOOL), "promtool is not installed: Debian's package prometheus");
    Path out = directory.resolve("out");
    Process process =
        new ProcessBuilder(words).redirectErrorStream(true).redirectOutput(out.toFile()).start();
    try {
      assertTrue(process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS), "promtool does not end");
      assertEquals(0, process.exitValue(), Files.readString(out));
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void rulesAreValid() throws Exception {
    promtool(PROMTOOL.toString(), "check", "rules", ALERTS.toString());
  }

  @Test
  void eachAlertFiresWhenItShould() throws Exception {
    for (String name : CASES) {
      Path file = directory.resolve(name);
      String text = resource(name);
      assertTrue(text.contains("\"ALERTS\""), name);
      Files.writeString(
          file, text.replace("\"ALERTS\"", "\"" + ALERTS.toAbsolutePath().normalize() + "\""));
      promtool(PROMTOOL.toString(), "test", "rules", file.toString());
    }
  }

  @Test
  void eachAlertHasACaseThatFiresItAndOneThatDoesNot() throws IOException {
    String cases = resource(CASES.get(0)) + resource(CASES.get(1));
    assertEquals(alerts(), found("name: (\\w+) fires\n", cases));
    assertEquals(alerts(), found("name: (\\w+) is quiet\n", cases));
  }

  @Test
  void pageNamesEachAlertAndNoOther() throws IOException {
    assertEquals(
        alerts(), found("`(Tollgate[A-Z]\\w+)`", Files.readString(DOCS.resolve("operations.md"))));
  }

  @Test
  void eachAlertSaysWhatToDo() throws IOException {
    String text = Files.readString(ALERTS);
    List<MatchResult> rules =
        Pattern.compile("(?s)- alert: \\w+\n.*?(?=      - alert|\\z)")
            .matcher(text)
            .results()
            .toList();
    assertEquals(alerts().size(), rules.size(), "names come once");
    for (MatchResult rule : rules) {
      assertTrue(
          Pattern.compile("(?s)severity: (page|ticket) .*summary: '.*labels.job.*action: '\\S")
              .matcher(rule.group())
              .find(),
          rule.group());
    }
  }
}
