package dev.tollgate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** The options of the server are the only list of settings: pages and files follow them. */
class ConfigurationPagesTest {
  private static final Path EXAMPLE = Path.of("conf", "tollgate.properties");
  private static final Path OPERATIONS = Path.of("..", "docs", "operations.md");
  private static final Pattern VARIABLE = Pattern.compile("TOLLGATE_[A-Z_]+");
  private static final Pattern READ = Pattern.compile("\\$\\{(TOLLGATE_[A-Z_]+)");
  private static final int WIDTH = 110;

  private static Map<String, OptionSpec> settings() {
    CommandLine server = Main.commandLine(Map.of(), null).getSubcommands().get("server");
    Map<String, OptionSpec> settings = new TreeMap<>();
    for (OptionSpec option : server.getCommandSpec().options()) {
      String name = option.longestName();
      if (!option.hidden()
          && !Set.of("--help", "--version", "--config", "--check-config").contains(name)) {
        settings.put(name.substring(2), option);
      }
    }
    return settings;
  }

  private static String variable(String name) {
    return "TOLLGATE_" + name.toUpperCase(Locale.ROOT).replace('-', '_');
  }

  /** The file of the distribution: every setting with its default, all of them comments. */
  private static List<String> example() {
    List<String> lines =
        new ArrayList<>(
            List.of(
                "# Settings of a node, for `tollgate server`: each line NAME=VALUE, in UTF-8. The"
                    + " environment goes before",
                "# this file, and options of the command line go before both. An empty value counts"
                    + " as none. A name that is",
                "# no setting is refused. `tollgate server --check-config` prints what a node would"
                    + " take, and from where.",
                "# Secrets are never values here: the settings that end with -file name the files"
                    + " that have them."));
    settings()
        .forEach(
            (name, option) -> {
              lines.add("");
              lines.addAll(wrapped(String.join(" ", option.description())));
              String value = option.defaultValue();
              lines.add("#" + name + "=" + (value == null ? "" : value));
            });
    return lines;
  }

  private static List<String> wrapped(String text) {
    List<String> lines = new ArrayList<>();
    StringBuilder line = new StringBuilder("#");
    for (String word : text.split(" ", -1)) {
      if (line.length() + 1 + word.length() > WIDTH) {
        lines.add(line.toString());
        line = new StringBuilder("#");
      }
      line.append(' ').append(word);
    }
    lines.add(line.toString());
    return lines;
  }

  @Test
  void exampleHasEverySetting() throws IOException {
    Path right = Files.write(Path.of("target", "tollgate.properties"), example());
    assertEquals(
        Files.readString(right),
        Files.readString(EXAMPLE),
        "copy replica/target/tollgate.properties to replica/conf");
  }

  @Test
  void helpNamesTheVariableOfEachSetting() {
    settings()
        .forEach(
            (name, option) ->
                assertTrue(
                    String.join(" ", option.description()).endsWith("[" + variable(name) + "]"),
                    () -> name + " does not name " + variable(name)));
  }

  @Test
  void operationsPageNamesEverySetting() throws IOException {
    String page = Files.readString(OPERATIONS) + Files.readString(Path.of("../docs/security.md"));
    List<String> missing =
        settings().keySet().stream()
            .filter(name -> !page.contains("`--" + name + "`"))
            .filter(name -> !page.contains(" --" + name))
            .collect(Collectors.toList());
    assertEquals(List.of(), missing);
  }

  /** Whatever the launcher reads, a node accepts in its environment. */
  @Test
  void variablesOfTheLauncherAreKnown() throws IOException {
    Set<String> names = new TreeSet<>();
    VARIABLE
        .matcher(Files.readString(Path.of("bin", "tollgate")))
        .results()
        .forEach(found -> names.add(found.group()));
    READ.matcher(Files.readString(Path.of("conf", "logback.xml")))
        .results()
        .forEach(found -> names.add(found.group(1)));
    assertTrue(names.contains("TOLLGATE_HEAP") && names.contains("TOLLGATE_RATIS_LOG_LEVEL"));
    names.remove("TOLLGATE_CONFIG"); // names a file that has to be there
    for (String name : names) {
      int status =
          Main.commandLine(Map.of(name, "x"), EXAMPLE)
              .execute("server", "--check-config", "--id=n1", "--data=target/none");
      assertEquals(0, status, name);
    }
  }
}
