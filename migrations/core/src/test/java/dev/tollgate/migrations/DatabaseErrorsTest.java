package dev.tollgate.migrations;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.sql.SQLException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which failures of a question about the lock leave it open whether the lock is held. */
class DatabaseErrorsTest {
  @ParameterizedTest
  @CsvSource({
    "08001, true", // no node took the question
    "08007, true", // a node took it, and its answer is missing
    "08003, false", // the connection is closed
    "08006, false", // the session has ended, and its lease with it
    "23T01, false",
    "HY000, false"
  })
  void clusterThatDoesNotAnswerIsUnreachable(String state, boolean unreachable) {
    assertEquals(unreachable, DatabaseErrors.isUnreachable(new SQLException("", state)));
  }
}
