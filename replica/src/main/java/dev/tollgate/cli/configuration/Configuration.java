package dev.tollgate.cli.configuration;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Stack;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.IDefaultValueProvider;
import picocli.CommandLine.IParameterPreprocessor;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/**
 * The settings of a node from a file and from the environment. A value of the command line goes
 * before one of the environment, and that before one of the file. An empty value counts as none.
 *
 * <p>Picocli asks for the file first, because its name may be an argument, and then for the value
 * of each option that is not among the arguments. Not thread-safe: one for each command line.
 */
public final class Configuration implements IDefaultValueProvider, IParameterPreprocessor {
  /** Names the file in the environment. */
  public static final String FILE_VARIABLE = "TOLLGATE_CONFIG";

  private static final String FILE_OPTION = "--config";

  private final SettingNames settings;
  private final EnvironmentNames readers;
  private final Map<String, String> environment;
  private final @Nullable Path standardFile;

  private List<String> arguments = List.of();
  private @Nullable Path file;
  private Map<String, String> inFile = Map.of();

  /**
   * @param program every command of the program
   * @param server the command that has an option for each setting
   * @param standardFile the file that is read if it exists and no other is named; null for none
   */
  public Configuration(
      CommandLine program,
      CommandSpec server,
      Map<String, String> environment,
      @Nullable Path standardFile) {
    this.settings = new SettingNames(requireNonNull(server, "server"));
    this.readers = new EnvironmentNames(requireNonNull(program, "program"), settings);
    this.environment = Map.copyOf(environment);
    this.standardFile = standardFile;
  }

  /** Has a command take its settings from here; it must have the options of the server. */
  public void serve(CommandLine command) {
    command.getCommandSpec().defaultValueProvider(this).preprocessor(this);
  }

  /** Returns the configuration that serves a command, or null. */
  public static @Nullable Configuration of(CommandSpec command) {
    return command.defaultValueProvider() instanceof Configuration configuration
        ? configuration
        : null;
  }

  /**
   * Reads the file before picocli looks at the options.
   *
   * @throws ParameterException if the file, or a name in the environment, cannot be used
   */
  @Override
  public boolean preprocess(
      Stack<String> waiting,
      CommandSpec command,
      @Nullable ArgSpec option,
      Map<String, Object> info) {
    List<String> inOrder = new ArrayList<>(waiting);
    Collections.reverse(inOrder);
    arguments = List.copyOf(inOrder);
    file = null;
    inFile = Map.of();
    if (arguments.stream().anyMatch(argument -> isHelp(command, argument))) {
      return false;
    }
    try {
      file = file();
      inFile = file == null ? Map.of() : ConfigurationFile.read(file, settings);
    } catch (IOException e) {
      throw new ParameterException(command.commandLine(), String.valueOf(e.getMessage()), e);
    }
    readEnvironment(command);
    return false;
  }

  /** Refuses names that look misspelled, and warns of others that nothing reads. */
  private void readEnvironment(CommandSpec command) {
    List<String> refused = new ArrayList<>();
    for (String name : readers.unread(environment)) {
      if (readers.looksMeant(name)) {
        refused.add(readers.refusal(name));
      } else {
        command
            .commandLine()
            .getErr()
            .println(command.qualifiedName() + ": " + EnvironmentNames.warning(name));
      }
    }
    if (!refused.isEmpty()) {
      throw new ParameterException(command.commandLine(), String.join("; ", refused));
    }
  }

  private static boolean isHelp(CommandSpec command, String argument) {
    OptionSpec option = command.findOption(argument);
    return option != null && (option.usageHelp() || option.versionHelp());
  }

  private @Nullable Path file() throws IOException {
    String named = argument(FILE_OPTION);
    if (named == null) {
      named = variable(FILE_VARIABLE);
    }
    if (named == null) {
      return standardFile != null && Files.exists(standardFile) ? standardFile : null;
    }
    try {
      return Path.of(named);
    } catch (InvalidPathException e) {
      throw new IOException("'" + named + "' is no name of a file", e);
    }
  }

  /** The value of an option among the arguments, the last one if there are several; or null. */
  private @Nullable String argument(String option) {
    String value = null;
    for (int i = 0; i < arguments.size(); i++) {
      String argument = arguments.get(i);
      if (argument.startsWith(option + "=")) {
        value = argument.substring(option.length() + 1);
      } else if (argument.equals(option) && i + 1 < arguments.size()) {
        value = arguments.get(i + 1);
      }
    }
    return value;
  }

  /** The value of a variable of the environment, or null if it has none. */
  public @Nullable String variable(String name) {
    String value = environment.get(name);
    return value == null || value.isEmpty() ? null : value;
  }

  /** Returns the value of an option from the environment or the file, or null. */
  @Override
  public @Nullable String defaultValue(ArgSpec argument) {
    if (!(argument instanceof OptionSpec option)) {
      return null;
    }
    String key = SettingNames.key(option);
    String value = settings.contains(key) ? value(key) : null;
    // picocli would replace expressions in it
    return value == null ? null : value.replace("$", "$$");
  }

  private @Nullable String value(String key) {
    String value = variable(SettingNames.variable(key));
    if (value == null) {
      value = inFile.get(key);
    }
    return value == null || value.isEmpty() ? null : value;
  }

  /** Where the value of a setting comes from that is not among the arguments. */
  private String origin(String key) {
    String variable = SettingNames.variable(key);
    if (variable(variable) != null) {
      return variable;
    }
    return value(key) == null ? "default" : String.valueOf(file);
  }

  /** Every setting that has a value, in the order of their names. */
  public List<EffectiveValue> effectiveValues(ParseResult given) {
    List<EffectiveValue> values = new ArrayList<>();
    settings
        .options()
        .forEach(
            (key, option) -> {
              String name = option.longestName();
              String value;
              String origin;
              if (given.hasMatchedOption(name)) {
                value = String.join(",", given.matchedOption(name).originalStringValues());
                origin = name;
              } else {
                value = value(key);
                origin = origin(key);
              }
              if (value == null) {
                value = option.defaultValue();
              }
              if (value != null) {
                values.add(new EffectiveValue(key, value, origin));
              }
            });
    return values;
  }

  /**
   * Says where the values of the options come from that a message names, unless they are arguments.
   */
  public List<String> originsIn(String message) {
    return settings.options().keySet().stream()
        .filter(key -> value(key) != null && !isArgument("--" + key))
        .filter(key -> Arrays.asList(message.split("[^a-z-]+", -1)).contains("--" + key))
        .map(key -> "--" + key + " comes from " + origin(key))
        .collect(Collectors.toUnmodifiableList());
  }

  private boolean isArgument(String option) {
    return arguments.stream()
        .anyMatch(argument -> argument.equals(option) || argument.startsWith(option + "="));
  }
}
