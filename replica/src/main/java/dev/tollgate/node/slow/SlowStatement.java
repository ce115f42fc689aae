package dev.tollgate.node.slow;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.ClientInfo;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.UserName;
import org.jspecify.annotations.Nullable;

/**
 * A statement that took long at this node.
 *
 * @param answeredMicros clock of the node, microseconds since 1970
 * @param tookMillis from its arrival to its answer
 * @param waitedMillis how much of that it waited in the replicated state, for a lock or for the end
 *     of a transaction
 * @param outcome DONE, or the SQLSTATE
 * @param formId the same for all statements of one form
 * @param form the text without the values in it; null if the statement could not be read
 */
public record SlowStatement(
    long answeredMicros,
    long tookMillis,
    long waitedMillis,
    String outcome,
    String formId,
    @Nullable String form,
    SessionId session,
    UserName user,
    ClientInfo client) {
  public SlowStatement {
    requireNonNull(outcome, "outcome");
    requireNonNull(formId, "formId");
    requireNonNull(session, "session");
    requireNonNull(user, "user");
    requireNonNull(client, "client");
  }
}
