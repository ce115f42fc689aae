package dev.tollgate.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.tollgate.core.HeldLocks;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.Payload;
import dev.tollgate.core.command.Right;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TransactionScope;
import dev.tollgate.core.command.UserAccount;
import dev.tollgate.core.command.UserName;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is under way for a user when the user is dropped, with the real database. */
class DroppedUsersTest {
  private static final UserName ANN = new UserName("ANN");
  private static final UserName ROOT = new UserName("ROOT");

  private final StoreDriver driver = new StoreDriver();
  private SessionId root;

  @BeforeEach
  void createUsers() {
    driver.apply(
        new Command.CreateFirstUser(
            new UserAccount(ROOT, /* administrator= */ true, List.of("m$1:s$k"))));
    root = driver.open(ROOT);
    driver.ok(root, "CREATE TABLE T(ID INT PRIMARY KEY, A INT)");
    driver.ok(root, "INSERT INTO T VALUES(1, 1)");
    create();
    driver.perform(
        root, new Operation.ChangeRight(true, new Right(Right.Kind.LOCK, null, "%", "ANN")));
  }

  private void create() {
    driver.perform(root, new Operation.CreateUser(new UserAccount(ANN, false, List.of()), false));
    driver.perform(root, definition("GRANT SELECT, UPDATE ON SCHEMA PUBLIC TO ANN"));
  }

  @AfterEach
  void close() {
    driver.close();
  }

  static Operation definition(String sql) {
    return new Operation.ExecuteSql(
        sql,
        /* definition= */ true,
        List.of(),
        List.of(new Operation.ParameterSet(StoreDriver.encode(), null)),
        /* batch= */ false,
        /* returnsRows= */ false,
        new Operation.WantedKeys.None(),
        /* maxRows= */ 0,
        null,
        /* ownLeaseTrusted= */ true,
        TransactionScope.AUTOCOMMIT);
  }

  private static Operation locked(String sql) {
    Payload none = StoreDriver.encode();
    return new Operation.ExecuteSql(
        sql,
        /* definition= */ false,
        List.of(),
        List.of(new Operation.ParameterSet(none, null, StoreDriver.JOB)),
        /* batch= */ false,
        /* returnsRows= */ false,
        new Operation.WantedKeys.None(),
        /* maxRows= */ 0,
        null,
        /* ownLeaseTrusted= */ true,
        TransactionScope.AUTOCOMMIT);
  }

  private void drop() {
    assertEquals(
        new Outcome.Answered(true), driver.perform(root, new Operation.DropUser(ANN, false)));
    assertEquals(1, driver.machine.state().sessions().size());
  }

  @Test
  void transactionIsRolledBackAndTheStatementThatWaitsForItDoesNotRun() throws SQLException {
    StoreDriver.result(driver.in(driver.open(ANN), "UPDATE T SET A = 2"));
    for (int i = 0; i < 3; i++) {
      assertInstanceOf(Outcome.Waiting.class, driver.run(driver.open(ANN), "UPDATE T SET A = 3"));
    }
    assertInstanceOf(Outcome.Waiting.class, driver.in(driver.open(ANN), "UPDATE T SET A = 4"));
    drop();
    assertEquals(List.of("1,1"), driver.query("SELECT * FROM T"));
    driver.ok(root, "UPDATE T SET A = 5");
    create();
    driver.ok(driver.open(ANN), "UPDATE T SET A = 6");
  }

  @Test
  void statementThatWaitsForALockDoesNotRun() throws SQLException {
    SessionId holder = driver.open(ANN);
    driver.take(holder, StoreDriver.JOB.value());
    for (int i = 0; i < 3; i++) {
      assertInstanceOf(
          Outcome.Waiting.class, driver.perform(driver.open(ANN), locked("UPDATE T SET A = 3")));
    }
    drop();
    assertEquals(List.of("1,1"), driver.query("SELECT * FROM T"));
    assertEquals(null, HeldLocks.lockToken(driver.machine.state(), new LockName("job")));
  }

  @Test
  void statementsOfOthersRun() throws SQLException {
    StoreDriver.result(driver.in(driver.open(ANN), "UPDATE T SET A = 2"));
    assertInstanceOf(Outcome.Waiting.class, driver.run(driver.open(ANN), "UPDATE T SET A = 3"));
    SessionId other = driver.open(ROOT);
    assertInstanceOf(Outcome.Waiting.class, driver.run(other, "UPDATE T SET A = A + 10"));
    assertEquals(
        new Outcome.Answered(true), driver.perform(root, new Operation.DropUser(ANN, false)));
    assertEquals(List.of("1,11"), driver.query("SELECT * FROM T"));
    assertInstanceOf(Outcome.Executed.class, driver.last(other));
  }
}
