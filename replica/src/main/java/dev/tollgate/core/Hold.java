package dev.tollgate.core;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.FencingToken;
import dev.tollgate.core.command.LeaseKind;
import dev.tollgate.core.command.SessionId;

/**
 * One lease's hold of one lock.
 *
 * @param sinceMicros log time of the grant, microseconds since 1970
 * @param session the session whose request was granted
 */
public record Hold(Lease lease, FencingToken token, long sinceMicros, SessionId session) {
  public Hold {
    requireNonNull(lease, "lease");
    requireNonNull(token, "token");
    requireNonNull(session, "session");
  }

  /**
   * Returns true if nobody holds the lock here: the lease keeps it from others after its release.
   */
  public boolean onlyKeeps() {
    return lease.kind() == LeaseKind.KEEP;
  }
}
