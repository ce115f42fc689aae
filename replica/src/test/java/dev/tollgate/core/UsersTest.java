package dev.tollgate.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.ClientInfo;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.LogPosition;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Operation.AlterUser.Change;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.Right;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TimeZoneName;
import dev.tollgate.core.command.TransactionScope;
import dev.tollgate.core.command.UserAccount;
import dev.tollgate.core.command.UserName;
import dev.tollgate.snapshot.CorruptSnapshotException;
import dev.tollgate.snapshot.StateCodec;
import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Users come and go, with their sessions, leases, waits and transactions. */
class UsersTest {
  private static final UserName ROOT = new UserName("ROOT");
  private static final UserName ANN = new UserName("ANN");
  private static final UserName BOB = new UserName("BOB");
  private static final UserAccount ADMINISTRATOR =
      new UserAccount(ROOT, /* administrator= */ true, List.of(password("root")));

  private final CoreDriver core = new CoreDriver();

  /** A verifier; all of them have the same salt. */
  private static String password(String key) {
    return "SCRAM-SHA-256$4096:c2FsdA==$" + key;
  }

  /** The session of an administrator, in a cluster that has also ANN and BOB. */
  private SessionId withUsers() {
    core.apply(new Command.CreateFirstUser(ADMINISTRATOR));
    SessionId root = core.open(ROOT);
    for (UserName user : List.of(ANN, BOB)) {
      assertEquals(new Outcome.Answered(true), create(root, user, /* administrator= */ false));
    }
    grant(root, Right.Kind.LOCK, "%", "PUBLIC");
    return root;
  }

  private Outcome create(SessionId by, UserName user, boolean administrator) {
    return core.perform(
        by,
        new Operation.CreateUser(
            new UserAccount(user, administrator, List.of(password("one"))), false));
  }

  private Outcome drop(SessionId by, UserName user) {
    return core.perform(by, new Operation.DropUser(user, false));
  }

  private Outcome alter(
      SessionId by, @Nullable UserName user, Change change, @Nullable String verifier) {
    return core.perform(by, new Operation.AlterUser(user, change, verifier));
  }

  private void grant(SessionId by, Right.Kind kind, String object, String grantee) {
    assertEquals(
        new Outcome.Answered(true),
        core.perform(by, new Operation.ChangeRight(true, new Right(kind, null, object, grantee))));
  }

  private List<String> passwords(UserName user) {
    for (UserAccount account : core.machine.state().users()) {
      if (account.name().equals(user)) {
        return account.verifiers();
      }
    }
    throw new AssertionError("no user " + user);
  }

  private static Operation.ExecuteSql locked(String lock) {
    return FakeSqlStore.statement(
        "WRITE t", List.of(FakeSqlStore.locked("v", lock)), TransactionScope.AUTOCOMMIT);
  }

  private static Operation.ExecuteSql row(String row) {
    return FakeSqlStore.statement(
        "ROW " + row, List.of(FakeSqlStore.set(row, null)), TransactionScope.READ_COMMITTED);
  }

  private @Nullable Long tokenOf(String lock) {
    var token = HeldLocks.lockToken(core.machine.state(), new LockName(lock));
    return token == null ? null : (Long) token.value();
  }

  private Outcome limitWork(SessionId by, int percent) {
    return core.perform(by, Operation.AlterUser.workLimit(ANN, percent));
  }

  private Outcome serializable(SessionId by) {
    return core.perform(by, new Operation.BeginTransaction(TransactionScope.SERIALIZABLE));
  }

