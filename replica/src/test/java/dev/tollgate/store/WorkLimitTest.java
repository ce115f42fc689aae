package dev.tollgate.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TransactionScope;
import dev.tollgate.core.command.UserAccount;
import dev.tollgate.core.command.UserName;
import dev.tollgate.store.limits.StoreLimits;
import dev.tollgate.store.limits.WorkLimit;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A user with a work limit, in a database whose statements may look at 100,000 rows at most. */
class WorkLimitTest {
  private static final UserName ROOT = new UserName("ROOT");
  private static final UserName ANN = new UserName("ANN");

  private final StoreDriver driver =
      new StoreDriver(
          new SqlDatabase(
              new StoreLimits(
                  new WorkLimit(5_000, 10, 100_000),
                  new WorkLimit(1 << 16, 1 << 10, 1 << 24),
                  WorkLimit.of(Limits.STATEMENT_STEPS),
                  /* transactionChanges= */ 20_000,
                  1 << 24)));

  private SessionId root;
  private SessionId ann;

  @BeforeEach
  void createUsers() {
    driver.apply(new Command.CreateFirstUser(new UserAccount(ROOT, true, List.of("m$1:s$k"))));
    root = driver.open(ROOT);
    driver.perform(
        root, new Operation.CreateUser(new UserAccount(ANN, false, List.of()).with(5), false));
    ann = driver.open(ANN);
    driver.ok(root, "CREATE TABLE T(ID INT PRIMARY KEY, V INT)");
    for (int first = 1; first < 6_000; first += 200) {
      driver.ok(
          root,
          "INSERT INTO T SELECT X, X FROM SYSTEM_RANGE(" + first + ", " + (first + 199) + ")");
    }
    driver.ok(root, "GRANT ALL ON SCHEMA PUBLIC TO ANN");
  }

  @AfterEach
  void close() {
    driver.close();
  }

  private void limit(int percent) {
    driver.perform(root, Operation.AlterUser.workLimit(ANN, percent));
  }

  /** 5 percent of 100,000 rows are 5,000, and each of these looks at 6,000 or more. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "UPDATE T SET V = V + 1",
        "DELETE FROM T WHERE V < 0",
        "SELECT ID FROM T WHERE V < 0 FOR UPDATE",
        "INSERT INTO T SELECT ID + 10000, V FROM T"
      })
  void largeStatementIsForOthers(String sql) throws SQLException {
    String before = driver.script();
    Outcome outcome = driver.run(ann, sql);
    Outcome.SqlFailed failed = assertInstanceOf(Outcome.SqlFailed.class, outcome);
    assertEquals("54001", failed.sqlState());
    assertTrue(failed.message().contains("not more than 5000."), failed.message());
    assertTrue(failed.message().contains("WORK LIMIT"), failed.message());
    assertEquals(before, driver.script());
    driver.ok(root, sql);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "CREATE INDEX I ON T(V)",
        "ALTER TABLE T ADD CONSTRAINT K CHECK(V > -5)",
        "ALTER TABLE T ADD COLUMN C INT",
        "ALTER TABLE T ALTER COLUMN V SET DATA TYPE BIGINT"
      })
  void definitionThatGoesThroughALargeTableIsForOthers(String sql) {
    Operation definition = DroppedUsersTest.definition(sql);
    driver.perform(root, DroppedUsersTest.definition("GRANT ALTER ANY SCHEMA TO ANN"));
    Outcome outcome = driver.perform(ann, definition);
    Outcome.SqlFailed failed = assertInstanceOf(Outcome.SqlFailed.class, outcome);
    assertEquals("54001", failed.sqlState(), failed.message());
    assertTrue(failed.message().contains("all 6000 rows"), failed.message());
    limit(100);
    assertInstanceOf(Outcome.Executed.class, driver.perform(ann, definition));
  }

  @Test
  void smallStatementIsForAll() {
    limit(1);
    driver.ok(ann, "UPDATE T SET V = V + 1 WHERE ID <= 200");
    Outcome outcome = driver.run(ann, "UPDATE T SET V = V + 1 WHERE ID <= 1100");
    assertInstanceOf(Outcome.SqlFailed.class, outcome);
  }

  @Test
  void limitCountsFromTheNextStatementOn() {
    limit(100);
    driver.ok(ann, "UPDATE T SET V = V + 1");
    limit(20);
    driver.ok(ann, "DELETE FROM T WHERE V < 0");
    limit(5);
    assertInstanceOf(Outcome.SqlFailed.class, driver.run(ann, "DELETE FROM T WHERE V < 0"));
  }

  @Test
  void transactionHoldsFewerChanges() {
    Operation begin = new Operation.BeginTransaction(TransactionScope.READ_COMMITTED);
    for (SessionId session : List.of(ann, root)) {
      driver.perform(session, begin);
      driver.ok(session, "UPDATE T SET V = V + 1 WHERE ID <= 600");
      Outcome next = driver.run(session, "UPDATE T SET V = 0 WHERE ID = 1");
      if (session.equals(ann)) {
        Outcome.Refused refused = assertInstanceOf(Outcome.Refused.class, next);
        assertEquals(RefusalCode.LIMIT_REACHED, refused.code());
        assertTrue(refused.message().contains("1000 changes"), refused.message());
      } else {
        assertInstanceOf(Outcome.Executed.class, next);
      }
      driver.perform(session, new Operation.EndTransaction(/* commit= */ false));
    }
  }
}
