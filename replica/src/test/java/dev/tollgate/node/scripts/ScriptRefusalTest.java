package dev.tollgate.node.scripts;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tollgate.node.admin.ShownAnswer;
import dev.tollgate.wire.Reply;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The statuses of docs/http.md: a script decides by them whether to send a request again. */
class ScriptRefusalTest {
  @ParameterizedTest
  @CsvSource({
    "22023, 400",
    "42S02, 400",
    "HYC00, 400",
    "42501, 403",
    "28000, 403",
    "90096, 403",
    "23T01, 409",
    "23505, 409",
    "40001, 409",
    "55T04, 409",
    "HYT00, 409",
    "55T01, 410",
    "54000, 413",
    "53300, 429",
    "XX000, 500",
    "58030, 500",
    "53T01, 503",
    "53200, 503",
    "08001, 503",
    "08006, 503",
    "57014, 504",
  })
  void failureHasTheStatusOfItsState(String state, int status) {
    ScriptRefusal refusal = ScriptRefusal.of(new Reply.Failure(state, 1, "why"));
    ShownAnswer answer = ShownAnswer.of(refusal.answer());
    assertEquals(status, answer.status());
    assertEquals(status == 429 || status == 503 ? "1" : null, answer.headers().get("Retry-After"));
  }
}
