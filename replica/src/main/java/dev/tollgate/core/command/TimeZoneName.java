package dev.tollgate.core.command;

import static java.util.Objects.requireNonNull;

/**
 * The name of a time zone, a region such as Europe/Berlin or an offset such as GMT+05:45: 1 to
 * {@link Limits#TIME_ZONE_CHARS} characters, well-formed. What a name means is for the store to
 * say: the rules of regions belong to the {@link Environment} of the log.
 */
public record TimeZoneName(String value) {
  /** The zone of sessions whose client names none. */
  public static final TimeZoneName UTC = new TimeZoneName("UTC");

  public TimeZoneName {
    requireNonNull(value, "value");
    if (!isValid(value)) {
      throw new IllegalArgumentException("time zone of " + value.length() + " characters");
    }
  }

  /** Returns true if a time zone may have this name. */
  public static boolean isValid(String name) {
    return !name.isEmpty() && name.length() <= Limits.TIME_ZONE_CHARS && Text.isWellFormed(name);
  }

  @Override
  public String toString() {
    return value;
  }
}
