package dev.tollgate.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.LockDefinition;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.Right;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TransactionScope;
import dev.tollgate.core.command.UserAccount;
import dev.tollgate.core.command.UserName;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Users acquire and force only the locks that a right of theirs covers. */
class RightsOnLocksTest {
  private static final UserName ROOT = new UserName("ROOT");
  private static final UserName ANN = new UserName("ANN");
  private static final UserName BOB = new UserName("BOB");

  private final CoreDriver core = new CoreDriver();
  private SessionId root;
  private SessionId ann;
  private SessionId bob;

  @BeforeEach
  void createUsers() {
    core.apply(
        new Command.CreateFirstUser(
            new UserAccount(ROOT, /* administrator= */ true, List.of("m$1:s$k"))));
    root = core.open(ROOT);
    for (UserName user : List.of(ANN, BOB)) {
      core.perform(root, new Operation.CreateUser(new UserAccount(user, false, List.of()), false));
    }
    ann = core.open(ANN);
    bob = core.open(BOB);
  }

  private Outcome change(boolean grant, Right.Kind kind, String object, String grantee) {
    return core.perform(
        root, new Operation.ChangeRight(grant, new Right(kind, null, object, grantee)));
  }

  private void grant(String object, String grantee) {
    assertEquals(new Outcome.Answered(true), change(true, Right.Kind.LOCK, object, grantee));
  }

  private void revoke(String object, String grantee) {
    assertEquals(new Outcome.Answered(true), change(false, Right.Kind.LOCK, object, grantee));
  }

  private Outcome tryAcquire(SessionId session, String lock) {
    return core.acquire(session, lock, null, LockMode.EXCLUSIVE, 0);
  }

  private static Operation all(String... names) {
    return new Operation.AcquireLocks(
        List.of(names).stream().map(LockName::new).toList(), null, CoreDriver.WAIT_MILLIS);
  }

  private static Operation inTransaction(String lock) {
    return new Operation.AcquireTransactionLock(
        new LockName(lock), CoreDriver.WAIT_MILLIS, TransactionScope.READ_COMMITTED);
  }

  private static Operation locked(String lock) {
    return FakeSqlStore.statement(
        "WRITE t", List.of(FakeSqlStore.locked("v", lock)), TransactionScope.AUTOCOMMIT);
  }

  private static void assertMissing(Outcome outcome) {
    assertEquals(RefusalCode.RIGHT_MISSING, CoreDriver.refusal(outcome));
  }

  @ParameterizedTest
  @CsvSource({
    "x, x, true",
    "x, xy, false",
    "xy, x, false",
    "%, x, true",
    "pay-%, pay-, true",
    "pay-%, pay-1, true",
    "pay-%, paying, false",
    "%-pay, x-pay, true",
    "%-pay, x-pay-, false",
    "a%b, ab, true",
    "a%b, a1b2b, true",
    "a%b, a1b2, false",
    "a%b%c, abc, true",
    "a%b%c, a-c-b-c, true",
    "a%b%c, acb, false",
    "%a%a%, a, false",
    "%a%a%, xaxax, true",
    "%%, x, true",
    "a%%b, ab, true",
    "100\\%, 100%, true",
    "100\\%, 100, false",
    "100\\%, 1000, false",
    "100\\%, 100\\%, false",
    "\\%%, %, true",
    "\\%%, %x, true",
    "\\%%, x%, false",
    "%\\%, 50%, true",
    "%\\%, %%, true",
    "%\\%, 50, false",
    "a\\b, a\\b, true",
    "a\\\\%, a\\%, true",
    "_, x, false",
    "_, _, true",
    "X, x, false",
    "\ud83d\ude00%, \ud83d\ude00, true",
    "%\ud83d\ude00, \ud83d\ude00\ud83d\ude00, true",
    "%\ud83d\ude00, \ud83d\ude01, false",
    "%\u00e9, e\u0301, false"
  })
  void patternCoversLocks(String pattern, String lock, boolean covered) {
    Right right = new Right(Right.Kind.LOCK, null, pattern, "ANN");
    assertEquals(covered, right.covers(new LockName(lock)));
    grant(pattern, "ANN");
    Outcome outcome = tryAcquire(ann, lock);
    if (covered) {
      assertInstanceOf(Outcome.Granted.class, outcome);
    } else {
      assertMissing(outcome);
    }
    assertMissing(tryAcquire(bob, lock));
  }

