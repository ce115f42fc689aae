package dev.tollgate.node.client;

import dev.tollgate.core.UserShares;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.UserName;
import org.jspecify.annotations.Nullable;

/**
 * Room of a node for one thing, of which each user has a share: one user cannot take all of it. In
 * a cluster without users there are no shares. Thread-safe.
 */
final class UserRoom {
  private final UserShares shares;
  private final long most;
  private long taken;

  /**
   * @param most how much there is
   * @param mostOfUser how much of it one user may have
   * @param what their name, as in "open sessions"
   */
  UserRoom(long most, long mostOfUser, String what) {
    this.most = most;
    shares = new UserShares(mostOfUser, what);
  }

  /** Why there is no room. */
  record Full(long taken, @Nullable String ofUser) {}

  /**
   * Takes room, which is taken until {@link #give}.
   *
   * @param instead what the user can do if it has too much
   * @return null, or why nothing was taken
   */
  synchronized @Nullable Full take(UserName user, long amount, String instead) {
    if (taken + amount > most) {
      return new Full(taken, null);
    }
    Outcome.Refused full = shares.full(user, amount, instead);
    if (full != null) {
      return new Full(taken, full.message());
    }
    taken += amount;
    shares.add(user, amount);
    return null;
  }

  /** Gives back what was taken. */
  synchronized void give(UserName user, long amount) {
    shares.remove(user, amount);
    taken -= amount;
  }

  /** How much is taken. */
  synchronized long taken() {
    return taken;
  }
}
