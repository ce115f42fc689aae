package dev.tollgate.core.command;

import static java.util.Objects.requireNonNull;

/**
 * Identifies one operation of one session: a resent command, a waiter and a late reply share it.
 */
public record RequestId(SessionId session, long sequence) {
  public RequestId {
    requireNonNull(session, "session");
  }
}