  @Test
  void patternsAreBoundedAndWellFormed() {
    String longest = "\\%".repeat(Limits.LOCK_NAME_CHARS);
    Right right = new Right(Right.Kind.LOCK, null, longest, "ANN");
    assertTrue(right.covers(new LockName("%".repeat(Limits.LOCK_NAME_CHARS))));
    for (String pattern : List.of("", longest + "x", "\ud83d", "a\ude00%")) {
      assertThrows(
          IllegalArgumentException.class, () -> new Right(Right.Kind.FORCE, null, pattern, "ANN"));
    }
  }

  /** A pattern that tries every way would try more of them than there are atoms. */
  @Test
  void manyWildcardsTakeNoTime() {
    Right right = new Right(Right.Kind.LOCK, null, "a%".repeat(250) + "b", "ANN");
    LockName lock = new LockName("a".repeat(Limits.LOCK_NAME_CHARS));
    for (int i = 0; i < 1_000; i++) {
      assertEquals(false, right.covers(lock));
    }
  }

  @Test
  void everyWayToAcquireNeedsTheRight() {
    grant("mine", "ANN");
    LeaseId lease = core.lease(ann);
    for (Operation operation :
        List.of(
            new Operation.AcquireLock(new LockName("x"), null, LockMode.EXCLUSIVE, 0),
            new Operation.AcquireLock(new LockName("x"), lease, LockMode.SHARED, 1_000),
            all("mine", "x"),
            all("x", "mine"),
            inTransaction("x"),
            locked("x"),
            FakeSqlStore.write("LOCK x", "", null, true),
            new Operation.TransferLock(new LockName("x"), null, lease),
            new Operation.ForceReleaseLock(new LockName("mine")))) {
      assertMissing(core.perform(ann, operation));
    }
    assertEquals(0, core.machine.state().lastToken());
    assertInstanceOf(Outcome.Granted.class, core.acquire(ann, "mine", lease));
    assertInstanceOf(Outcome.Granted.class, tryAcquire(root, "x"));
  }

  @Test
  void forceIsARightOfItsOwn() {
    grant("%", "ANN");
    change(true, Right.Kind.FORCE, "x", "BOB");
    core.take(ann, "x");
    core.take(ann, "y");
    assertMissing(core.perform(ann, new Operation.ForceReleaseLock(new LockName("x"))));
    assertMissing(core.perform(bob, new Operation.ForceReleaseLock(new LockName("y"))));
    assertEquals(
        new Outcome.Answered(true),
        core.perform(bob, new Operation.ForceReleaseLock(new LockName("x"))));
    assertMissing(tryAcquire(bob, "x"));
  }

  @Test
  void revokedRightStopsTheNextRequestAndTakesNothingBack() {
    grant("x", "ANN");
    long token = core.take(ann, "x");
    revoke("x", "ANN");
    assertMissing(tryAcquire(ann, "x"));
    assertEquals(token, HeldLocks.lockToken(core.machine.state(), new LockName("x")).value());
    assertTrue(core.release(ann, "x"));
    assertMissing(tryAcquire(ann, "x"));
  }

  @Test
  void revokeEndsEveryKindOfWait() {
    for (Operation operation :
        List.of(
            new Operation.AcquireLock(new LockName("x"), null, LockMode.EXCLUSIVE, 1_000),
            new Operation.AcquireLock(new LockName("x"), null, LockMode.SHARED, 1_000),
            all("x", "free"),
            all("free", "x"),
            inTransaction("x"),
            locked("x"))) {
      grant("x", "ANN");
      grant("free", "ANN");
      SessionId waiter = core.open(ANN);
      core.take(root, "x");
      assertInstanceOf(Outcome.Waiting.class, core.perform(waiter, operation));
      revoke("x", "ANN");
      assertMissing(core.completed(waiter));
      assertTrue(core.release(root, "x"));
      assertNull(HeldLocks.lockToken(core.machine.state(), new LockName("x")));
      revoke("free", "ANN");
      core.apply(new Command.CloseSession(waiter));
    }
    assertTrue(core.store.written.isEmpty());
  }

  /** Of a request for several locks each needs the right, not only the first. */
  @Test
  void revokeOfALaterLockOfASetEndsTheWait() {
    grant("%", "ANN");
    core.take(root, "a");
    core.take(root, "b");
    assertInstanceOf(Outcome.Waiting.class, core.perform(ann, all("a", "b")));
    grant("a", "ANN");
    revoke("%", "ANN");
    assertMissing(core.completed(ann));
  }

