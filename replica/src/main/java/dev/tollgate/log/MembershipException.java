package dev.tollgate.log;

/**
 * A change of the group cannot be made or would be dangerous; the message says why and what to do.
 */
public sealed class MembershipException extends Exception permits SilentMembersException {
  private static final long serialVersionUID = 1L;

  public MembershipException(String message) {
    super(message);
  }

  public MembershipException(String message, Throwable cause) {
    super(message, cause);
  }
}
