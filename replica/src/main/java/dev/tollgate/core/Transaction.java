package dev.tollgate.core;

import dev.tollgate.core.command.FenceId;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.RowLock;
import dev.tollgate.core.command.SessionId;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * An open transaction: its session, and the tokens under which it has written, which have to be
 * current at commit too. Read it through {@link ClusterState}.
 */
public final class Transaction {
  private final long id;
  private final SessionId session;
  private final boolean serializable;
  private final long openedMicros;
  private final Map<FenceId, Long> passed = new LinkedHashMap<>();
  private final Map<FenceId, Long> highest = new LinkedHashMap<>();
  private final Map<LockName, Long> demanded = new TreeMap<>();
  private final Map<RowLock, Long> rows = new LinkedHashMap<>();
  private int statements;
  private @Nullable Lease lease;

  Transaction(long id, SessionId session, boolean serializable, long openedMicros) {
    this.id = id;
    this.session = session;
    this.serializable = serializable;
    this.openedMicros = openedMicros;
  }

  /** The transaction's number: all transactions of the cluster are counted as they begin. */
  public long id() {
    return id;
  }

  public SessionId session() {
    return session;
  }

  /** Returns true if no other session may write until it ends. */
  public boolean isSerializable() {
    return serializable;
  }

  /** Log time of the first statement, microseconds since 1970. */
  public long openedMicros() {
    return openedMicros;
  }

  /** What holds the transaction's locks, or null if it has asked for none. */
  @Nullable Lease lease() {
    return lease;
  }

  void setLease(Lease made) {
    lease = made;
  }

  /** How many statements the transaction has carried out; each execution of a batch counts. */
  public int statements() {
    return statements;
  }

  void countStatement() {
    statements++;
  }

  /**
   * Records a write through a fence under this token. Of several tokens, the lowest may be stale at
   * commit.
   */
  void passed(FenceId fence, long token) {
    passed.merge(fence, token, Math::min);
    highest.merge(fence, token, Math::max);
  }

  /**
   * Records a write of rows under this token of their lock. Of two tokens the first counts: it is
   * stale, and will never be current again.
   */
  void passedRows(RowLock lock, long token) {
    rows.putIfAbsent(lock, token);
  }

  /**
   * Records a write whose clause, or whose session's fence, demands that the lock is held under
   * this token. Of two tokens the first counts, as for rows.
   */
  void demanded(LockName lock, long token) {
    demanded.putIfAbsent(lock, token);
  }

  /** The lowest token under which the transaction has written through each fence. */
  Map<FenceId, Long> passed() {
    return passed;
  }

  /** The highest such token for each fence. */
  Map<FenceId, Long> highest() {
    return highest;
  }

  Map<LockName, Long> demanded() {
    return demanded;
  }

  Map<RowLock, Long> rows() {
    return rows;
  }
}
