package dev.tollgate.jdbc;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.wire.SqlState;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import org.junit.jupiter.api.Test;

class BatchOutcomeTest {
  private final SQLException nobody =
      JdbcErrors.exception(SqlState.NO_QUORUM, "No node took the request; nothing was changed");

  @Test
  void batchWithoutFailuresHasItsCounts() {
    BatchOutcome outcome = new BatchOutcome(2);
    outcome.succeeded(3);
    outcome.succeeded(0);
    assertArrayEquals(new long[] {3, 0}, outcome.counts());
    assertNull(outcome.chain());
  }

  @Test
  void failureOfOnePartLeavesTheOthers() {
    BatchOutcome outcome = new BatchOutcome(5);
    outcome.succeeded(1);
    outcome.failedTogether(3, JdbcErrors.exception(SqlState.BUSY, "too many requests"));
    assertEquals(4, outcome.done());
    outcome.succeeded(1);
    assertArrayEquals(new long[] {1, -3, -3, -3, 1}, outcome.counts());
    assertEquals(1, outcome.failures().size());
  }

  @Test
  void partThatNoNodeTookDoesNotSayThatNothingOfTheBatchWasChanged() {
    BatchOutcome outcome = new BatchOutcome(6);
    outcome.succeeded(0);
    outcome.succeeded(1);
    outcome.failedTogether(2, nobody);
    assertEquals(6, outcome.done());
    assertArrayEquals(new long[] {0, 1, -3, -3, -3, -3}, outcome.counts());
    SQLException failure = outcome.chain();
    assertEquals("08006", failure.getSQLState());
    assertTrue(failure.getMessage().contains("before number 3 were carried out"));
    assertSame(nobody, failure.getCause());
    SQLException rest = failure.getNextException();
    assertEquals("08006", rest.getSQLState());
    assertTrue(rest.getMessage().contains("5 to 6"), rest.getMessage());
  }

  @Test
  void batchOfWhichNoNodeTookAnythingMayBeRepeated() {
    BatchOutcome outcome = new BatchOutcome(4);
    outcome.failed(JdbcErrors.exception(SqlState.TOO_LARGE, "too large"));
    outcome.failedTogether(3, nobody);
    assertSame(nobody, outcome.failures().get(1));
    assertTrue(nobody instanceof SQLTransientConnectionException);
  }
}
