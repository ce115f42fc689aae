package dev.tollgate.cli.configuration;

import static java.util.Objects.requireNonNull;

import java.util.regex.Pattern;

/**
 * A setting as a node takes it.
 *
 * @param name as in the configuration file
 * @param value what the node takes; secrets within a URL are left out
 * @param origin the option, the variable of the environment, the file, or the default
 */
public record EffectiveValue(String name, String value, String origin) {
  /** A property of a URL whose value may be secret, however the key is written. */
  private static final Pattern SECRET =
      Pattern.compile("([?&][^=&]*(?:pas|secret|key|%)[^=&]*=)[^&]*", Pattern.CASE_INSENSITIVE);

  public EffectiveValue {
    requireNonNull(name, "name");
    requireNonNull(origin, "origin");
    value = withoutSecrets(value);
  }

  /** Leaves out of a URL what may be secret. */
  public static String withoutSecrets(String url) {
    return SECRET.matcher(url).replaceAll("$1...");
  }
}
