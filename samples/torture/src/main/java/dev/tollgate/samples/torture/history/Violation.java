package dev.tollgate.samples.torture.history;

import static java.util.Objects.requireNonNull;

/**
 * Where a run broke a rule.
 *
 * @param atNanos the moment to look at
 * @param text what happened, with the calls and tokens that show it
 */
public record Violation(Rule rule, long atNanos, String text) {
  public Violation {
    requireNonNull(rule, "rule");
    requireNonNull(text, "text");
  }
}
