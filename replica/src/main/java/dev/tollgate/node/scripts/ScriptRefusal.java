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

  /** H2's state for a missing right on a table. */
  private static final String NOT_GRANTED = "90096";

  private final int status;
  private final transient Reply.Failure failure;

  private ScriptRefusal(int status, Reply.Failure failure) {
    super(failure.message(), null, false, false);
    this.status = status;
    this.failure = failure;
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
        ErrorAnswer.of(status, failure.sqlState(), failure.vendorCode(), failure.message(), "");
    return status == UNAVAILABLE || status == TOO_MANY ? answer.with("Retry-After", "1") : answer;
  }
}
