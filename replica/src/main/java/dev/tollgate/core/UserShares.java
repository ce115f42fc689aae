package dev.tollgate.core;

import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.UserName;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * How many things of one kind each user has, so that one user cannot have all of the cluster's. In
 * a cluster without users, all sessions have the same user, which has no limit of its own. The
 * counts follow from the state, so no snapshot has them.
 */
final class UserShares {
  private final SortedMap<UserName, Integer> counts = new TreeMap<>();
  private final int most;
  private final String what;

  /**
   * @param most how many a user may have
   * @param what their name, as in "open sessions"
   */
  UserShares(int most, String what) {
    this.most = most;
    this.what = what;
  }

  /** Why the user cannot have that many more, or null. */
  Outcome.@Nullable Refused full(UserName user, int more, String instead) {
    return user.equals(UserName.ANONYMOUS) || counts.getOrDefault(user, 0) + more <= most
        ? null
        : Capacity.exceeded("the number of " + what + " of user " + user + " is", most, instead);
  }

  void add(UserName user) {
    counts.merge(user, 1, Integer::sum);
  }

  void remove(UserName user) {
    Integer count = counts.get(user);
    if (count == null) {
      throw new IllegalStateException("user " + user + " has no " + what);
    }
    if (count == 1) {
      counts.remove(user);
    } else {
      counts.put(user, count - 1);
    }
  }

  /** Checks the counts against what is counted. */
  void checkInvariants(Iterable<UserName> users) {
    SortedMap<UserName, Integer> counted = new TreeMap<>();
    users.forEach(user -> counted.merge(user, 1, Integer::sum));
    if (!counted.equals(counts)) {
      throw new IllegalStateException("users have " + counted + " " + what + ", not " + counts);
    }
  }
}
