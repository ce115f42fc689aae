package dev.tollgate.core.command;

/** Names a lease for as long as the cluster exists; ids start at 1 and are never reused. */
public record LeaseId(long value) implements Comparable<LeaseId> {
  public LeaseId {
    if (value <= 0) {
      throw new IllegalArgumentException("lease id: " + value);
    }
  }

  @Override
  public int compareTo(LeaseId other) {
    return Long.compare(value, other.value);
  }

  @Override
  public String toString() {
    return Long.toString(value);
  }
}
