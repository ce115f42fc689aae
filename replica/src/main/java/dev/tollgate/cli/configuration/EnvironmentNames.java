package dev.tollgate.cli.configuration;

import java.lang.reflect.Field;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;

/** The variables of the environment that some part of Tollgate reads. */
final class EnvironmentNames {
  private static final String PREFIX = "TOLLGATE_";

  /** What {@code bin/tollgate} and {@code conf/logback.xml} read before a node has options. */
  static final Set<String> OF_THE_LAUNCHER =
      Set.of(
          "TOLLGATE_HEAP",
          "TOLLGATE_JAVA_OPTS",
          "TOLLGATE_LOG_CONFIG",
          "TOLLGATE_LOG_LEVEL",
          "TOLLGATE_RATIS_LOG_LEVEL");

  /** What adapters for other tools read; a node may share the environment with these. */
  private static final Set<String> OF_ADAPTERS =
      Set.of("TOLLGATE_LOCK_LEASE_SECONDS", "TOLLGATE_LOCK_NAME", "TOLLGATE_LOCK_URL");

  /** What a command finds that runs under a lock, and which may be a node. */
  private static final Set<String> OF_COMMANDS_UNDER_A_LOCK =
      Set.of("TOLLGATE_LOCK", "TOLLGATE_LOCK_RUN", "TOLLGATE_TOKEN");

  /** What hosts and images keep for themselves; no part of Tollgate reads them. */
  private static final Set<String> OF_THE_HOST =
      Set.of("TOLLGATE_HOME", "TOLLGATE_IMAGE", "TOLLGATE_JAVA_HOME", "TOLLGATE_VERSION");

  /** Letters in which a misspelled name differs at most from the name that was meant. */
  private static final int MISSPELLED_LETTERS = 2;

  private static final Pattern EXPRESSION = Pattern.compile("\\$\\{env:(TOLLGATE_\\w+)");

  /**
   * What Kubernetes sets for a service whose name begins with tollgate, and Docker for a linked
   * container: no person has written these.
   */
  private static final Pattern LINK =
      Pattern.compile(
          "TOLLGATE_(\\w+_)?(SERVICE_(HOST|PORT(_\\w+)?)|PORT_\\d+_(TCP|UDP|SCTP)(_\\w+)?)");

  private static final Pattern LINKED_PORT = Pattern.compile("TOLLGATE_(\\w+_)?PORT");
  private static final Pattern LINKED_ADDRESS = Pattern.compile("(tcp|udp|sctp)://.*");

  private final SortedSet<String> names = new TreeSet<>();
  private final SortedSet<String> firstWords = new TreeSet<>();

  /**
   * @param program every command, with its options
   */
  EnvironmentNames(CommandLine program, SettingNames settings) {
    names.add(Configuration.FILE_VARIABLE);
    names.addAll(OF_THE_LAUNCHER);
    names.addAll(OF_ADAPTERS);
    names.addAll(OF_COMMANDS_UNDER_A_LOCK);
    names.addAll(settings.variables());
    collect(program);
    names.forEach(name -> firstWords.add(firstWord(name)));
  }

  private void collect(CommandLine command) {
    for (OptionSpec option : command.getCommandSpec().options()) {
      if (option.userObject() instanceof Field field && field.isAnnotationPresent(Option.class)) {
        Matcher variable = EXPRESSION.matcher(field.getAnnotation(Option.class).defaultValue());
        while (variable.find()) {
          names.add(variable.group(1));
        }
      }
    }
    for (CommandLine below : command.getSubcommands().values()) {
      collect(below);
    }
  }

  /** The names of Tollgate in an environment that nothing reads. */
  SortedSet<String> unread(Map<String, String> environment) {
    SortedSet<String> unread = new TreeSet<>();
    environment.forEach(
        (name, value) -> {
          if (name.startsWith(PREFIX)
              && !names.contains(name)
              && !OF_THE_HOST.contains(name)
              && !isLink(name, value)) {
            unread.add(name);
          }
        });
    return unread;
  }

  private static boolean isLink(String name, String value) {
    return LINK.matcher(name).matches()
        || (LINKED_PORT.matcher(name).matches() && LINKED_ADDRESS.matcher(value).matches());
  }

  /**
   * Whether a name that nothing reads seems to be meant for a node: its first word is that of a
   * setting, or a few letters make it a name that something reads.
   */
  boolean looksMeant(String name) {
    String nearest = SettingNames.nearest(name, names);
    return firstWords.contains(firstWord(name))
        || SettingNames.distance(name, nearest) <= MISSPELLED_LETTERS;
  }

  private static String firstWord(String name) {
    int end = name.indexOf('_', PREFIX.length());
    return name.substring(PREFIX.length(), end < 0 ? name.length() : end);
  }

  /** Says that a name is read by nothing, where it does not look meant. */
  static String warning(String name) {
    return "warning: nothing reads the variable "
        + name
        + " of the environment: docs/operations.md lists the names of settings";
  }

  /** Says why a name that nothing reads is refused. */
  String refusal(String name) {
    String file = name + "_FILE";
    return names.contains(file)
        ? name
            + " would be a secret in the environment: set "
            + file
            + " to the path of a file that has it"
        : "nothing reads the variable "
            + name
            + " of the environment; the nearest name is "
            + SettingNames.nearest(name, names);
  }
}
