package dev.tollgate.core;

import dev.tollgate.core.command.FenceId;
import dev.tollgate.core.command.FenceReading;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.TableName;
import org.jspecify.annotations.Nullable;

/** The binding of one table to one lock, or to a lock for each of its rows. */
public final class Fence {
  private final FenceId id;
  private TableName table;
  private final Operation.FenceTerms terms;
  private long highestToken;

  Fence(FenceId id, TableName table, Operation.FenceTerms terms) {
    this.id = id;
    this.table = table;
    this.terms = terms;
  }

  Fence(StateRecord.FenceState state) {
    this(state.id(), state.table(), state.terms());
    highestToken = state.highestToken();
  }

  StateRecord.FenceState state() {
    return new StateRecord.FenceState(id, table, terms, highestToken);
  }

  public FenceId id() {
    return id;
  }

  /** The table's name, with its schema. */
  public TableName table() {
    return table;
  }

  void rename(TableName name) {
    table = name;
  }

  public Operation.FenceTerms terms() {
    return terms;
  }

  /** The lock of the table; null if each row has its own. */
  public @Nullable LockName lock() {
    return terms instanceof Operation.TableFence fence ? fence.lock() : null;
  }

  public FenceReading reading() {
    return terms instanceof Operation.TableFence fence ? fence.reading() : FenceReading.HELD;
  }

  /** The highest token under which the table was written, 0 if it never was. */
  public long highestToken() {
    return highestToken;
  }

  void accepted(long token) {
    highestToken = Math.max(highestToken, token);
  }
}