  /** It would keep all others out, for as long as a transaction may take. */
  @Test
  void userWithLessThanOrdinaryWorkHasNoSerializableTransactions() {
    SessionId root = withUsers();
    SessionId ann = core.open(ANN);
    assertEquals(new Outcome.Answered(true), limitWork(root, Limits.ORDINARY_WORK - 1));
    assertEquals(RefusalCode.LIMIT_REACHED, ((Outcome.Refused) serializable(ann)).code());
    assertEquals(
        new Outcome.Done(),
        core.perform(ann, new Operation.BeginTransaction(TransactionScope.READ_COMMITTED)));
    assertEquals(new Outcome.Done(), core.perform(ann, new Operation.EndTransaction(true)));
    assertEquals(new Outcome.Done(), serializable(root));
    assertEquals(new Outcome.Done(), core.perform(root, new Operation.EndTransaction(true)));
    assertEquals(new Outcome.Answered(true), limitWork(root, Limits.ORDINARY_WORK));
    assertEquals(new Outcome.Done(), serializable(ann));
  }

  @Test
  void administratorHasNoWorkLimit() {
    SessionId root = withUsers();
    limitWork(root, 1);
    assertEquals(
        new Outcome.Answered(true),
        alter(root, ANN, Change.MAKE_ADMINISTRATOR, /* verifier= */ null));
    SessionId ann = core.open(ANN);
    assertEquals(new Outcome.Done(), serializable(ann));
    core.perform(ann, new Operation.EndTransaction(true));
    alter(root, ANN, Change.MAKE_ORDINARY, /* verifier= */ null);
    assertEquals(RefusalCode.LIMIT_REACHED, ((Outcome.Refused) serializable(ann)).code());
  }

  @Test
  void userCannotChangeItsOwnWorkLimit() {
    withUsers();
    Outcome outcome = limitWork(core.open(ANN), 100);
    assertEquals(RefusalCode.RIGHT_MISSING, ((Outcome.Refused) outcome).code());
  }

  @Test
  void firstUserMustBeAnAdministratorWithAPassword() {
    SessionId anonymous = core.open();
    for (UserAccount account :
        List.of(
            new UserAccount(ANN, false, List.of(password("one"))),
            new UserAccount(ANN, true, List.of()),
            new UserAccount(ANN, false, List.of()))) {
      Outcome outcome = core.perform(anonymous, new Operation.CreateUser(account, false));
      assertEquals(RefusalCode.USER_STATE, CoreDriver.refusal(outcome), account::toString);
    }
    assertTrue(core.machine.state().users().isEmpty());
    assertTrue(core.store.grantees.isEmpty());
    assertNull(core.machine.state().loginSecret());
    for (UserAccount account :
        List.of(
            new UserAccount(ANN, false, List.of(password("one"))),
            new UserAccount(ANN, true, List.of()))) {
      assertThrows(IllegalArgumentException.class, () -> new Command.CreateFirstUser(account));
    }
  }

  @Test
  void anonymousSessionsEndWithTheFirstUser() {
    SessionId creator = core.open();
    SessionId holder = core.open();
    SessionId waiter = core.open();
    SessionId writer = core.open();
    core.take(creator, "mine");
    core.take(holder, "x");
    LeaseId created = core.lease(holder);
    core.acquire(waiter, "x", null);
    core.perform(writer, row("r"));
    assertEquals(
        new Outcome.Answered(true),
        core.perform(creator, new Operation.CreateUser(ADMINISTRATOR, false)));
    assertEquals(1, core.machine.state().sessions().size());
    assertNull(tokenOf("x"));
    assertEquals(List.of("rollback " + writer), core.store.ended);
    assertEquals(RefusalCode.SESSION_GONE, CoreDriver.refusal(core.perform(holder, locked("x"))));
    assertEquals(
        RefusalCode.AUTHENTICATION_FAILED, CoreDriver.refusal(core.tryOpen(UserName.ANONYMOUS)));
    assertNotNull(core.machine.state().lease(created), "it expires, like that of any dead client");
    assertEquals(1, tokenOf("mine"), "the session that has created the user goes on");
    assertEquals(new Outcome.Answered(true), create(creator, ANN, /* administrator= */ false));
    assertNotNull(core.machine.state().loginSecret());
  }