  @Test
  void waitGoesOnUnderAnotherRight() {
    grant("x", "ANN");
    grant("%", "PUBLIC");
    core.take(root, "x");
    core.acquire(ann, "x", null);
    core.acquire(bob, "x", null);
    revoke("x", "ANN");
    assertNull(core.completed(ann));
    core.release(root, "x");
    assertInstanceOf(Outcome.Granted.class, core.completed(ann));
  }

  /** The first wait that ends makes way for the second, which ends too. */
  @Test
  void waitThatMayNotGoOnGetsNothingFromAnother() {
    grant("%", "ANN");
    SessionId second = core.open(ANN);
    grant("%", "BOB");
    core.take(root, "a");
    assertInstanceOf(Outcome.Waiting.class, core.perform(ann, all("a", "b")));
    assertInstanceOf(Outcome.Waiting.class, core.acquire(second, "b", null));
    assertInstanceOf(Outcome.Waiting.class, core.acquire(bob, "b", null));
    revoke("%", "ANN");
    assertMissing(core.completed(ann));
    assertMissing(core.completed(second));
    assertEquals(2, CoreDriver.token(core.completed(bob)));
  }

  @Test
  void userWhoIsAdministratorNoMoreWaitsNoMore() {
    core.perform(
        root, new Operation.AlterUser(ANN, Operation.AlterUser.Change.MAKE_ADMINISTRATOR, null));
    core.take(root, "x");
    assertInstanceOf(Outcome.Waiting.class, core.acquire(ann, "x", null));
    core.perform(
        root, new Operation.AlterUser(ANN, Operation.AlterUser.Change.MAKE_ORDINARY, null));
    assertMissing(core.completed(ann));
  }

  @Test
  void rolesAndPublicHaveRightsToo() {
    core.store.grantees.put("CLERK", new TreeSet<>());
    core.store.grantees.get("ANN").add("CLERK");
    grant("x", "CLERK");
    grant("y", "PUBLIC");
    assertInstanceOf(Outcome.Granted.class, tryAcquire(ann, "x"));
    assertMissing(tryAcquire(bob, "x"));
    assertInstanceOf(Outcome.Granted.class, tryAcquire(bob, "y"));
  }

  @Test
  void waitEndsWithTheRoleThatHasTheRight() {
    core.store.grantees.put("CLERK", new TreeSet<>());
    core.store.grantees.get("ANN").add("CLERK");
    grant("x", "CLERK");
    core.take(root, "x");
    assertInstanceOf(Outcome.Waiting.class, core.acquire(ann, "x", null));
    core.perform(root, FakeSqlStore.definition("TAKE CLERK"));
    assertMissing(core.completed(ann));
    assertMissing(tryAcquire(ann, "x"));
  }

  @Test
  void rightsGoWithTheirUser() {
    grant("x", "ANN");
    core.perform(root, new Operation.DropUser(ANN, false));
    assertEquals(List.of(), core.machine.state().rights());
    core.perform(root, new Operation.CreateUser(new UserAccount(ANN, false, List.of()), false));
    assertMissing(tryAcquire(core.open(ANN), "x"));
  }

  @Test
  void rightsNeedAGranteeAndASequence() {
    assertEquals(
        "90071",
        assertInstanceOf(Outcome.SqlFailed.class, change(true, Right.Kind.LOCK, "x", "NOBODY"))
            .sqlState());
    assertEquals(
        "90036", assertInstanceOf(Outcome.SqlFailed.class, sequence("PUBLIC", "NONE")).sqlState());
    assertEquals(new Outcome.Answered(true), sequence("", "S"));
    assertEquals(
        List.of(new Right(Right.Kind.SEQUENCE, "PUBLIC", "S", "ANN")),
        core.machine.state().rightsOf(ANN));
    assertEquals(
        new Outcome.Answered(false), change(false, Right.Kind.LOCK, "never granted", "ANN"));
  }

  private Outcome sequence(String schema, String name) {
    return core.perform(
        root, new Operation.ChangeRight(true, new Right(Right.Kind.SEQUENCE, schema, name, "ANN")));
  }

  @Test
  void leasesBelongToTheirUser() {
    grant("%", "PUBLIC");
    LeaseId lease = core.lease(ann);
    core.acquire(ann, "x", lease);
    for (Operation operation :
        List.of(
            new Operation.AcquireLock(new LockName("y"), lease, LockMode.EXCLUSIVE, 0),
            new Operation.ReleaseLock(new LockName("x"), lease, 0),
            new Operation.TransferLock(new LockName("x"), lease, null),
            new Operation.RevokeLease(lease))) {
      assertMissing(core.perform(bob, operation));
    }
    assertInstanceOf(Outcome.Granted.class, core.acquire(core.open(ANN), "y", lease));
    assertEquals(new Outcome.Answered(true), core.perform(root, new Operation.RevokeLease(lease)));
  }

