package dev.tollgate.cli;

import dev.tollgate.cli.configuration.Configuration;
import java.io.PrintWriter;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** Which file the settings of a node come from, and a table of these settings. */
final class ConfigurationOption {
  /** {@link Configuration} looks for it among the arguments before picocli does. */
  @Option(
      names = "--config",
      paramLabel = "FILE",
      description =
          "File of settings, each line NAME=VALUE, with the names of these options without their"
              + " hyphens; by default conf/tollgate.properties of the distribution, if it is there."
              + " The environment goes before the file, and options go before both."
              + " [TOLLGATE_CONFIG]")
  @SuppressWarnings("UnusedVariable")
  private @Nullable Path file;

  ConfigurationOption() {}

  /** Prints every setting that has a value, and where the value comes from. */
  void print(CommandSpec command) {
    Configuration configuration = Configuration.of(command);
    if (configuration == null) {
      throw new IllegalStateException("command " + command.name() + " has no configuration");
    }
    TextTable table = TextTable.withColumns("SETTING", "VALUE", "FROM");
    configuration
        .effectiveValues(command.commandLine().getParseResult())
        .forEach(value -> table.row(value.name(), value.value(), value.origin()));
    PrintWriter out = command.commandLine().getOut();
    table.lines().forEach(out::println);
    out.println();
  }
}
