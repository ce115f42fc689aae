package dev.tollgate.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.LockDefinition;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.LogPosition;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TransactionScope;
import dev.tollgate.core.command.UserAccount;
import dev.tollgate.core.command.UserName;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Whatever the replicated state may hold is bounded, and refused beyond. */
class CapacityTest {
  private static final Capacity SMALL =
      new Capacity(
          /* sessions= */ 8,
          /* sessionsPerUser= */ 3,
          /* leases= */ 5,
          /* leasesPerUser= */ 2,
          /* holds= */ 6,
          /* holdsPerUser= */ 4,
          /* transactionsPerUser= */ 2,
          /* holdersPerLock= */ 3,
          /* holdersPerLockAndUser= */ 1,
          /* waitersPerLock= */ 2,
          /* waitersPerLockAndLease= */ 1,
          /* lockDefinitions= */ 3,
          /* waitingStatements= */ 2,
          /* waitingStatementsPerUser= */ 1,
          /* waitingBytes= */ 10_000,
          /* waitingBytesPerUser= */ 5_000,
          /* answerBytes= */ 20_000);

  private static final UserName ALICE = new UserName("ALICE");
  private static final UserName BOB = new UserName("BOB");

  private final CoreDriver core = new CoreDriver(SMALL);
  private final List<SessionId> sessions = new ArrayList<>();

  @BeforeEach
  void open() {
    for (int i = 0; i < SMALL.sessions(); i++) {
      sessions.add(core.open());
    }
  }

  @Test
  void sessions() {
    Command open = new Command.OpenSession(CoreDriver.CLIENT, 1, 60_000, 15_000);
    assertRefused("open sessions is 8", core.apply(open));
    core.apply(new Command.CloseSession(sessions.get(0)));
    assertInstanceOf(Outcome.SessionOpened.class, core.apply(open));
  }

  @Test
  void leases() {
    LeaseId first = core.lease(sessions.get(0));
    for (int i = 1; i < SMALL.leases(); i++) {
      core.lease(sessions.get(0));
    }
    assertRefused(
        "live leases is 5",
        core.perform(sessions.get(1), new Operation.CreateLease(60_000, "owner")));
    assertRefused("live leases is 5", core.acquire(sessions.get(1), "x", null));
    core.perform(sessions.get(0), new Operation.RevokeLease(first));
    assertEquals(1, core.take(sessions.get(1), "x"), "no token was spent");
  }

  @Test
  void sharesOfOneUser() {
    CoreDriver users = new CoreDriver(SMALL);
    users.apply(new Command.CreateFirstUser(new UserAccount(ALICE, true, List.of("m$s$k"))));
    List<SessionId> ofAlice = new ArrayList<>();
    Command open = new Command.OpenSession(CoreDriver.CLIENT, 1, 60_000, 15_000, ALICE);
    for (int i = 0; i < SMALL.sessionsPerUser(); i++) {
      ofAlice.add(((Outcome.SessionOpened) users.apply(open)).session());
    }
    assertRefused("open sessions of user ALICE is 3", users.apply(open));
    LeaseId first = users.lease(ofAlice.get(0));
    users.lease(ofAlice.get(1));
    assertRefused("live leases of user ALICE is 2", users.acquire(ofAlice.get(2), "x", null));
    users.perform(ofAlice.get(0), new Operation.RevokeLease(first));
    assertEquals(1, users.take(ofAlice.get(2), "x"));
    for (int i = 1; i < SMALL.holdsPerUser(); i++) {
      users.take(ofAlice.get(2), "x" + i);
    }
    assertRefused("held locks of user ALICE is 4", users.acquire(ofAlice.get(2), "y", null));
    users.release(ofAlice.get(2), "x1");
    users.take(ofAlice.get(2), "y");
    Operation begin = new Operation.BeginTransaction(TransactionScope.READ_COMMITTED);
    assertEquals(new Outcome.Done(), users.perform(ofAlice.get(0), begin));
    assertEquals(new Outcome.Done(), users.perform(ofAlice.get(1), begin));
    assertRefused("open transactions of user ALICE is 2", users.perform(ofAlice.get(2), begin));
    users.perform(ofAlice.get(1), new Operation.EndTransaction(/* commit= */ true));
    assertEquals(new Outcome.Done(), users.perform(ofAlice.get(2), begin));
    users.machine.checkInvariants();
    users.apply(new Command.CloseSession(ofAlice.get(0)));
    assertInstanceOf(Outcome.SessionOpened.class, users.apply(open));
  }

