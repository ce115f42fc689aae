package dev.tollgate.cli.doctor;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/**
 * One line of a report.
 *
 * @param subject what was checked
 * @param fact what was found, with numbers
 * @param advice what to do; null if nothing is to be done
 */
public record Finding(Level level, String subject, String fact, @Nullable String advice) {
  /** How much a finding matters. */
  public enum Level {
    /** Nothing is to be done. */
    PASS,
    /** A node works here, less well than it could. */
    WARN,
    /** A node does not start here, or does not work. */
    FAIL
  }

  public Finding {
    requireNonNull(level, "level");
    requireNonNull(subject, "subject");
    requireNonNull(fact, "fact");
    if ((level == Level.PASS) != (advice == null)) {
      throw new IllegalArgumentException(level + " " + subject + ", advice: " + advice);
    }
  }

  /** Creates a finding for which nothing is to be done. */
  public static Finding pass(String subject, String fact) {
    return new Finding(Level.PASS, subject, fact, null);
  }

  static Finding warn(String subject, String fact, String advice) {
    return new Finding(Level.WARN, subject, fact, advice);
  }

  /** Creates a finding for which a node does not start, or does not work. */
  public static Finding fail(String subject, String fact, String advice) {
    return new Finding(Level.FAIL, subject, fact, advice);
  }
}
