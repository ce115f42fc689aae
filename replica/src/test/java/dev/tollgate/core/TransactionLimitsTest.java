package dev.tollgate.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TransactionLimits;
import dev.tollgate.core.command.TransactionScope;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How long transactions may be open, as part of the replicated state. */
class TransactionLimitsTest {
  private static final TransactionLimits HOUR = new TransactionLimits(3_600_000, 120_000);

  private final CoreDriver core = new CoreDriver();
  private final SessionId a = core.open();

  @ParameterizedTest
  @CsvSource({"999, 1000", "1000, 999", "86400001, 1000", "1000, 86400001", "0, 0", "-1, -1"})
  void limitsHaveBounds(long ageMillis, long idleMillis) {
    assertThrows(
        IllegalArgumentException.class, () -> new TransactionLimits(ageMillis, idleMillis));
  }

  @Test
  void aCopyHasTheLimits() {
    assertEquals(TransactionLimits.STANDARD, restored().transactionLimits());
    core.apply(new Command.LimitTransactions(HOUR));
    assertEquals(HOUR, core.machine.state().transactionLimits());
    assertEquals(HOUR, restored().transactionLimits());
  }

  @Test
  void whoEndsByTheLimitIsToldWhichOneItWas() {
    core.apply(new Command.LimitTransactions(HOUR));
    assertTrue(lost(Command.AbortReason.AGE).contains("was open for 3600 s"));
    assertTrue(lost(Command.AbortReason.IDLE).contains("nothing came for 120 s"));
    assertTrue(lost(Command.AbortReason.CLIENT_GONE).contains("did not come back within 1 s"));
    assertTrue(lost(Command.AbortReason.CLIENT_GONE).contains("connect to that within 10 s"));
  }

  private String lost(Command.AbortReason reason) {
    core.perform(a, new Operation.BeginTransaction(TransactionScope.READ_COMMITTED));
    long id = core.machine.state().session(a).transaction().id();
    core.apply(new Command.AbortTransaction(a, id, reason));
    Outcome.Refused refused =
        (Outcome.Refused) core.perform(a, new Operation.EndTransaction(/* commit= */ true));
    return refused.message();
  }

  private ClusterState restored() {
    StateMachine machine = new StateMachine(new FakeSqlStore());
    core.machine.copy().forEach(machine::restore);
    return machine.state();
  }
}
