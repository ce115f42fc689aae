package dev.tollgate.core.command;

/** Names the binding of one table to one lock; ids start at 1 and are never reused. */
public record FenceId(long value) {
  public FenceId {
    if (value <= 0) {
      throw new IllegalArgumentException("fence id: " + value);
    }
  }

  @Override
  public String toString() {
    return Long.toString(value);
  }
}