  @Test
  void lockManagerDoesWithLocksAndLeasesWhatAnAdministratorDoes() {
    LeaseId lease = core.lease(ann);
    core.acquire(root, "x", null);
    for (Operation operation : lockChanges(lease)) {
      assertMissing(core.perform(bob, operation));
    }
    assertEquals(new Outcome.Answered(true), change(true, Right.Kind.MANAGE, Right.ALL, "BOB"));
    for (Operation operation : lockChanges(lease)) {
      assertFalse(
          core.perform(bob, operation) instanceof Outcome.Refused, () -> operation.toString());
    }
    assertNull(core.machine.state().lease(lease));
    assertNull(core.machine.state().inspect(BOB, new LockName("x")));
    for (Operation operation :
        List.of(
            new Operation.CreateUser(new UserAccount(new UserName("EVE"), false, List.of()), false),
            new Operation.DropUser(ANN, false),
            new Operation.AlterUser(BOB, Operation.AlterUser.Change.MAKE_ADMINISTRATOR, null),
            new Operation.ChangeRight(true, new Right(Right.Kind.LOCK, null, "y", "ANN")))) {
      assertMissing(core.perform(bob, operation));
    }
    core.take(root, "z");
    assertInstanceOf(Outcome.Waiting.class, core.acquire(bob, "z", null));
    change(false, Right.Kind.MANAGE, Right.ALL, "BOB");
    assertMissing(core.completed(bob));
    assertMissing(core.perform(bob, new Operation.ForceReleaseLock(new LockName("z"))));
  }

  private static List<Operation> lockChanges(LeaseId lease) {
    LockName lock = new LockName("x");
    return List.of(
        new Operation.ForceReleaseLock(lock),
        new Operation.AcquireLock(lock, lease, LockMode.EXCLUSIVE, 0),
        new Operation.TransferLock(lock, lease, null),
        new Operation.TransferLock(lock, null, lease),
        new Operation.ReleaseLock(lock, lease, 0),
        new Operation.RevokeLease(lease),
        new Operation.DefineLock(new LockDefinition(new LockName("d"), 2), false));
  }

  @Test
  void auditorMayDoNothingWithLocks() {
    LeaseId lease = core.lease(ann);
    assertEquals(new Outcome.Answered(true), change(true, Right.Kind.AUDIT, Right.ALL, "BOB"));
    for (Operation operation : lockChanges(lease)) {
      assertMissing(core.perform(bob, operation));
    }
    LockName lock = new LockName("x");
    assertInstanceOf(Outcome.Refused.class, core.machine.state().inspect(BOB, lock));
  }

  @Test
  void rightOnEverythingHasNoPattern() {
    for (Right.Kind kind : List.of(Right.Kind.AUDIT, Right.Kind.MANAGE)) {
      assertThrows(IllegalArgumentException.class, () -> new Right(kind, null, "x", "ANN"));
    }
  }

  @Test
  void numberOfRightsIsBounded() {
    List<Right> granted = new ArrayList<>();
    for (int i = 0; i < Limits.RIGHTS; i++) {
      granted.add(new Right(Right.Kind.LOCK, null, "lock" + i, "ANN"));
    }
    for (Right right : granted) {
      core.perform(root, new Operation.ChangeRight(true, right));
    }
    Outcome.Refused full =
        assertInstanceOf(Outcome.Refused.class, change(true, Right.Kind.FORCE, "more", "ANN"));
    assertEquals(RefusalCode.LIMIT_REACHED, full.code());
    assertTrue(full.message().contains("granted rights on locks and sequences is 10000"));
    grant("lock0", "ANN");
    revoke("lock0", "ANN");
    assertEquals(new Outcome.Answered(true), change(true, Right.Kind.FORCE, "more", "ANN"));
  }

  @Test
  void everySessionMayDoAllInAClusterWithoutUsers() {
    CoreDriver open = new CoreDriver();
    SessionId session = open.open();
    open.take(session, "x");
    assertEquals(
        new Outcome.Answered(true),
        open.perform(session, new Operation.ForceReleaseLock(new LockName("x"))));
  }
}