  @Test
  void heldLocks() {
    for (int i = 0; i < SMALL.holds(); i++) {
      core.take(sessions.get(0), "lock" + i);
    }
    assertRefused("held locks is 6", core.acquire(sessions.get(0), "more", null));
    assertEquals(1, core.take(sessions.get(0), "lock0"), "what is held may be asked for again");
    assertInstanceOf(Outcome.Waiting.class, core.acquire(sessions.get(1), "lock0", null));
    core.release(sessions.get(0), "lock0");
    assertRefused("held locks is 6", core.acquire(sessions.get(0), "more", null));
    core.release(sessions.get(0), "lock1");
    core.take(sessions.get(0), "more");
  }

  @Test
  void holdersOfOneLock() {
    for (int i = 0; i < SMALL.holdersPerLock(); i++) {
      shared(i, "x");
    }
    assertRefused("hold lock 'x' in shared mode is 3", shared(3, "x"));
    assertInstanceOf(Outcome.Granted.class, shared(3, "y"));
    core.release(sessions.get(0), "x");
    assertInstanceOf(Outcome.Granted.class, shared(3, "x"));
  }

  @Test
  void holdersOfOneLockOfAUser() {
    CoreDriver users = new CoreDriver(SMALL);
    SessionId first = openWithUsers(users);
    SessionId second = opened(users, ALICE);
    SessionId other = opened(users, BOB);
    assertInstanceOf(Outcome.Granted.class, shared(users, first, 0));
    assertRefused("hold lock 'x' in shared mode of user ALICE is 1", shared(users, second, 0));
    assertInstanceOf(Outcome.Granted.class, shared(users, other, 0));
    assertRefused("hold lock 'x' in shared mode of user ALICE is 1", shared(users, second, 0));
    users.release(first, "x");
    assertInstanceOf(Outcome.Granted.class, shared(users, second, 0));
  }

  /** A wait is no way around the limit. */
  @Test
  void holdersOfOneLockThatHaveWaited() {
    CoreDriver users = new CoreDriver(SMALL);
    SessionId first = openWithUsers(users);
    SessionId second = opened(users, ALICE);
    SessionId other = opened(users, BOB);
    users.take(other, "x");
    assertInstanceOf(Outcome.Waiting.class, shared(users, first, CoreDriver.WAIT_MILLIS));
    assertInstanceOf(Outcome.Waiting.class, shared(users, second, CoreDriver.WAIT_MILLIS));
    users.release(other, "x");
    assertInstanceOf(Outcome.Granted.class, users.completed(first));
    assertRefused("in shared mode of user ALICE is 1", users.completed(second));
  }

  /** A session of one of two users. */
  private static SessionId openWithUsers(CoreDriver users) {
    users.apply(new Command.CreateFirstUser(new UserAccount(ALICE, true, List.of("m$s$k"))));
    SessionId session = opened(users, ALICE);
    users.perform(
        session,
        new Operation.CreateUser(
            new UserAccount(BOB, true, List.of("m$s$k")), /* lenient= */ false));
    return session;
  }

  private static Outcome shared(CoreDriver users, SessionId session, long waitMillis) {
    return users.acquire(session, "x", null, LockMode.SHARED, waitMillis);
  }

  @Test
  void waitsOfOneLeaseForOneLock() {
    LeaseId lease = core.lease(sessions.get(0));
    core.take(sessions.get(1), "x");
    assertInstanceOf(Outcome.Waiting.class, core.acquire(sessions.get(2), "x", lease));
    assertRefused(
        "requests of lease " + lease + " that wait for lock 'x' is 1",
        core.acquire(sessions.get(3), "x", lease));
    assertInstanceOf(Outcome.Waiting.class, core.acquire(sessions.get(3), "x", null));
  }

  private Outcome shared(int session, String lock) {
    return core.acquire(sessions.get(session), lock, null, LockMode.SHARED, 0);
  }

  @Test
  void waitersForOneLock() {
    core.take(sessions.get(0), "x");
    assertInstanceOf(Outcome.Waiting.class, core.acquire(sessions.get(1), "x", null));
    assertInstanceOf(Outcome.Waiting.class, core.acquire(sessions.get(2), "x", null));
    assertRefused("wait for lock 'x' is 2", core.acquire(sessions.get(3), "x", null));
    core.release(sessions.get(0), "x");
    assertInstanceOf(Outcome.Waiting.class, core.acquire(sessions.get(3), "x", null));
  }

