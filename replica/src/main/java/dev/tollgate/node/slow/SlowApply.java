package dev.tollgate.node.slow;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.SessionId;
import org.jspecify.annotations.Nullable;

/**
 * An entry of the log that this node took long to apply.
 *
 * @param appliedMicros clock of the node, microseconds since 1970
 * @param commands how many commands the entry has
 * @param slowestOrdinal place of its slowest command within the entry, from 0
 * @param slowestCommand what kind of command that is
 * @param session who sent that command; null if no session did
 */
public record SlowApply(
    long appliedMicros,
    long logIndex,
    long tookMillis,
    int commands,
    int slowestOrdinal,
    String slowestCommand,
    long slowestMillis,
    @Nullable SessionId session) {
  public SlowApply {
    requireNonNull(slowestCommand, "slowestCommand");
  }
}
