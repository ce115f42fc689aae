package dev.tollgate.core;

/** The binding of one table to one lock. */
public final class Fence {
  private final FenceId id;
  private TableName table;
  private final LockName lock;
  private final FenceReading reading;
  private long highestToken;

  Fence(FenceId id, TableName table, Operation.TableFence terms) {
    this.id = id;
    this.table = table;
    this.lock = terms.lock();
    this.reading = terms.reading();
  }

  public FenceId id() {
    return id;
  }

  /** The table, with its schema. */
  public TableName table() {
    return table;
  }

  void rename(TableName name) {
    table = name;
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