  @Test
  void sessionNeedsItsUser() {
    assertEquals(
        RefusalCode.AUTHENTICATION_FAILED, CoreDriver.refusal(core.tryOpen(ANN)), "no users");
    withUsers();
    assertInstanceOf(Outcome.SessionOpened.class, core.tryOpen(ANN));
    assertEquals(
        RefusalCode.AUTHENTICATION_FAILED, CoreDriver.refusal(core.tryOpen(new UserName("EVE"))));
    assertEquals(
        RefusalCode.AUTHENTICATION_FAILED, CoreDriver.refusal(core.tryOpen(UserName.ANONYMOUS)));
  }

  @Test
  void firstUserIsCreatedOnce() {
    core.open();
    assertEquals(
        new Outcome.Answered(true), core.apply(new Command.CreateFirstUser(ADMINISTRATOR)));
    assertTrue(core.machine.state().sessions().isEmpty());
    SessionId root = core.open(ROOT);
    var secret = core.machine.state().loginSecret();
    UserAccount other = new UserAccount(ANN, true, List.of(password("other")));
    assertEquals(new Outcome.Answered(false), core.apply(new Command.CreateFirstUser(other)));
    assertEquals(
        new Outcome.Answered(false), core.apply(new Command.CreateFirstUser(ADMINISTRATOR)));
    assertEquals(List.of(ADMINISTRATOR.numbered(1)), List.copyOf(core.machine.state().users()));
    assertNotNull(core.machine.state().session(root));
    assertEquals(secret, core.machine.state().loginSecret());
  }

  @Test
  void connectionOfADroppedUserIsNotTheNextUserOfItsName() {
    SessionId root = withUsers();
    Command.OpenSession former = opening(numberOf(ANN));
    assertInstanceOf(Outcome.SessionOpened.class, core.apply(former));
    drop(root, ANN);
    create(root, ANN, /* administrator= */ true);
    Outcome.Refused refused = assertInstanceOf(Outcome.Refused.class, core.apply(former));
    assertEquals(RefusalCode.AUTHENTICATION_FAILED, refused.code());
    assertInstanceOf(Outcome.SessionOpened.class, core.apply(opening(numberOf(ANN))));
  }

  @Test
  void numbersOfUsersAreNotUsedAgain() {
    SessionId root = withUsers();
    long bob = numberOf(BOB);
    drop(root, BOB);
    List<StateRecord.LoginSecret> kept = new ArrayList<>();
    core.machine
        .copy()
        .forEach(
            record -> {
              if (record instanceof StateRecord.LoginSecret secret) {
                kept.add(secret);
              }
            });
    assertEquals(List.of(bob), kept.stream().map(StateRecord.LoginSecret::lastUser).toList());
    create(root, BOB, /* administrator= */ false);
    assertEquals(bob + 1, numberOf(BOB));
  }

  private static Command.OpenSession opening(long number) {
    return new Command.OpenSession(
        new ClientInfo("app", "host", "1"), 7, 60_000, 15_000, ANN, number, TimeZoneName.UTC);
  }

  private long numberOf(UserName name) {
    return core.machine.state().users().stream()
        .filter(account -> account.name().equals(name))
        .findFirst()
        .orElseThrow()
        .number();
  }

  @Test
  void existingUserIsNotCreatedAgain() {
    SessionId root = withUsers();
    Outcome.SqlFailed failed =
        assertInstanceOf(Outcome.SqlFailed.class, create(root, ANN, /* administrator= */ true));
    assertEquals("90033", failed.sqlState());
    assertEquals(
        new Outcome.Answered(false),
        core.perform(root, new Operation.CreateUser(new UserAccount(ANN, true, List.of()), true)));
    assertEquals(List.of(password("one")), passwords(ANN));
    assertEquals(
        "90032",
        assertInstanceOf(Outcome.SqlFailed.class, drop(root, new UserName("EVE"))).sqlState());
    assertEquals(
        new Outcome.Answered(false),
        core.perform(root, new Operation.DropUser(new UserName("EVE"), true)));
    assertEquals(
        "90032",
        assertInstanceOf(
                Outcome.SqlFailed.class,
                alter(root, new UserName("EVE"), Change.MAKE_ADMINISTRATOR, null))
            .sqlState());
  }

