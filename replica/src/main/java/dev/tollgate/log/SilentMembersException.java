package dev.tollgate.log;

/**
 * A change needs members that the leader has not heard from for a moment; they may only be slow.
 */
public final class SilentMembersException extends MembershipException {
  private static final long serialVersionUID = 1L;

  public SilentMembersException(String message) {
    super(message);
  }
}
