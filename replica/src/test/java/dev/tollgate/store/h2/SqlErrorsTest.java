package dev.tollgate.store.h2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.h2.api.ErrorCode;
import org.h2.message.DbException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SqlErrorsTest {
  /** Another replica may have had enough of both, and would have gone on. */
  @ParameterizedTest
  @ValueSource(
      ints = {
        ErrorCode.GENERAL_ERROR_1,
        ErrorCode.EXCEPTION_IN_FUNCTION_1,
        ErrorCode.CHECK_CONSTRAINT_INVALID
      })
  void memoryOrStackThatRunsOutIsNoRefusal(int code) {
    for (Error error : new Error[] {new OutOfMemoryError(), new StackOverflowError()}) {
      DbException told = DbException.get(code, error, "X");
      assertThrows(ReplicaFailure.class, () -> SqlErrors.failure(told));
    }
    DbException refused =
        DbException.get(ErrorCode.EXCEPTION_IN_FUNCTION_1, new ArithmeticException(), "X");
    assertEquals("90105", SqlErrors.failure(refused).sqlState());
  }
}