  @Test
  void onlyAdministratorsChangeUsers() {
    withUsers();
    SessionId ann = core.open(ANN);
    for (Outcome outcome :
        List.of(
            create(ann, new UserName("EVE"), /* administrator= */ false),
            drop(ann, BOB),
            drop(ann, ANN),
            alter(ann, BOB, Change.SET_PASSWORD, password("two")),
            alter(ann, ANN, Change.ADD_PASSWORD, password("two")),
            alter(ann, null, Change.DROP_OLD_PASSWORD, null),
            alter(ann, ANN, Change.MAKE_ADMINISTRATOR, null),
            lock(ann, BOB),
            lock(ann, ANN),
            unlock(ann, ANN),
            validUntil(ann, ANN, UserAccount.ALWAYS),
            core.perform(
                ann,
                new Operation.ChangeRight(true, new Right(Right.Kind.LOCK, null, "x", "ANN"))))) {
      assertEquals(RefusalCode.RIGHT_MISSING, CoreDriver.refusal(outcome));
    }
    assertEquals(
        new Outcome.Answered(true), alter(ann, null, Change.SET_PASSWORD, password("two")));
    assertEquals(
        new Outcome.Answered(true), alter(ann, ANN, Change.SET_PASSWORD, password("three")));
    assertEquals(List.of(password("three")), passwords(ANN));
  }

  @Test
  void lastAdministratorStays() {
    SessionId root = withUsers();
    for (Outcome outcome :
        List.of(drop(root, ROOT), alter(root, ROOT, Change.MAKE_ORDINARY, null))) {
      assertEquals(RefusalCode.USER_STATE, CoreDriver.refusal(outcome));
    }
    alter(root, ANN, Change.MAKE_ADMINISTRATOR, null);
    assertEquals(RefusalCode.USER_STATE, CoreDriver.refusal(drop(root, ROOT)), "of itself");
    SessionId ann = core.open(ANN);
    assertEquals(new Outcome.Answered(true), drop(ann, ROOT));
    assertNull(core.machine.state().session(root));
    assertEquals(
        RefusalCode.USER_STATE, CoreDriver.refusal(alter(ann, ANN, Change.MAKE_ORDINARY, null)));
  }

  @Test
  void ordinaryAgainIsAdministratorNoMore() {
    SessionId root = withUsers();
    SessionId ann = core.open(ANN);
    alter(root, ANN, Change.MAKE_ADMINISTRATOR, null);
    assertEquals(new Outcome.Answered(true), create(ann, new UserName("EVE"), false));
    alter(root, ANN, Change.MAKE_ORDINARY, null);
    assertEquals(
        RefusalCode.RIGHT_MISSING, CoreDriver.refusal(create(ann, new UserName("DAN"), false)));
    assertEquals(List.of(password("one")), passwords(ANN), "passwords stay");
  }

  @Test
  void twoPasswordsAreValidAtATime() {
    SessionId root = withUsers();
    alter(root, ANN, Change.ADD_PASSWORD, password("two"));
    assertEquals(List.of(password("two"), password("one")), passwords(ANN));
    alter(root, ANN, Change.ADD_PASSWORD, password("three"));
    assertEquals(List.of(password("three"), password("two")), passwords(ANN));
    alter(root, ANN, Change.ADD_PASSWORD, password("two"));
    assertEquals(List.of(password("two"), password("three")), passwords(ANN), "not twice");
    Outcome salted = alter(root, ANN, Change.ADD_PASSWORD, "SCRAM-SHA-256$4096:b3RoZXI=$four");
    assertEquals(RefusalCode.USER_STATE, CoreDriver.refusal(salted));
    assertEquals(List.of(password("two"), password("three")), passwords(ANN));
    alter(root, ANN, Change.DROP_OLD_PASSWORD, null);
    assertEquals(List.of(password("two")), passwords(ANN));
    alter(root, ANN, Change.DROP_OLD_PASSWORD, null);
    assertEquals(List.of(password("two")), passwords(ANN));
    String other = "SCRAM-SHA-256$9999:b3RoZXI=$five";
    alter(root, ANN, Change.SET_PASSWORD, other);
    assertEquals(List.of(other), passwords(ANN));
  }

