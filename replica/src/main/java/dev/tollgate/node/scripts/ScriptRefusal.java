package dev.tollgate.node.scripts;

import dev.tollgate.node.admin.Answer;
import dev.tollgate.node.admin.ErrorAnswer;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.SqlState;

/** Why a request of a script was not carried out, as the script is told. */
final class ScriptRefusal extends Exception {
  private static final long serialVersionUID = 1L;

  private static final int BAD_REQUEST = 400;
  private static final int FORBIDDEN = 403;
  private static final int NOT_FOUND = 404;
  private static final int CONFLICT = 409;
  private static final int GONE = 410;
  private static final int TOO_LARGE = 413;
  private static final int MEDIA_TYPE = 415;
  private static final int TOO_MANY = 429;
  private static final int FAILED = 500;
  private static final int UNAVAILABLE = 503;
  private static final int TIMEOUT = 504;

  /**
   * The outcome is unknown, and a second request may do harm. Tools such as {@code curl --retry}
   * repeat what gets 500, 502, 503 or 504.
   */
  private static final int UNKNOWN = 520;

  /** H2's state for a missing right on a table. */
  private static final String NOT_GRANTED = "90096";

  private final int status;
  private final transient Reply.Failure failure;
  private final String more;

  private ScriptRefusal(int status, Reply.Failure failure, String more) {
    super(failure.message(), null, false, false);
    this.status = status;
    this.failure = failure;
    this.more = more;
  }

  private ScriptRefusal(int status, Reply.Failure failure) {
    this(status, failure, /* more= */ "");
  }

  /** The request itself is wrong: nothing was done. */
  static ScriptRefusal invalid(String message) {
    return new ScriptRefusal(BAD_REQUEST, new Reply.Failure(SqlState.INVALID_ARGUMENT, message));
  }

  static ScriptRefusal notFound(String message) {
    return new ScriptRefusal(NOT_FOUND, new Reply.Failure(SqlState.INVALID_ARGUMENT, message));
  }

  static ScriptRefusal mediaType(String message) {
    return new ScriptRefusal(MEDIA_TYPE, new Reply.Failure(SqlState.INVALID_ARGUMENT, message));
  }

  static ScriptRefusal of(SqlState state, String message) {
    return of(new Reply.Failure(state, message));
  }

  /** A failure of the cluster or of the node. */
  static ScriptRefusal of(Reply.Failure failure) {
    return new ScriptRefusal(status(failure.sqlState()), failure);
  }

  /** The request may have taken effect, or may still do so. */
  static ScriptRefusal unknown(Repeat repeat, String why) {
    boolean safe = repeat == Repeat.SAFE;
    return new ScriptRefusal(
        safe ? UNAVAILABLE : UNKNOWN,
        new Reply.Failure(
            SqlState.OUTCOME_UNKNOWN,
            why
                + ": the request may have taken effect, or may still do so. "
                + (safe ? "It is safe to send it again" : "Look before you send it again")));
  }

  /** A new lease may have got a lock, or not: the client has to know the lease. */
  static ScriptRefusal unknown(long lease) {
    return new ScriptRefusal(
        UNKNOWN,
        new Reply.Failure(
            SqlState.OUTCOME_UNKNOWN,
            "lease "
                + lease
                + " may have got the lock: to learn its token, send {\"lease\": "
                + lease
                + "} in place of \"ttl\". Or revoke the lease"),
        ",\"lease\":" + lease);
  }

  /** True if the request may have taken effect. */
  boolean isUnknown() {
    return failure.sqlState().equals(SqlState.OUTCOME_UNKNOWN.state());
  }

  /** True if another transaction or a definition was in the way, and is no more. */
  boolean isConflict() {
    return failure.sqlState().equals(SqlState.CONFLICT.state());
  }

  private static int status(String state) {
    if (isOneOf(state, SqlState.RIGHT_MISSING, SqlState.LOGIN_REFUSED)
        || state.equals(NOT_GRANTED)) {
      return FORBIDDEN;
    }
    if (isOneOf(state, SqlState.LEASE_GONE)) {
      return GONE;
    }
    if (isOneOf(state, SqlState.TOO_LARGE)) {
      return TOO_LARGE;
    }
    if (isOneOf(state, SqlState.TOO_MANY)) {
      return TOO_MANY;
    }
    if (isOneOf(state, SqlState.BUSY, SqlState.NO_MEMORY) || state.startsWith("08")) {
      return UNAVAILABLE;
    }
    if (isOneOf(state, SqlState.CANCELLED)) {
      return TIMEOUT;
    }
    if (isOneOf(state, SqlState.INTERNAL, SqlState.DISK)) {
      return FAILED;
    }
    boolean conflict =
        state.startsWith("23")
            || state.startsWith("40")
            || state.startsWith("55")
            || state.startsWith("HYT");
    return conflict ? CONFLICT : BAD_REQUEST;
  }

  private static boolean isOneOf(String state, SqlState... states) {
    for (SqlState one : states) {
      if (one.state().equals(state)) {
        return true;
      }
    }
    return false;
  }

  Answer answer() {
    Answer answer =
        ErrorAnswer.of(status, failure.sqlState(), failure.vendorCode(), failure.message(), more);
    return status == UNAVAILABLE || status == TOO_MANY ? answer.with("Retry-After", "1") : answer;
  }
}
