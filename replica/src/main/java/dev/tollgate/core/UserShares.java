package dev.tollgate.core;

import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.UserName;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * How much of one thing each user has, so that one user cannot have all of the cluster's. In a
 * cluster without users, all sessions have the same user, which has no limit of its own. The
 * amounts follow from the state, so no snapshot has them. Not thread-safe.
 */
public final class UserShares {
  private final SortedMap<UserName, Long> amounts = new TreeMap<>();
  private final long most;
  private final String what;

  /**
   * @param most how much a user may have
   * @param what their name, as in "open sessions"
   */
  public UserShares(long most, String what) {
    this.most = most;
    this.what = what;
  }

  /**
   * Why the user cannot have that much more, or null.
   *
   * @param instead what the user can do
   */
  public Outcome.@Nullable Refused full(UserName user, long more, String instead) {
    if (user.equals(UserName.ANONYMOUS) || amounts.getOrDefault(user, 0L) + more <= most) {
      return null;
    }
    String would = more == 1 ? " is" : " with " + more + " more would be above";
    return Capacity.exceeded("the number of " + what + " of user " + user + would, most, instead);
  }

  void add(UserName user) {
    add(user, 1);
  }

  /** Counts what a user has got, after {@link #full}. */
  public void add(UserName user, long amount) {
    if (amount > 0) {
      amounts.merge(user, amount, Long::sum);
    }
  }

  void remove(UserName user) {
    remove(user, 1);
  }

  /** Counts what a user has given back. */
  public void remove(UserName user, long amount) {
    long left = amounts.getOrDefault(user, 0L) - amount;
    if (left < 0) {
      throw new IllegalStateException("user " + user + " has no " + amount + " " + what);
    }
    if (left == 0) {
      amounts.remove(user);
    } else {
      amounts.put(user, left);
    }
  }

  /** Checks the amounts against what is counted: an entry for each. */
  void checkInvariants(Iterable<UserName> users) {
    SortedMap<UserName, Long> counted = new TreeMap<>();
    users.forEach(user -> counted.merge(user, 1L, Long::sum));
    checkInvariants(counted);
  }

  /** Checks the amounts against those that are counted. */
  void checkInvariants(SortedMap<UserName, Long> counted) {
    counted.values().removeIf(amount -> amount == 0);
    if (!counted.equals(amounts)) {
      throw new IllegalStateException("users have " + counted + " " + what + ", not " + amounts);
    }
  }
}