  private Outcome lock(SessionId by, UserName user) {
    return alter(by, user, Change.LOCK_ACCOUNT, /* verifier= */ null);
  }

  private Outcome unlock(SessionId by, UserName user) {
    return alter(by, user, Change.UNLOCK_ACCOUNT, /* verifier= */ null);
  }

  private Outcome validUntil(SessionId by, UserName user, long micros) {
    return core.perform(by, Operation.AlterUser.validUntil(user, micros));
  }

  private String refusedLogin(UserName user) {
    Outcome.Refused refused = assertInstanceOf(Outcome.Refused.class, core.tryOpen(user));
    assertEquals(RefusalCode.AUTHENTICATION_FAILED, refused.code());
    return refused.message();
  }

  @Test
  void lockedUserHasNoSessionUntilItIsUnlocked() {
    SessionId root = withUsers();
    SessionId ann = core.open(ANN);
    core.take(ann, "own");
    core.acquire(ann, "created", core.lease(ann));
    assertEquals(new Outcome.Answered(true), lock(root, ANN));
    assertEquals(1, core.machine.state().sessions().size(), "ROOT's");
    assertTrue(core.machine.state().leases().isEmpty());
    assertEquals(0, core.machine.state().locks().size());
    assertEquals(
        "user ANN is locked: have an administrator ALTER USER ANN ACCOUNT UNLOCK",
        refusedLogin(ANN));
    assertEquals(new Outcome.Answered(true), lock(root, ANN), "again");
    assertEquals(new Outcome.Answered(true), unlock(root, ANN));
    assertEquals(List.of(password("one")), passwords(ANN), "passwords stay");
    assertInstanceOf(Outcome.SessionOpened.class, core.tryOpen(ANN));
    assertEquals(RefusalCode.SESSION_GONE, CoreDriver.refusal(core.perform(ann, locked("x"))));
  }

  @Test
  void connectionOfALockedUserLogsInAgain() {
    SessionId root = withUsers();
    Command.OpenSession former = opening(numberOf(ANN));
    lock(root, ANN);
    unlock(root, ANN);
    Outcome.Refused refused = assertInstanceOf(Outcome.Refused.class, core.apply(former));
    assertEquals(RefusalCode.AUTHENTICATION_FAILED, refused.code());
    assertTrue(refused.message().endsWith("log in again"), refused.message());
    assertInstanceOf(Outcome.SessionOpened.class, core.apply(opening(numberOf(ANN))));
  }

  /** As for a dropped user. */
  @Test
  void locksAndRowsOfALockedUserGoToOthers() {
    SessionId root = withUsers();
    SessionId first = core.open(ANN);
    SessionId bob = core.open(BOB);
    SessionId waiter = core.open(BOB);
    core.take(first, "x");
    core.perform(first, row("r"));
    core.acquire(core.open(ANN), "x", null);
    assertInstanceOf(Outcome.Waiting.class, core.perform(core.open(ANN), row("r")));
    core.acquire(bob, "x", null);
    assertInstanceOf(Outcome.Waiting.class, core.perform(waiter, row("r")));
    int before = core.store.executions;
    lock(root, ANN);
    assertEquals(2, CoreDriver.token(core.completed(bob)));
    assertInstanceOf(Outcome.Executed.class, core.completed(waiter));
    assertEquals(before + 1, core.store.executions, "BOB's");
  }

