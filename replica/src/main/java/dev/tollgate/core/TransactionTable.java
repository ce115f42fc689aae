package dev.tollgate.core;

import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.TransactionLimits;
import dev.tollgate.core.command.TransactionScope;
import dev.tollgate.core.command.UserName;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The open transactions, in order of their beginning, and how long they may be open. */
final class TransactionTable {
  private final SortedMap<Long, Transaction> open = new TreeMap<>();
  private long lastId;
  private final UserShares shares;
  private TransactionLimits limits = TransactionLimits.STANDARD;

  TransactionTable(Capacity capacity) {
    shares = new UserShares(capacity.transactionsPerUser(), "open transactions");
  }

  /** Why a session of this user can open no further transaction, or null. */
  Outcome.@Nullable Refused full(UserName user) {
    return open.size() < Limits.OPEN_TRANSACTIONS
        ? shares.full(
            user,
            1,
            "let fewer connections hold transactions open, or for a shorter time; view"
                + " TOLLGATE.TRANSACTIONS names them")
        : new Outcome.Refused(
            RefusalCode.LIMIT_REACHED,
            Limits.OPEN_TRANSACTIONS
                + " transactions are open, and no more can be: let fewer connections hold"
                + " transactions open, or for a shorter time");
  }

  Transaction begin(Session session, TransactionScope mode, long nowMicros) {
    boolean serializable = mode == TransactionScope.SERIALIZABLE;
    Transaction transaction = new Transaction(++lastId, session.id(), serializable, nowMicros);
    shares.add(session.user());
    open.put(transaction.id(), transaction);
    return transaction;
  }

  /** The transaction with this number, or null if it is not open. */
  @Nullable Transaction find(long id) {
    return open.get(id);
  }

  void remove(Session session, Transaction transaction) {
    open.remove(transaction.id());
    shares.remove(session.user());
  }

  Collection<Transaction> all() {
    return Collections.unmodifiableCollection(open.values());
  }

  /** The highest number of a transaction so far, 0 if there was none. */
  long lastId() {
    return lastId;
  }

  void restoreLastId(long id) {
    lastId = id;
  }

  TransactionLimits limits() {
    return limits;
  }

  void setLimits(TransactionLimits changed) {
    limits = changed;
  }

  void checkInvariants(SessionTable sessions) {
    List<UserName> users = new ArrayList<>(open.size());
    for (Transaction transaction : open.values()) {
      users.add(sessions.existing(transaction.session()).user());
    }
    shares.checkInvariants(users);
    for (Transaction transaction : open.values()) {
      if (sessions.existing(transaction.session()).transaction() != transaction) {
        throw new IllegalStateException("transaction " + transaction.id() + " has no session");
      }
      if (transaction.isSerializable() && open.size() > 1) {
        throw new IllegalStateException("transaction " + transaction.id() + " is not alone");
      }
    }
  }
}
