package dev.tollgate.core.command;

/**
 * Names a client session for as long as the cluster exists; ids start at 1 and are never reused.
 */
public record SessionId(long value) implements Comparable<SessionId> {
  public SessionId {
    if (value <= 0) {
      throw new IllegalArgumentException("session id: " + value);
    }
  }

  @Override
  public int compareTo(SessionId other) {
    return Long.compare(value, other.value);
  }

  @Override
  public String toString() {
    return Long.toString(value);
  }
}
