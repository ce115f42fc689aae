package dev.tollgate.store.h2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Outcome;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.SQLException;
import java.time.DateTimeException;
import java.util.ConcurrentModificationException;
import java.util.List;
import org.h2.api.ErrorCode;
import org.h2.message.DbException;
import org.h2.mvstore.DataUtils;
import org.junit.jupiter.api.Test;
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
  }

  /** None of these follows from the log alone. */
  @Test
  void failureOfTheProcessStopsTheReplicaWhereverItHides() {
    DbException unlocked = DbException.convert(new SQLException("X", "40001"));
    unlocked.addSuppressed(new IllegalStateException(new IOException("the rollback failed")));
    for (RuntimeException told :
        List.of(
            DbException.get(ErrorCode.GENERAL_ERROR_1, new NoClassDefFoundError(), "X"),
            DbException.get(ErrorCode.GENERAL_ERROR_1, new IOException(), "X"),
            new IllegalStateException(new UncheckedIOException(new IOException())),
            DataUtils.newMVStoreException(DataUtils.ERROR_INTERNAL, "X"),
            DbException.get(ErrorCode.EXCEPTION_IN_FUNCTION_1, new ReplicaFailure("X"), "X"),
            DbException.get(ErrorCode.DATABASE_IS_CLOSED),
            DbException.get(ErrorCode.STATEMENT_WAS_CANCELED),
            unlocked)) {
      assertThrows(ReplicaFailure.class, () -> SqlErrors.failure(told), told.toString());
    }
  }

  /** For example, MERGE with one key twice. */
  @Test
  void conflictWithoutAnotherTransactionIsARefusal() {
    DbException conflict = DbException.get(ErrorCode.CONCURRENT_UPDATE_1, "T");
    assertEquals("XX000", SqlErrors.failure(conflict).sqlState());
  }

  private static void assertNamesTheClassAlone(String state, Outcome.SqlFailed refused) {
    assertEquals(state, refused.sqlState());
    assertFalse(refused.message().contains("some Java"), refused.message());
    assertTrue(refused.message().contains("Exception)"), refused.message());
  }

  /** For example, the day after the last one that a DATE can be. */
  @Test
  void valueThatAClassRefusesIsAnInvalidArgument() {
    for (RuntimeException told :
        List.of(
            new IllegalArgumentException("a message of some Java runtime"),
            new NumberFormatException("a message of some Java runtime"),
            new DateTimeException("a message of some Java runtime"),
            DbException.convert(new ArithmeticException("a message of some Java runtime")),
            DbException.get(
                ErrorCode.EXCEPTION_IN_FUNCTION_1,
                new ArithmeticException("a message of some Java runtime"),
                "a message of some Java runtime"))) {
      assertNamesTheClassAlone("22023", SqlErrors.failure(told));
    }
  }

  @Test
  void everythingElseIsARefusalThatNamesTheClassAlone() {
    for (RuntimeException told :
        List.of(
            new IllegalStateException("a message of some Java runtime"),
            new ConcurrentModificationException("a message of some Java runtime"),
            DbException.getInternalError("a message of some Java runtime"),
            DbException.convert(new IndexOutOfBoundsException("a message of some Java runtime")),
            DbException.get(
                ErrorCode.EXCEPTION_IN_FUNCTION_1,
                new NullPointerException("a message of some Java runtime"),
                "a message of some Java runtime"))) {
      assertNamesTheClassAlone("XX000", SqlErrors.failure(told));
    }
    assertEquals(
        "22012", SqlErrors.failure(DbException.get(ErrorCode.DIVISION_BY_ZERO_1, "1")).sqlState());
  }
}
