package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.Session;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.UserName;
import dev.tollgate.node.login.LoginMethod;
import dev.tollgate.node.replica.Facts;
import dev.tollgate.store.SqlReader;
import dev.tollgate.wire.Request;
import org.jspecify.annotations.Nullable;

/**
 * A session as one connection uses it.
 *
 * @param user whose session it is, and for whom the connection has authenticated itself
 * @param method by which the user has proven on this connection who it is; null if it did not have
 *     to
 * @param options what the client chose for this connection; the log does not know them
 */
record AttachedSession(
    SessionId id, UserName user, @Nullable LoginMethod method, Request.SessionOptions options) {
  AttachedSession {
    requireNonNull(id, "id");
    requireNonNull(user, "user");
    requireNonNull(options, "options");
  }

  /** Returns what the log knows of how the session's queries run. */
  SqlReader.Settings settings(Facts facts) {
    Facts.SessionFacts found = facts.session(id);
    return found == null
        ? new SqlReader.Settings(Session.INITIAL_SCHEMA, Limits.LOCK_TIMEOUT_MILLIS, user)
        : new SqlReader.Settings(
            found.schema(), found.timeZone(), found.lockTimeoutMillis(), user, found.begunMicros());
  }
}
