package dev.tollgate.core;

import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.UniqueId;
import dev.tollgate.core.command.UserAccount;
import dev.tollgate.core.command.UserName;
import java.util.Collection;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The users, in order of their names. A cluster without users asks nobody for a name, and each of
 * its clients is an administrator.
 */
final class UserTable {
  private final SortedMap<UserName, UserAccount> users = new TreeMap<>();
  private @Nullable UniqueId secret;
  private long lastNumber;

  /** Why no further user can be created, or null. */
  Outcome.@Nullable Refused full() {
    return users.size() < Limits.USERS
        ? null
        : Capacity.exceeded(
            "the number of users is",
            Limits.USERS,
            "drop those that are not needed; view TOLLGATE.USERS names them");
  }

  /** See {@link ClusterState#loginSecret}. */
  @Nullable UniqueId secret() {
    return secret;
  }

  void setSecret(UniqueId drawn) {
    secret = drawn;
  }

  /** The number of the user that was created last, whether it is still there. */
  long lastNumber() {
    return lastNumber;
  }

  void setLastNumber(long number) {
    lastNumber = number;
  }

  long nextNumber() {
    return ++lastNumber;
  }

  boolean isEmpty() {
    return users.isEmpty();
  }

  @Nullable UserAccount find(UserName name) {
    return users.get(name);
  }

  /** Returns true if sessions of this user may be open. */
  boolean isKnown(UserName name) {
    return users.isEmpty() ? name.equals(UserName.ANONYMOUS) : users.containsKey(name);
  }

  /** Returns true for the user of a session that must end: it was dropped or locked. */
  boolean isClosed(UserName name) {
    UserAccount account = users.get(name);
    return account == null ? !name.equals(UserName.ANONYMOUS) : account.locked();
  }

  boolean isAdministrator(UserName name) {
    UserAccount account = users.get(name);
    // a session without a name goes on after the first user was created: it has created that user
    return account == null ? name.equals(UserName.ANONYMOUS) : account.administrator();
  }

  /** How much a statement of the user may do, in percent of the limits of a statement. */
  int workLimit(UserName name) {
    UserAccount account = users.get(name);
    return account == null || account.administrator() ? Limits.FULL_WORK : account.workLimit();
  }

  /** Returns true if there is no other administrator that can log in at any time. */
  boolean isLastAdministrator(UserAccount account) {
    int administrators = 0;
    for (UserAccount one : users.values()) {
      administrators += one.isLastingAdministrator() ? 1 : 0;
    }
    return account.isLastingAdministrator() && administrators == 1;
  }

  /**
   * Checks that somebody can administer the cluster.
   *
   * @throws IllegalStateException if nobody can
   */
  void checkInvariants() {
    for (UserAccount account : users.values()) {
      if (account.isLastingAdministrator()) {
        return;
      }
    }
    if (!users.isEmpty()) {
      throw new IllegalStateException("no administrator of " + users.size() + " users can log in");
    }
  }

  /** Adds a user, or replaces the user of the same name. */
  void put(UserAccount account) {
    users.put(account.name(), account);
  }

  void remove(UserName name) {
    users.remove(name);
  }

  Collection<UserAccount> all() {
    return Collections.unmodifiableCollection(users.values());
  }
}
