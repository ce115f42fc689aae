package dev.tollgate.core;

/** The binding of one table to one lock. Which table it is, the store knows. */
public final class Fence {
  private final FenceId id;
  private final LockName lock;
  private final FenceReading reading;
  private long highestToken;

  Fence(FenceId id, Operation.TableFence terms) {
    this.id = id;
    this.lock = terms.lock();
    this.reading = terms.reading();
  }

  public FenceId id() {
    return id;
  }

  public LockName lock() {
    return lock;
  }

  public FenceReading reading() {
    return reading;
  }

  /** The highest token under which the table was written, 0 if it never was. */
  public long highestToken() {
    return highestToken;
  }

  void accepted(long token) {
    highestToken = Math.max(highestToken, token);
  }
}
