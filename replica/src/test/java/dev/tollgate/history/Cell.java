package dev.tollgate.history;

import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * A lock, and a register that writers may fence with it: what an order of operations makes of them.
 *
 * @param holder lease that holds the lock, {@link #NOBODY} if it is free
 * @param token under which it is held, {@link #NOT_TOLD} if no answer has told it
 * @param lastToken highest that an answer has told of this lock
 * @param ended leases that are no more
 */
record Cell(long holder, long token, long lastToken, long value, Set<Long> ended) {
  static final Cell INITIAL = new Cell(0, 0, 0, 0, Set.of());
  static final long NOBODY = 0;

  private static final long NOT_TOLD = -1;

  boolean isHeld() {
    return holder != NOBODY;
  }

  boolean hasEnded(long lease) {
    return ended.contains(lease);
  }

  /** Granted to this lease, under a token that is higher than all before. */
  Optional<Cell> granted(long lease, long newToken) {
    return newToken > lastToken
        ? Optional.of(new Cell(lease, newToken, newToken, value, ended))
        : Optional.empty();
  }

  /** Granted to this lease, under whatever token. */
  Cell granted(long lease) {
    return new Cell(lease, NOT_TOLD, lastToken, value, ended);
  }

  /** Held under this token, as far as is known. */
  Optional<Cell> heldUnder(long shown) {
    if (!isHeld()) {
      return Optional.empty();
    }
    if (token == NOT_TOLD) {
      return granted(holder, shown);
    }
    return token == shown ? Optional.of(this) : Optional.empty();
  }

  /** Held under this token, which an answer has told. */
  boolean heldUnderCertainly(long shown) {
    return isHeld() && token == shown;
  }

  Cell released() {
    // a token that nobody was told is higher than the last one all the same
    long last = token == NOT_TOLD ? lastToken + 1 : lastToken;
    return new Cell(NOBODY, 0, last, value, ended);
  }

  Cell with(long newValue) {
    return new Cell(holder, token, lastToken, newValue, ended);
  }

  /** After the end of a lease, which ends at most once. */
  Cell withoutLease(long lease) {
    if (ended.contains(lease)) {
      return this;
    }
    Set<Long> more = new HashSet<>(ended);
    more.add(lease);
    Cell rest = holder == lease ? released() : this;
    return new Cell(rest.holder, rest.token, rest.lastToken, rest.value, Set.copyOf(more));
  }
}
