package dev.tollgate.node.admin;

/** Who may use a route. */
public enum Audience {
  /**
   * Everybody, without a login. Such an answer says next to nothing to a {@link Caller} unknown.
   */
  ANYBODY,
  /** Every user, and everybody on a cluster without users. */
  USERS,
  /** Administrators, and everybody on a cluster without users. */
  ADMINISTRATORS
}
