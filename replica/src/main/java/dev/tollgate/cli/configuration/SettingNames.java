package dev.tollgate.cli.configuration;

import java.util.Collection;
import java.util.Collections;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * The names of the settings of a node. The options of {@code tollgate server} are the only list:
 * {@code --client-address} is {@code client-address} in the file and {@code
 * TOLLGATE_CLIENT_ADDRESS} in the environment.
 */
final class SettingNames {
  private static final String PREFIX = "TOLLGATE_";

  /** Options that say what to do, and are no settings of a node. */
  private static final Set<String> ACTIONS = Set.of("config", "check-config");

  private final SortedMap<String, OptionSpec> options = new TreeMap<>();
  private final SortedSet<String> variables = new TreeSet<>();

  /**
   * @param server the command that has an option for each setting
   */
  SettingNames(CommandSpec server) {
    for (OptionSpec option : server.options()) {
      String key = key(option);
      if (!option.usageHelp() && !option.versionHelp() && !ACTIONS.contains(key)) {
        options.put(key, option);
        variables.add(variable(key));
      }
    }
  }

  /** The settings and their options, in the order of their names. */
  Map<String, OptionSpec> options() {
    return Collections.unmodifiableSortedMap(options);
  }

  boolean contains(String key) {
    return options.containsKey(key);
  }

  /** The names in the environment. */
  Set<String> variables() {
    return Collections.unmodifiableSortedSet(variables);
  }

  static String key(OptionSpec option) {
    return option.longestName().replaceFirst("^-+", "");
  }

  static String variable(String key) {
    return PREFIX + key.toUpperCase(Locale.ROOT).replace('-', '_');
  }

  String nearest(String key) {
    return nearest(key, options.keySet());
  }

  /** Returns the candidate that takes the fewest changes of letters; of several the first. */
  static String nearest(String name, Collection<String> candidates) {
    String nearest = "";
    int least = Integer.MAX_VALUE;
    for (String candidate : candidates) {
      int distance = distance(name, candidate);
      if (distance < least) {
        least = distance;
        nearest = candidate;
      }
    }
    return nearest;
  }

  /** The number of letters to change, add or remove (Levenshtein 1965). */
  static int distance(String left, String right) {
    int[] above = new int[right.length() + 1];
    for (int column = 0; column <= right.length(); column++) {
      above[column] = column;
    }
    for (int row = 1; row <= left.length(); row++) {
      int[] line = new int[right.length() + 1];
      line[0] = row;
      for (int column = 1; column <= right.length(); column++) {
        int change = left.charAt(row - 1) == right.charAt(column - 1) ? 0 : 1;
        line[column] =
            Math.min(above[column - 1] + change, Math.min(above[column], line[column - 1]) + 1);
      }
      above = line;
    }
    return above[right.length()];
  }
}