  @Test
  void passwordEndsOtherSessionsWhenAsked() {
    withUsers();
    SessionId ann = core.open(ANN);
    SessionId other = core.open(ANN);
    core.take(ann, "mine");
    core.take(other, "x");
    LeaseId created = core.lease(other);
    core.perform(other, row("r"));
    Command.OpenSession former = opening(numberOf(ANN));
    alter(ann, null, Change.SET_PASSWORD, password("two"));
    assertNotNull(core.machine.state().session(other), "nobody has asked for an end");
    assertInstanceOf(Outcome.SessionOpened.class, core.apply(former));
    assertEquals(
        new Outcome.Answered(true),
        alter(ann, null, Change.SET_PASSWORD_AND_END_SESSIONS, password("three")));
    assertNull(core.machine.state().session(other));
    assertNull(tokenOf("x"));
    assertEquals(List.of("rollback " + other), core.store.ended);
    assertNotNull(core.machine.state().lease(created), "it expires, like that of any dead client");
    assertNotNull(core.machine.state().session(ann), "it has asked");
    assertEquals(1, tokenOf("mine"));
    assertEquals(List.of(password("three")), passwords(ANN));
    assertEquals(
        RefusalCode.AUTHENTICATION_FAILED, CoreDriver.refusal(core.apply(former)), "of before");
  }

  @Test
  void administratorEndsSessionsWithAPassword() {
    SessionId root = withUsers();
    SessionId ann = core.open(ANN);
    SessionId bob = core.open(BOB);
    alter(root, ANN, Change.SET_PASSWORD_AND_END_SESSIONS, password("two"));
    assertNull(core.machine.state().session(ann));
    assertNotNull(core.machine.state().session(bob));
    assertEquals(
        RefusalCode.RIGHT_MISSING,
        CoreDriver.refusal(
            alter(bob, ANN, Change.SET_PASSWORD_AND_END_SESSIONS, password("three"))));
  }

  /** Between two sessions that both end, nothing is handed on. */
  @Test
  void locksOfSessionsThatEndWithAPasswordGoToOthers() {
    SessionId root = withUsers();
    SessionId holder = core.open(ANN);
    SessionId bob = core.open(BOB);
    core.take(holder, "x");
    core.acquire(core.open(ANN), "x", null);
    core.perform(core.open(ANN), locked("x"));
    core.acquire(bob, "x", null);
    alter(root, ANN, Change.SET_PASSWORD_AND_END_SESSIONS, password("two"));
    assertEquals(2, CoreDriver.token(core.completed(bob)));
    assertNull(core.store.written.get("t"));
  }

  @Test
  void userExpiresByTheTimeOfTheLog() {
    SessionId root = withUsers();
    long now = core.machine.position().timeMicros();
    SessionId ann = core.open(ANN);
    assertEquals(new Outcome.Answered(true), validUntil(root, ANN, now + 1_000_000_000));
    assertInstanceOf(Outcome.SessionOpened.class, core.tryOpen(ANN));
    assertEquals(
        new Outcome.Answered(true),
        validUntil(root, ANN, Math.max(1, core.machine.position().timeMicros())));
    assertEquals(
        "user ANN has expired: have an administrator ALTER USER ANN VALID UNTIL 'timestamp', or"
            + " 'infinity'",
        refusedLogin(ANN));
    assertInstanceOf(Outcome.Granted.class, core.acquire(ann, "x", null), "open sessions go on");
    validUntil(root, ANN, UserAccount.ALWAYS);
    assertInstanceOf(Outcome.SessionOpened.class, core.tryOpen(ANN));
  }

