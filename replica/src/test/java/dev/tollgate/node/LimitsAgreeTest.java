package dev.tollgate.node;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tollgate.core.command.Limits;
import dev.tollgate.sql.SqlLimits;
import dev.tollgate.wire.Protocol;
import org.junit.jupiter.api.Test;

/** The front-end and the store refuse the same texts, and neither of them knows the other. */
class LimitsAgreeTest {
  @Test
  void limitsOfTextsAndLocks() {
    assertEquals(Limits.NUMBER_LENGTH, SqlLimits.NUMBER_LENGTH);
    assertEquals(Limits.LOCK_PERMITS, SqlLimits.LOCK_PERMITS);
    assertEquals(Limits.SERIES_STATEMENTS, Protocol.MAX_SERIES_STATEMENTS);
  }
}
