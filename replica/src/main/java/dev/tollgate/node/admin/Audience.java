package dev.tollgate.node.admin;

import dev.tollgate.node.replica.Duties;

/** Who may use a route. */
public enum Audience {
  /**
   * Everybody, without a login. Such an answer says next to nothing to a {@link Caller} unknown.
   */
  ANYBODY,
  /** Every user, and everybody on a cluster without users. */
  USERS,
  /** Administrators, users with AUDIT ON CLUSTER, and everybody on a cluster without users. */
  AUDITORS,
  /** Administrators, users with MANAGE ON LOCKS, and everybody on a cluster without users. */
  LOCK_MANAGERS;

  /** Why a user that has logged in may not use the route. */
  String missing() {
    return switch (this) {
      case ANYBODY, USERS -> throw new IllegalStateException(this + " are all users");
      case AUDITORS -> "is no administrator, and has no right AUDIT ON CLUSTER";
      case LOCK_MANAGERS -> "is no administrator, and has no right MANAGE ON LOCKS";
    };
  }

  /** True for a caller that may use the route, of those that have logged in. */
  boolean includes(Caller caller) {
    Duties duties = caller.duties();
    return switch (this) {
      case ANYBODY, USERS -> true;
      case AUDITORS -> duties.audits();
      case LOCK_MANAGERS -> duties.managesLocks();
    };
  }
}