  @Test
  void definedLocks() {
    for (int i = 0; i < SMALL.lockDefinitions(); i++) {
      assertEquals(new Outcome.Answered(true), define("lock" + i));
    }
    assertRefused("defined locks is 3", define("more"));
    core.perform(sessions.get(0), new Operation.DropLock(new LockName("lock0"), false));
    assertEquals(new Outcome.Answered(true), define("more"));
  }

  private Outcome define(String lock) {
    LockDefinition definition = new LockDefinition(new LockName(lock), 2);
    return core.perform(sessions.get(0), new Operation.DefineLock(definition, false));
  }

  /** Of those that are to be held together, none is held if not all can be. */
  @Test
  void heldLocksOfASet() {
    for (int i = 0; i < SMALL.holds() - 1; i++) {
      core.take(sessions.get(0), "lock" + i);
    }
    assertRefused("held locks is 6", all("one", "two"));
    assertEquals(6, core.take(sessions.get(1), "one"), "no token was spent");
  }

  @Test
  void waitersForOneLockOfASet() {
    core.take(sessions.get(0), "x");
    core.acquire(sessions.get(2), "x", null);
    core.acquire(sessions.get(3), "x", null);
    assertRefused("wait for lock 'x' is 2", all("free", "x"));
    assertEquals(2, core.take(sessions.get(0), "free"), "it waits nowhere");
  }

  private Outcome all(String... names) {
    return core.perform(
        sessions.get(1),
        new Operation.AcquireLocks(
            Stream.of(names).map(LockName::new).toList(), null, CoreDriver.WAIT_MILLIS));
  }

  /** A lock that would have to be kept by a lease too many stays held. */
  @Test
  void leasesThatKeepLocks() {
    for (int i = 0; i < SMALL.leases(); i++) {
      core.take(sessions.get(i), "lock" + i);
    }
    assertRefused(
        "live leases is 5",
        core.perform(
            sessions.get(0), new Operation.ReleaseLock(new LockName("lock0"), null, 1_000)));
    assertRefused(
        "live leases is 5",
        core.perform(
            sessions.get(5),
            new Operation.AcquireTransactionLock(
                new LockName("x"), 0, TransactionScope.READ_COMMITTED)));
    assertRefused(
        "live leases is 5",
        core.perform(
            sessions.get(6),
            FakeSqlStore.statement(
                "WRITE t", List.of(FakeSqlStore.locked("v", "x")), TransactionScope.AUTOCOMMIT)));
    assertEquals(1, HeldLocks.lockToken(core.machine.state(), new LockName("lock0")).value());
  }

  @Test
  void lockedStatementsThatWait() {
    core.take(sessions.get(0), "x");
    core.take(sessions.get(0), "y");
    assertInstanceOf(Outcome.Waiting.class, locked(1, "x"));
    assertInstanceOf(Outcome.Waiting.class, locked(2, "x"));
    assertRefused("wait for lock 'x' is 2", locked(3, "x"));
    assertRefused("2 statements", locked(3, "y"));
    assertEquals(3, core.machine.state().leases().size(), "of the holder and of those that wait");
  }

  private Outcome locked(int session, String lock) {
    return core.perform(
        sessions.get(session),
        FakeSqlStore.statement(
            "WRITE t", List.of(FakeSqlStore.locked("v", lock)), TransactionScope.AUTOCOMMIT));
  }

  @Test
  void statementsThatWait() {
    core.perform(sessions.get(0), new Operation.BeginTransaction(TransactionScope.SERIALIZABLE));
    assertInstanceOf(Outcome.Waiting.class, write(1, "a"));
    Outcome.Batch tooLong =
        assertInstanceOf(Outcome.Batch.class, batch(2, "b".repeat(10_000)), "its sets one by one");
    assertRefused("1 statements", tooLong.outcomes().get(0));
    assertInstanceOf(Outcome.Waiting.class, write(3, "c"));
    assertRefused("2 statements", write(4, "d"));
    core.perform(sessions.get(0), new Operation.EndTransaction(true));
    assertEquals(List.of("a", "c"), core.store.written.get("t"));
    assertInstanceOf(Outcome.Executed.class, write(4, "d"));
  }

