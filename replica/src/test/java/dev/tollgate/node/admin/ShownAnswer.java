package dev.tollgate.node.admin;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Map;

/** What a client would see of an answer, for tests of other packages. */
public record ShownAnswer(int status, Map<String, String> headers, String body) {
  public static ShownAnswer of(Answer answer) {
    return new ShownAnswer(
        answer.status(), answer.headers(), new String(answer.bytes(), UTF_8).strip());
  }
}
