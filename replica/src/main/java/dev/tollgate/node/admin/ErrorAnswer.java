package dev.tollgate.node.admin;

import dev.tollgate.node.json.JsonText;
import dev.tollgate.wire.SqlState;
import java.nio.charset.StandardCharsets;

/** Answers that say in JSON why a request failed, as all paths below {@link #PATHS} do. */
public final class ErrorAnswer {
  /** What scripts read; people read the other pages. */
  static final String PATHS = "/v1/";

  /** The content type of JSON. */
  public static final String JSON = "application/json; charset=utf-8";

  private static final int FIRST_ERROR = 400;

  private ErrorAnswer() {}

  /**
   * An error.
   *
   * @param more further members of the answer, each after a comma; empty for none
   */
  public static Answer of(
      int status, String sqlState, int vendorCode, String message, String more) {
    String text =
        "{\"error\":{\"sql_state\":"
            + JsonText.quoted(sqlState)
            + ",\"vendor_code\":"
            + vendorCode
            + ",\"message\":"
            + JsonText.quoted(message)
            + "}"
            + more
            + "}\n";
    return Answer.of(status, JSON, text.getBytes(StandardCharsets.UTF_8));
  }

  /**
   * The answer in JSON if it is an error in words, with the same headers; else the answer itself.
   */
  static Answer inJson(Answer answer) {
    if (answer.status() < FIRST_ERROR
        || !Answer.TEXT.equals(answer.headers().get("Content-Type"))) {
      return answer;
    }
    SqlState state = state(answer.status());
    String words = new String(answer.bytes(), StandardCharsets.UTF_8).strip();
    Answer json = of(answer.status(), state.state(), state.vendorCode(), words, "");
    for (var header : answer.headers().entrySet()) {
      if (!header.getKey().equals("Content-Type")) {
        json = json.with(header.getKey(), header.getValue());
      }
    }
    boolean again = answer.status() == Answer.UNAVAILABLE;
    return again && !answer.headers().containsKey("Retry-After")
        ? json.with("Retry-After", "1")
        : json;
  }

  private static SqlState state(int status) {
    return switch (status) {
      case Answer.UNAUTHORIZED -> SqlState.LOGIN_REFUSED;
      case Answer.FORBIDDEN -> SqlState.RIGHT_MISSING;
      case Answer.TOO_LARGE -> SqlState.TOO_LARGE;
      case Answer.TOO_MANY -> SqlState.TOO_MANY;
      case Answer.UNAVAILABLE -> SqlState.BUSY;
      case Answer.FAILED -> SqlState.INTERNAL;
      default -> SqlState.NOT_SUPPORTED;
    };
  }
}
