package dev.tollgate.core.command;

import static java.util.Objects.requireNonNull;

/**
 * One operation of one session: what a resent command, a waiter and a late answer have in common.
 */
public record RequestId(SessionId session, long sequence) {
  public RequestId {
    requireNonNull(session, "session");
  }
}
