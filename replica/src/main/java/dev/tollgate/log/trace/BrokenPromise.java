package dev.tollgate.log.trace;

import static java.util.Objects.requireNonNull;

/**
 * Where a run broke a rule.
 *
 * @param at the line that shows it
 * @param text what is wrong with the line
 */
public record BrokenPromise(PromiseRule rule, Promise at, String text) {
  public BrokenPromise {
    requireNonNull(rule, "rule");
    requireNonNull(at, "at");
    requireNonNull(text, "text");
  }

  @Override
  public String toString() {
    return rule + ": " + text + " [" + at + "]";
  }
}