  @Test
  void statementsOfOneUserThatWait() {
    CoreDriver users = new CoreDriver(SMALL);
    SessionId holder = openWithUsers(users);
    SessionId first = opened(users, BOB);
    SessionId second = opened(users, BOB);
    SessionId other = opened(users, ALICE);
    users.perform(holder, new Operation.BeginTransaction(TransactionScope.SERIALIZABLE));
    assertRefused(
        "bytes of waiting statements of user BOB",
        users.perform(first, FakeSqlStore.write("WRITE t", "x".repeat(5_000), null, true)));
    Operation small = FakeSqlStore.write("WRITE t", "a", null, true);
    assertInstanceOf(Outcome.Waiting.class, users.perform(first, small));
    assertRefused("waiting statements of user BOB is 1", users.perform(second, small));
    assertInstanceOf(Outcome.Waiting.class, users.perform(other, small), "of another user");
    users.machine.checkInvariants();
    users.perform(holder, new Operation.EndTransaction(true));
    users.machine.checkInvariants();
    assertInstanceOf(Outcome.Executed.class, users.perform(second, small));
  }

  private static SessionId opened(CoreDriver users, UserName user) {
    Command open = new Command.OpenSession(CoreDriver.CLIENT, 1, 60_000, 15_000, user);
    return ((Outcome.SessionOpened) users.apply(open)).session();
  }

  private Outcome write(int session, String value) {
    return core.perform(sessions.get(session), FakeSqlStore.write("WRITE t", value, null, true));
  }

  private Outcome batch(int session, String value) {
    return core.perform(
        sessions.get(session),
        FakeSqlStore.batch("WRITE t", List.of(FakeSqlStore.set(value, null))));
  }

  @Test
  void largestAnswerOfAnotherSessionIsGivenUp() {
    answer(0, 5_000);
    answer(1, 9_000);
    answer(2, 1_000);
    answer(3, 9_000);
    assertInstanceOf(Outcome.Executed.class, again(0));
    assertGivenUp(1);
    assertInstanceOf(Outcome.Executed.class, again(2), "small ones are kept");
    assertInstanceOf(Outcome.Executed.class, again(3));
    answer(4, 30_000);
    assertGivenUp(0);
    assertGivenUp(3);
    assertGivenUp(4);
  }

  @Test
  void nextOperationMakesRoom() {
    for (int i = 0; i < 10; i++) {
      answer(0, 15_000);
      answer(1, 4_000);
    }
    assertInstanceOf(Outcome.Executed.class, again(0));
    assertInstanceOf(Outcome.Executed.class, again(1));
    core.apply(new Command.CloseSession(sessions.get(0)));
    answer(2, 15_000);
    assertInstanceOf(Outcome.Executed.class, again(1));
  }

  /** Else replicas that were restored would give up others than those that were not. */
  @Test
  void replicaFromASnapshotGivesUpTheSameAnswers() {
    answer(3, 6_000);
    answer(1, 6_000);
    answer(2, 6_000);
    StateMachine restored = new StateMachine(core.store, SMALL);
    core.machine.copy().forEach(restored::restore);
    Command next = answerOf(0, 6_000);
    LogPosition at = new LogPosition(10_000, 0, 10_000_000);
    restored.apply(at, next);
    core.machine.apply(at, next);
    restored.checkInvariants();
    assertGivenUp(1);
    assertEquals(records(core.machine), records(restored));
  }

  private static List<StateRecord> records(StateMachine machine) {
    List<StateRecord> records = new ArrayList<>();
    machine.copy().forEach(records::add);
    return records;
  }

  private void answer(int session, int sizeBytes) {
    assertInstanceOf(Outcome.Executed.class, core.apply(answerOf(session, sizeBytes)));
  }

  private Command answerOf(int session, int sizeBytes) {
    SessionId id = sessions.get(session);
    return new Command.Perform(id, core.nextSequence(id), statement(sizeBytes));
  }

  private static Operation statement(int sizeBytes) {
    return FakeSqlStore.write("ANSWER " + sizeBytes, "", null, true);
  }

  /** The session asks again for its last answer. */
  private Outcome again(int session) {
    SessionId id = sessions.get(session);
    Outcome kept = core.machine.state().session(id).lastOutcome();
    int size = kept instanceof Outcome.Executed executed ? executed.result().sizeBytes() : 0;
    return core.apply(new Command.Perform(id, core.lastSequence(id), statement(size)));
  }

  private void assertGivenUp(int session) {
    Outcome outcome = core.machine.state().session(sessions.get(session)).lastOutcome();
    assertEquals(RefusalCode.SEQUENCE_PASSED, CoreDriver.refusal(outcome));
    assertTrue(((Outcome.Refused) outcome).message().contains("was carried out"));
  }

  private static void assertRefused(String limit, Outcome outcome) {
    Outcome.Refused refused = assertInstanceOf(Outcome.Refused.class, outcome);
    assertEquals(RefusalCode.LIMIT_REACHED, refused.code());
    assertTrue(refused.message().contains(limit), refused.message());
  }
}
