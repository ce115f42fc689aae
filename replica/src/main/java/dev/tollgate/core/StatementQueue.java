package dev.tollgate.core;

import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.UserName;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The statements that wait for transactions to end or for a lock, in order of arrival; at most one
 * for each session. Decides why a statement has to wait.
 */
final class StatementQueue {
  private final Capacity capacity;
  private final TransactionTable transactions;
  private final Map<SessionId, PendingStatement> waiting = new LinkedHashMap<>();
  private final UserShares statementShares;
  private final UserShares byteShares;
  private long bytes;
  private boolean turnCame;

  StatementQueue(Capacity capacity, TransactionTable transactions) {
    this.capacity = capacity;
    this.transactions = transactions;
    statementShares = new UserShares(capacity.waitingStatementsPerUser(), "waiting statements");
    byteShares = new UserShares(capacity.waitingBytesPerUser(), "bytes of waiting statements");
  }

  /** Why this statement may not wait, or null. */
  Outcome.@Nullable Refused full(PendingStatement statement) {
    if (waiting.size() < capacity.waitingStatements()
        && bytes + statement.sizeBytes() <= capacity.waitingBytes()) {
      return fullOfUser(statement);
    }
    return new Outcome.Refused(
        RefusalCode.LIMIT_REACHED,
        "the statement would have to wait for a transaction to end or for a lock, and "
            + waiting.size()
            + " statements of "
            + bytes
            + " bytes wait already, at most "
            + capacity.waitingStatements()
            + " and "
            + capacity.waitingBytes()
            + " bytes may: try again later, and keep transactions short");
  }

  private Outcome.@Nullable Refused fullOfUser(PendingStatement statement) {
    String instead = "let fewer statements wait at a time, and keep transactions short";
    UserName user = statement.session().user();
    Outcome.Refused full = statementShares.full(user, 1, instead);
    return full != null ? full : byteShares.full(user, statement.sizeBytes(), instead);
  }

  void add(PendingStatement statement) {
    waiting.put(statement.session().id(), statement);
    bytes += statement.sizeBytes();
    statementShares.add(statement.session().user());
    byteShares.add(statement.session().user(), statement.sizeBytes());
  }

  /** Removes the statement, if it is in the queue. */
  void remove(PendingStatement statement) {
    if (waiting.remove(statement.session().id(), statement)) {
      bytes -= statement.sizeBytes();
      statementShares.remove(statement.session().user());
      byteShares.remove(statement.session().user(), statement.sizeBytes());
    }
  }

  int size() {
    return waiting.size();
  }

  boolean isEmpty() {
    return waiting.isEmpty();
  }

  /** The waiting statement of a session, or null. */
  @Nullable PendingStatement of(SessionId session) {
    return waiting.get(session);
  }

  /** The statements that wait now, as a list that stays the same while the queue changes. */
  List<PendingStatement> copy() {
    return List.copyOf(waiting.values());
  }

  /** How many statements wait for the end of this transaction alone. */
  long waitersFor(Transaction transaction) {
    long count = 0;
    for (PendingStatement statement : waiting.values()) {
      if (statement.blocker() instanceof PendingStatement.Blocker.Holder holder
          && holder.transaction() == transaction.id()) {
        count++;
      }
    }
    return count;
  }

  /** Why a statement may not be tried yet, or null. */
  PendingStatement.@Nullable Blocker blockerOf(PendingStatement statement) {
    Transaction own = statement.session().transaction();
    Collection<Transaction> open = transactions.all();
    for (Transaction other : open) {
      if (other != own && other.isSerializable()) {
        return new PendingStatement.Blocker.Holder(other.id(), null);
      }
    }
    boolean others = open.size() > (own == null ? 0 : 1);
    if (statement.needsToBeAlone()) {
      return others ? new PendingStatement.Blocker.Others() : null;
    }
    return statement.begins() && isOvertaking(statement)
        ? new PendingStatement.Blocker.Turn()
        : null;
  }

  /**
   * Returns true if new transactions would keep an earlier statement from ever getting its turn.
   */
  private boolean isOvertaking(PendingStatement statement) {
    for (PendingStatement earlier : waiting.values()) {
      if (earlier == statement) {
        return false;
      }
      if (earlier.isDefinition() || earlier.blocker() instanceof PendingStatement.Blocker.Others) {
        return true;
      }
    }
    return false;
  }

  /** Records that a waiting statement has been granted the lock for which it waits. */
  void lockGranted(PendingStatement statement) {
    statement.lockGranted();
    turnCame = true;
  }

  /** Returns once whether a statement has been granted a lock. */
  boolean takeTurnCame() {
    boolean came = turnCame;
    turnCame = false;
    return came;
  }

  /** Returns true if what the statement waited for has ended. */
  boolean isClear(PendingStatement statement) {
    if (statement.blocker() instanceof PendingStatement.Blocker.LockTurn) {
      return statement.isLockGranted();
    }
    return statement.blocker() instanceof PendingStatement.Blocker.Holder holder
        ? transactions.find(holder.transaction()) == null
        : blockerOf(statement) == null;
  }

  void checkBytes() {
    long sum = 0;
    List<UserName> users = new ArrayList<>();
    SortedMap<UserName, Long> ofUsers = new TreeMap<>();
    for (PendingStatement statement : waiting.values()) {
      sum += statement.sizeBytes();
      users.add(statement.session().user());
      ofUsers.merge(statement.session().user(), statement.sizeBytes(), Long::sum);
    }
    if (sum != bytes) {
      throw new IllegalStateException(sum + " waiting bytes are counted as " + bytes);
    }
    statementShares.checkInvariants(users);
    byteShares.checkInvariants(ofUsers);
  }

  void checkWaits() {
    for (PendingStatement statement : waiting.values()) {
      if (statement.session().pending() != statement || isClear(statement)) {
        throw new IllegalStateException(statement.request() + " waits for nothing");
      }
    }
  }
}
