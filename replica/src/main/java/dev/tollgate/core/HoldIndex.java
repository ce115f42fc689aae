package dev.tollgate.core;

import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.LeaseKind;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/**
 * The holds of a lock that has several, found by token and by lease: nothing here examines all of
 * them. Immutable, so a copy of the lock shares it.
 *
 * @param all by token, which is the order of the grants
 * @param ofLeases the same by lease
 * @param used those of them that do not only keep the lock, by token
 * @param ofTransactions those of them that end with a transaction, by token
 */
record HoldIndex(
    NumberMap<Hold> all,
    NumberMap<Hold> ofLeases,
    NumberMap<Hold> used,
    NumberMap<Hold> ofTransactions) {
  static final HoldIndex EMPTY =
      new HoldIndex(NumberMap.empty(), NumberMap.empty(), NumberMap.empty(), NumberMap.empty());

  HoldIndex with(Hold hold) {
    long token = hold.token().value();
    return new HoldIndex(
        all.with(token, hold),
        ofLeases.with(hold.lease().id().value(), hold),
        hold.onlyKeeps() ? used : used.with(token, hold),
        isOfTransaction(hold) ? ofTransactions.with(token, hold) : ofTransactions);
  }

  HoldIndex without(Hold hold) {
    long token = hold.token().value();
    return new HoldIndex(
        all.without(token),
        ofLeases.without(hold.lease().id().value()),
        used.without(token),
        ofTransactions.without(token));
  }

  static boolean isOfTransaction(Hold hold) {
    return hold.lease().kind() == LeaseKind.TRANSACTION;
  }

  @Nullable Hold of(LeaseId lease) {
    return ofLeases.get(lease.value());
  }

  Collection<Hold> values() {
    return all.values();
  }
}