  @Test
  void someAdministratorCanAlwaysLogIn() {
    SessionId root = withUsers();
    alter(root, ANN, Change.MAKE_ADMINISTRATOR, null);
    SessionId ann = core.open(ANN);
    for (Outcome outcome : List.of(lock(root, ROOT), lock(ann, ANN))) {
      assertEquals(RefusalCode.USER_STATE, CoreDriver.refusal(outcome), "of itself");
    }
    assertEquals(new Outcome.Answered(true), validUntil(root, ANN, Long.MAX_VALUE - 1));
    // ANN will be an administrator that cannot log in
    for (Outcome outcome :
        List.of(
            validUntil(root, ROOT, Long.MAX_VALUE - 1),
            lock(ann, ROOT),
            drop(ann, ROOT),
            alter(ann, ROOT, Change.MAKE_ORDINARY, null))) {
      assertEquals(RefusalCode.USER_STATE, CoreDriver.refusal(outcome));
    }
    assertEquals(new Outcome.Answered(true), validUntil(root, ROOT, UserAccount.ALWAYS));
    assertEquals(new Outcome.Answered(true), lock(root, ANN));
    assertEquals(new Outcome.Answered(true), validUntil(root, ANN, UserAccount.ALWAYS));
    assertEquals(
        RefusalCode.USER_STATE, CoreDriver.refusal(validUntil(root, ROOT, 1)), "ANN is locked");
    unlock(root, ANN);
    assertEquals(new Outcome.Answered(true), validUntil(root, ROOT, 1));
    core.machine.checkInvariants();
  }

  @Test
  void firstAdministratorDoesNotExpire() {
    UserAccount expiring = ADMINISTRATOR.validUntil(Long.MAX_VALUE - 1);
    assertThrows(IllegalArgumentException.class, () -> new Command.CreateFirstUser(expiring));
    Outcome outcome = core.perform(core.open(), new Operation.CreateUser(expiring, false));
    assertEquals(RefusalCode.USER_STATE, CoreDriver.refusal(outcome));
  }

  @Test
  void sessionWithoutUserHasNoPasswordToSet() {
    Outcome outcome = alter(core.open(), null, Change.SET_PASSWORD, password("one"));
    assertEquals(RefusalCode.USER_STATE, CoreDriver.refusal(outcome));
  }

