package dev.tollgate.core.command;

/**
 * What the random numbers of statements follow from besides their place in the log. It makes them
 * unpredictable, and keeps two clusters from drawing the same numbers. Each leader brings a new
 * seed.
 */
public record RandomSeed(long high, long low) {
  /** The seed of a log to which no leader has brought one yet. */
  public static final RandomSeed NONE = new RandomSeed(0, 0);
}
