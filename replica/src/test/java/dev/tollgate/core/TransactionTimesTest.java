package dev.tollgate.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TransactionScope;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** All statements of a transaction see the time of the entry in which it began. */
class TransactionTimesTest {
  private final CoreDriver core = new CoreDriver();
  private final SessionId a = core.open();

  private long run(TransactionScope scope) {
    core.perform(a, FakeSqlStore.statement("WRITE T", List.of(FakeSqlStore.set("v", null)), scope));
    return core.store.times.get(core.store.times.size() - 1);
  }

  private long now() {
    return core.machine.position().timeMicros();
  }

  @ParameterizedTest
  @EnumSource(
      value = TransactionScope.class,
      names = {"READ_COMMITTED", "SERIALIZABLE"})
  void transactionHasTheTimeOfItsBeginning(TransactionScope scope) {
    for (boolean commit : List.of(true, false)) {
      core.perform(a, new Operation.BeginTransaction(scope));
      long begun = now();
      assertEquals(begun, run(scope));
      assertEquals(begun, run(scope));
      assertTrue(now() > begun);
      core.perform(a, new Operation.EndTransaction(commit));
      long next = run(scope);
      assertEquals(now(), next);
      assertEquals(next, run(scope));
      core.perform(a, new Operation.EndTransaction(commit));
    }
  }

  @Test
  void statementOnItsOwnHasTheTimeOfItsEntry() {
    long first = run(TransactionScope.AUTOCOMMIT);
    assertEquals(now(), first);
    assertTrue(run(TransactionScope.AUTOCOMMIT) > first);
  }
}