  @Test
  void everythingOfADroppedUserEnds() {
    SessionId root = withUsers();
    SessionId bob = core.open(BOB);
    List<SessionId> anns = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      anns.add(core.open(ANN));
    }
    core.take(bob, "bob's");
    core.take(anns.get(0), "own");
    LeaseId created = core.lease(anns.get(0));
    core.acquire(anns.get(0), "created", created);
    core.take(anns.get(0), "kept");
    core.perform(anns.get(0), new Operation.ReleaseLock(new LockName("kept"), null, 60_000));
    assertInstanceOf(Outcome.Waiting.class, core.acquire(anns.get(1), "bob's", null));
    assertInstanceOf(Outcome.Waiting.class, core.perform(anns.get(2), locked("bob's")));
    core.perform(anns.get(3), row("r"));
    core.perform(
        anns.get(3),
        new Operation.AcquireTransactionLock(
            new LockName("until the end"), 0, TransactionScope.READ_COMMITTED));
    assertInstanceOf(Outcome.Waiting.class, core.perform(anns.get(4), row("r")));
    core.apply(new Command.CloseSession(anns.get(5)));
    int executions = core.store.executions;
    assertEquals(new Outcome.Answered(true), drop(root, ANN));
    assertEquals(executions, core.store.executions, "no statement of the user runs");
    assertEquals(2, core.machine.state().sessions().size(), "ROOT's and BOB's");
    assertTrue(core.machine.state().leases().stream().allMatch(lease -> lease.user().equals(BOB)));
    assertEquals(1, core.machine.state().locks().size(), "BOB's");
    assertEquals(1, tokenOf("bob's"));
    assertTrue(core.store.transactions.isEmpty());
    assertTrue(core.machine.state().transactions().isEmpty());
    assertEquals(RefusalCode.AUTHENTICATION_FAILED, CoreDriver.refusal(core.tryOpen(ANN)));
    assertEquals(new Outcome.Answered(true), create(root, ANN, /* administrator= */ false));
    for (SessionId ann : anns) {
      assertEquals(RefusalCode.SESSION_GONE, CoreDriver.refusal(core.perform(ann, locked("x"))));
    }
  }

  /** Not to other sessions of the user, which end too. */
  @Test
  void locksOfADroppedUserGoToOthers() {
    SessionId root = withUsers();
    SessionId first = core.open(ANN);
    SessionId second = core.open(ANN);
    SessionId third = core.open(ANN);
    SessionId bob = core.open(BOB);
    core.take(first, "x");
    core.acquire(second, "x", null);
    core.perform(third, locked("x"));
    core.acquire(bob, "x", null);
    drop(root, ANN);
    assertEquals(2, CoreDriver.token(core.completed(bob)));
    assertNull(core.store.written.get("t"));
  }

  /** A statement that waited for what has ended would run as a user that is gone. */
  @Test
  void noStatementOfADroppedUserRuns() {
    SessionId root = withUsers();
    SessionId holder = core.open(ANN);
    core.perform(holder, row("r"));
    for (int i = 0; i < 3; i++) {
      assertInstanceOf(Outcome.Waiting.class, core.perform(core.open(ANN), row("r")));
    }
    SessionId bob = core.open(BOB);
    assertInstanceOf(Outcome.Waiting.class, core.perform(bob, row("r")));
    int before = core.store.executions;
    drop(root, ANN);
    assertEquals(before + 1, core.store.executions, "BOB's");
    assertInstanceOf(Outcome.Executed.class, core.completed(bob));
    assertEquals(4, core.store.ended.size(), () -> "transactions of ANN: " + core.store.ended);
    assertTrue(core.store.transactions.containsKey(bob));
  }

  @Test
  void numberOfUsersIsBounded() {
    core.apply(new Command.CreateFirstUser(ADMINISTRATOR));
    SessionId root = core.open(ROOT);
    for (int i = 1; i < Limits.USERS; i++) {
      assertEquals(new Outcome.Answered(true), create(root, new UserName("U" + i), false));
    }
    Outcome.Refused full =
        assertInstanceOf(Outcome.Refused.class, create(root, new UserName("MORE"), false));
    assertEquals(RefusalCode.LIMIT_REACHED, full.code());
    assertTrue(full.message().contains("the number of users is 10000"), full.message());
    drop(root, new UserName("U1"));
    assertEquals(new Outcome.Answered(true), create(root, new UserName("MORE"), false));
  }

  @Test
  void snapshotHasUsersRightsAndOwners() throws CorruptSnapshotException {
    SessionId root = withUsers();
    SessionId ann = core.open(ANN);
    SessionId bob = core.open(BOB);
    create(root, new UserName("DAN"), /* administrator= */ false);
    grant(root, Right.Kind.LOCK, "100\\%", "ANN");
    grant(root, Right.Kind.FORCE, "x%", "BOB");
    core.perform(
        root,
        new Operation.ChangeRight(true, new Right(Right.Kind.SEQUENCE, "PUBLIC", "S", "ANN")));
    alter(root, ANN, Change.ADD_PASSWORD, password("two"));
    lock(root, new UserName("DAN"));
    validUntil(root, BOB, 77);
    core.take(ann, "x");
    core.lease(ann);
    core.take(ann, "kept");
    core.perform(ann, new Operation.ReleaseLock(new LockName("kept"), null, 60_000));
    core.acquire(bob, "x", null);
    StateMachine restored = new StateMachine(core.store);
    for (StateRecord state : core.machine.copy()) {
      WireWriter body = new WireWriter();
      int kind = StateCodec.write(body, state);
      StateRecord read = StateCodec.read(kind, new WireReader(body.toByteArray()));
      assertEquals(state, read);
      restored.restore(read);
    }
    assertEquals(records(core.machine), records(restored));
    assertEquals(core.machine.state().loginSecret(), restored.state().loginSecret());
    LogPosition next = new LogPosition(10_000, 0, 1_000_000_000);
    Command drop =
        new Command.Perform(root, core.nextSequence(root), new Operation.DropUser(ANN, false));
    restored.apply(next, drop);
    core.machine.apply(next, drop);
    restored.checkInvariants();
    assertEquals(records(core.machine), records(restored));
    assertNotEquals(List.of(), restored.state().rights());
  }

  private static List<StateRecord> records(StateMachine machine) {
    List<StateRecord> records = new ArrayList<>();
    machine.copy().forEach(records::add);
    return records;
  }
}
