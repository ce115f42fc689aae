package dev.tollgate.core.command;

import static java.util.Objects.requireNonNull;

/** A lock's name: 1 to {@link Limits#LOCK_NAME_CHARS} characters, well-formed, compared exactly. */
public record LockName(String value) implements Comparable<LockName> {
  public LockName {
    requireNonNull(value, "value");
    if (value.isEmpty() || value.length() > Limits.LOCK_NAME_CHARS) {
      throw new IllegalArgumentException("lock name of " + value.length() + " characters");
    }
    Text.requireWellFormed("lock name", value);
  }

  @Override
  public int compareTo(LockName other) {
    return value.compareTo(other.value);
  }

  @Override
  public String toString() {
    return value;
  }
}
