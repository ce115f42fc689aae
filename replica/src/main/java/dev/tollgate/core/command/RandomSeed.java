package dev.tollgate.core.command;

/**
 * What the random numbers of statements follow from besides their place in the log, so that nobody
 * can foretell them, and two clusters never draw the same. Each leader brings a new one.
 */
public record RandomSeed(long high, long low) {
  /** That of a log in which no leader has brought one yet. */
  public static final RandomSeed NONE = new RandomSeed(0, 0);
}
