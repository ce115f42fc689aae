package dev.tollgate.node.replica;

import static java.util.Objects.requireNonNull;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import dev.tollgate.core.ClusterState;
import dev.tollgate.core.command.AppliedDigest;
import dev.tollgate.core.command.ClientInfo;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Notice;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TransactionLimits;
import dev.tollgate.core.command.TransactionScope;
import dev.tollgate.log.CommandPipeline;
import dev.tollgate.log.LogClock;
import dev.tollgate.log.MemoryLog;
import dev.tollgate.log.Supervision;
import dev.tollgate.log.entry.Proposal;
import dev.tollgate.store.SqlDatabase;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;

/** Time passes when the test says so; the keeper's own thread looks at it every 50 ms. */
class TimeKeeperTest {
  private static final Duration DEADLINE = Duration.ofSeconds(20);
  private static final long TTL_MILLIS = 2_000;

  private final AtomicLong nanos = new AtomicLong(1);
  private final Replica replica = new Replica("n1", new SqlDatabase());
  private final MemoryLog log = new MemoryLog("n1", replica, Runnable::run);
  private final Supervision supervision = new Supervision("n1", replica::failed);
  private final CommandPipeline pipeline =
      new CommandPipeline(
          log,
          LogClock.of("n1", Clock.systemUTC(), log),
          1 << 20,
          supervision,
          command -> null,
          () -> AppliedDigest.NONE);

  /** What the keeper meets when it looks at its clock, or null. */
  private volatile @Nullable RuntimeException fault;

  private final TimeKeeper keeper =
      new TimeKeeper("n1", pipeline, supervision, () -> false, new LeaseClock(this::time));
  private long sequence;

  private long time() {
    RuntimeException met = fault;
    if (met != null) {
      throw met;
    }
    return nanos.get();
  }

  /** Hears of what happens before the keeper does. */
  private volatile Consumer<Notice> first = notice -> {};

  @BeforeEach
  void start() {
    replica.addListener(
        new Replica.Listener() {
          @Override
          public void startedLeading(ClusterState state) {}

          @Override
          public void stoppedLeading() {}

          @Override
          public void noticed(Notice notice) {
            first.accept(notice);
          }

          @Override
          public void failed(Throwable cause) {}
        });
    replica.addListener(keeper);
    keeper.start();
    log.start();
  }

  @AfterEach
  void stop() {
    keeper.close();
    log.close();
  }

  @Test
  void leaseThatIsNotRenewedEnds() {
    LeaseId lease = createLease(open());
    pass(TTL_MILLIS - 100);
    assertTrue(isAlive(lease));
    pass(200);
    await().atMost(DEADLINE).until(() -> !isAlive(lease));
  }

  /** A node that leads and never expires anything is worse than none. */
  @Test
  void timeKeeperThatFailsStopsTheReplica() {
    createLease(open());
    fault = new IllegalStateException("a bug, on purpose");
    await().atMost(DEADLINE).until(() -> replica.failure() != null);
    assertEquals(fault, requireNonNull(replica.failure()).getCause());
    assertFalse(replica.isLeading());
  }

  /** Writing the line may take a while: the disk of the log may be the reason for the failure. */
  @Test
  void failedReplicaDoesNotLeadWhileItLogsWhy() {
    List<Boolean> led = new CopyOnWriteArrayList<>();
    AppenderBase<ILoggingEvent> asks =
        new AppenderBase<>() {
          @Override
          protected void append(ILoggingEvent event) {
            led.add(replica.isLeading());
          }
        };
    Logger logger = (Logger) LoggerFactory.getLogger(Replica.class);
    asks.start();
    logger.addAppender(asks);
    try {
      assertTrue(replica.isLeading());
      replica.failed(new IllegalStateException("a bug, on purpose"));
    } finally {
      logger.detachAppender(asks);
    }
    assertEquals(List.of(false), led);
  }

  @Test
  void noticeThatTheTimeKeeperCannotTakeStopsTheReplica() {
    SessionId session = open();
    fault = new IllegalStateException("a bug, on purpose");
    createLease(session);
    await().atMost(DEADLINE).until(() -> replica.failure() != null);
    assertFalse(replica.isLeading());
  }

  @Test
  void transactionsMakeWayForASnapshotThatHasWaited() {
    SessionId session = begin();
    keeper.snapshotNeedsGap(true);
    pass(1_000);
    keeper.snapshotNeedsGap(false);
    pass(1_000);
    keeper.snapshotNeedsGap(true);
    pass(Limits.SNAPSHOT_PATIENCE_MILLIS - 100);
    assertTrue(isInTransaction(session), "the last snapshot has not waited for long");
    pass(200);
    await().atMost(DEADLINE).until(() -> !isInTransaction(session));
  }

  @Test
  void limitsThatAreSetHoldForOpenTransactionsToo() {
    SessionId idle = begin();
    pass(1_500);
    assertTrue(isInTransaction(idle));
    limit(10_000, 1_000);
    pass(1);
    await().atMost(DEADLINE).until(() -> !isInTransaction(idle));
    limit(1_800, 60_000);
    SessionId old = begin();
    pass(1_700);
    assertTrue(isInTransaction(old));
    pass(200);
    await().atMost(DEADLINE).until(() -> !isInTransaction(old));
  }

  @Test
  void nodeThatBeginsToLeadKnowsTheLimits() {
    limit(10_000, 1_000);
    SessionId session = begin();
    leadAnew();
    pass(1_100);
    await().atMost(DEADLINE).until(() -> !isInTransaction(session));
  }

  @Test
  void transactionEndsWhenItsProcessHasLeftAndDoesNotComeBack() {
    SessionId session = begin();
    leave(session);
    pass(Limits.RETURN_PATIENCE_MILLIS - 100);
    assertTrue(isInTransaction(session));
    pass(200);
    await().atMost(DEADLINE).until(() -> !isInTransaction(session));
  }

  @Test
  void transactionThatBeginsAfterItsProcessHasLeftEndsToo() {
    SessionId session = open();
    leave(session);
    perform(session, new Operation.BeginTransaction(TransactionScope.READ_COMMITTED));
    pass(Limits.RETURN_PATIENCE_MILLIS + 100);
    await().atMost(DEADLINE).until(() -> !isInTransaction(session));
  }

  @Test
  void processThatComesBackKeepsItsTransactions() {
    SessionId renewed = begin();
    SessionId attached = begin();
    SessionId gone = begin();
    leave(renewed, attached, gone);
    pass(Limits.RETURN_PATIENCE_MILLIS / 2);
    assertEquals(TimeKeeper.Renewal.RENEWED, keeper.renew(renewed, keeper.now()));
    keeper.returned(attached, keeper.now());
    pass(Limits.RETURN_PATIENCE_MILLIS);
    await().atMost(DEADLINE).until(() -> !isInTransaction(gone));
    assertTrue(isInTransaction(renewed));
    assertTrue(isInTransaction(attached));
  }

  /** What the process sent before it left may be answered late. */
  @Test
  void renewalThatArrivedBeforeItsProcessLeftIsNoSignOfLife() {
    SessionId session = begin();
    long arrived = keeper.now();
    nanos.incrementAndGet();
    leave(session);
    assertEquals(TimeKeeper.Renewal.RENEWED, keeper.renew(session, arrived));
    keeper.returned(session, arrived);
    pass(Limits.RETURN_PATIENCE_MILLIS + 100);
    await().atMost(DEADLINE).until(() -> !isInTransaction(session));
  }

  @Test
  void processThatIsConnectedAgainHasNotLeft() {
    SessionId session = begin();
    keeper.left(List.of(session), keeper.now(), () -> false);
    pass(Limits.RETURN_PATIENCE_MILLIS + 100);
    SessionId gone = begin();
    leave(gone);
    pass(Limits.RETURN_PATIENCE_MILLIS + 100);
    await().atMost(DEADLINE).until(() -> !isInTransaction(gone));
    assertTrue(isInTransaction(session));
  }

  /** Its process may be on the way here. */
  @Test
  void nodeThatBeginsToLeadKnowsOfNoProcessThatHasLeft() {
    SessionId session = begin();
    leave(session);
    leadAnew();
    pass(Limits.RETURN_PATIENCE_MILLIS + 100);
    SessionId gone = begin();
    leave(gone);
    pass(Limits.RETURN_PATIENCE_MILLIS + 100);
    await().atMost(DEADLINE).until(() -> !isInTransaction(gone));
    assertTrue(isInTransaction(session));
  }

  @Test
  void transactionEndsWhenItsProcessDoesNotShowItselfToTheNextLeader() {
    SessionId session = beginInLongSession();
    leadAnew();
    pass(Limits.SHOW_PATIENCE_MILLIS - 100);
    assertTrue(isInTransaction(session));
    pass(200);
    await().atMost(DEADLINE).until(() -> !isInTransaction(session));
    assertTrue(isOpen(session), "the session and its leases go on");
  }

  @Test
  void transactionThatBeginsBeforeItsProcessHasShownItselfEndsToo() {
    SessionId session = openLong("p");
    leadAnew();
    perform(session, new Operation.BeginTransaction(TransactionScope.READ_COMMITTED));
    pass(Limits.SHOW_PATIENCE_MILLIS + 100);
    await().atMost(DEADLINE).until(() -> !isInTransaction(session));
  }

  /** Each sign of life, when it comes, and whether it is one to this leader. */
  @ParameterizedTest
  @CsvSource({
    "HEARTBEAT, 0, true",
    "HEARTBEAT, 9000, true",
    "ATTACH, 0, true",
    "ATTACH, 9000, true",
    "CONNECTION, 0, true",
    "EARLIER_HEARTBEAT, 0, false",
    "EARLIER_ATTACH, 0, false",
    "NONE, 0, false"
  })
  void processThatShowsItselfToTheNextLeaderKeepsItsTransactions(
      String sign, long afterMillis, boolean lives) {
    SessionId session = beginInLongSession();
    SessionId silent = beginInLongSession();
    long before = keeper.now();
    nanos.incrementAndGet();
    leadAnew();
    pass(afterMillis);
    switch (sign) {
      case "HEARTBEAT" -> keeper.renew(session, keeper.now());
      case "ATTACH" -> keeper.returned(session, keeper.now());
      case "CONNECTION" -> keeper.askWhetherConnected(session::equals);
      case "EARLIER_HEARTBEAT" -> keeper.renew(session, before);
      case "EARLIER_ATTACH" -> keeper.returned(session, before);
      default -> {}
    }
    pass(2 * Limits.SHOW_PATIENCE_MILLIS);
    await().atMost(DEADLINE).until(() -> !isInTransaction(silent));
    if (lives) {
      assertTrue(isInTransaction(session));
    } else {
      await().atMost(DEADLINE).until(() -> !isInTransaction(session));
    }
  }

  /** When thousands of clients move at once, the last of them may take longer than one of few. */
  @Test
  void nobodyIsSilentWhileOthersStillShowThemselves() {
    List<SessionId> moving = Stream.generate(this::beginInLongSession).limit(4).toList();
    SessionId silent = beginInLongSession();
    leadAnew();
    pass(Limits.SHOW_PATIENCE_MILLIS - 2_000);
    for (SessionId each : moving) {
      keeper.renew(each, keeper.now());
      pass(Limits.SHOW_PAUSE_MILLIS - 100);
      // only the first sign of a process says that processes are still on the way
      keeper.renew(moving.get(0), keeper.now());
      assertTrue(isInTransaction(silent));
    }
    keeper.renew(moving.get(0), keeper.now());
    pass(200);
    await().atMost(DEADLINE).until(() -> !isInTransaction(silent));
    moving.forEach(each -> assertTrue(isInTransaction(each)));
  }

  /** A network that gives a connection up says nothing of the process at the other end. */
  @Test
  void connectionThatWasThereCountsAlsoOnceItIsCutOff() {
    SessionId session = beginInLongSession();
    AtomicBoolean connected = new AtomicBoolean(true);
    // cut off once this keeper has seen it
    keeper.askWhetherConnected(any -> connected.getAndSet(false));
    leadAnew();
    pass(Limits.SHOW_PATIENCE_MILLIS + 100);
    await().atMost(DEADLINE).until(() -> !connected.get());
    SessionId gone = begin();
    leave(gone);
    pass(Limits.RETURN_PATIENCE_MILLIS + 100);
    await().atMost(DEADLINE).until(() -> !isInTransaction(gone));
    assertTrue(isInTransaction(session));
  }

  @Test
  void eachLeaderGivesProcessesTheirTimeToShowThemselves() {
    SessionId session = beginInLongSession();
    for (int i = 0; i < 3; i++) {
      leadAnew();
      pass(Limits.SHOW_PATIENCE_MILLIS - 100);
    }
    assertTrue(isInTransaction(session));
    pass(200);
    await().atMost(DEADLINE).until(() -> !isInTransaction(session));
  }

  /** The console of a node, for example, sends no heartbeats. */
  @Test
  void clientThatDoesNotNameItsProcessKeepsItsTransactions() {
    SessionId nameless = openLong("");
    perform(nameless, new Operation.BeginTransaction(TransactionScope.READ_COMMITTED));
    SessionId silent = beginInLongSession();
    leadAnew();
    pass(Limits.SHOW_PATIENCE_MILLIS + 100);
    await().atMost(DEADLINE).until(() -> !isInTransaction(silent));
    assertTrue(isInTransaction(nameless));
  }

  private void leadAnew() {
    replica
        .state()
        .<@Nullable Void>look(
            state -> {
              keeper.stoppedLeading();
              keeper.startedLeading(state);
              return null;
            });
  }

  private SessionId openLong(String process) {
    Outcome outcome =
        apply(
            new Command.OpenSession(
                new ClientInfo("a", "h", process),
                1,
                Duration.ofHours(1).toMillis(),
                Duration.ofHours(1).toMillis()));
    return ((Outcome.SessionOpened) outcome).session();
  }

  private SessionId beginInLongSession() {
    SessionId session = openLong("p");
    perform(session, new Operation.BeginTransaction(TransactionScope.READ_COMMITTED));
    return session;
  }

  private boolean isOpen(SessionId session) {
    return replica.state().look(state -> state.session(session) != null);
  }

  private void leave(SessionId... sessions) {
    keeper.left(List.of(sessions), keeper.now(), () -> true);
  }

  private void limit(long ageMillis, long idleMillis) {
    pipeline.submit(
        new Command.LimitTransactions(new TransactionLimits(ageMillis, idleMillis)),
        Proposal.Listener.NOBODY);
  }

  private SessionId begin() {
    SessionId session = open();
    perform(session, new Operation.BeginTransaction(TransactionScope.READ_COMMITTED));
    return session;
  }

  private boolean isInTransaction(SessionId session) {
    return replica.state().look(state -> state.session(session).transaction() != null);
  }

  @Test
  void leaseThatIsRenewedLives() {
    LeaseId lease = createLease(open());
    for (int i = 0; i < 10; i++) {
      pass(TTL_MILLIS / 2);
      assertEquals(TimeKeeper.Renewal.RENEWED, keeper.renew(lease, keeper.now()));
    }
    assertTrue(isAlive(lease));
    assertEquals(TTL_MILLIS, keeper.remainingMillis(lease));
  }

  /** Or else the first heartbeat of a quick client would be told that its session is lost. */
  @Test
  void sessionCanBeRenewedAsSoonAsItsClientKnowsIt() {
    CompletableFuture<TimeKeeper.Renewal> renewed = new CompletableFuture<>();
    pipeline.submit(
        new Command.OpenSession(new ClientInfo("a", "h", "p"), 1, TTL_MILLIS, TTL_MILLIS),
        new Proposal.Listener() {
          @Override
          public void applied(Outcome outcome) {
            SessionId session = ((Outcome.SessionOpened) outcome).session();
            renewed.complete(keeper.renew(session, keeper.now()));
          }

          @Override
          public void unknown() {
            renewed.completeExceptionally(new IllegalStateException("unknown"));
          }
        });
    assertEquals(TimeKeeper.Renewal.RENEWED, renewed.join());
  }

  @Test
  void renewalCountsFromItsArrival() {
    LeaseId lease = createLease(open());
    long arrived = keeper.now();
    pass(TTL_MILLIS / 2);
    assertEquals(TimeKeeper.Renewal.RENEWED, keeper.renew(lease, arrived));
    assertEquals(TTL_MILLIS / 2, keeper.remainingMillis(lease));
  }

  @Test
  void endedLeaseIsNotRenewed() {
    LeaseId lease = createLease(open());
    pass(TTL_MILLIS + 100);
    await().atMost(DEADLINE).until(() -> !isAlive(lease));
    assertEquals(TimeKeeper.Renewal.GONE, keeper.renew(lease, keeper.now()));
  }

  @Test
  void sessionKeepsItsOwnLeaseAlive() {
    SessionId session = open();
    acquire(session, "x", 0);
    LeaseId own = replica.state().look(state -> state.session(session).ownLease().id());
    for (int i = 0; i < 5; i++) {
      pass(TTL_MILLIS / 2);
      assertEquals(TimeKeeper.Renewal.RENEWED, keeper.renew(session, keeper.now()));
    }
    assertTrue(isAlive(own));
    pass(TTL_MILLIS + 100);
    await().atMost(DEADLINE).until(() -> !isAlive(own));
    assertNotNull(replica.state().look(state -> state.session(session)), "its ttl is longer");
  }

  /** Or else its client would trust the lease while it ends. */
  @Test
  void sessionIsNotRenewedWithItsOwnLeaseOnceTheEndOfThatIsProposed() {
    SessionId session = open();
    acquire(session, "x", 0);
    CompletableFuture<TimeKeeper.Renewal> meanwhile = new CompletableFuture<>();
    first =
        notice -> {
          if (notice instanceof Notice.LeaseEnded) {
            meanwhile.complete(keeper.renew(session, keeper.now()));
          }
        };
    pass(TTL_MILLIS + 100);
    assertEquals(
        TimeKeeper.Renewal.WITHOUT_OWN_LEASE,
        meanwhile.orTimeout(DEADLINE.toSeconds(), TimeUnit.SECONDS).join());
    await()
        .atMost(DEADLINE)
        .until(() -> keeper.renew(session, keeper.now()) == TimeKeeper.Renewal.RENEWED);
  }

  @Test
  void sessionThatIsNotHeardOfEnds() {
    SessionId session = open();
    pass(10_100);
    await()
        .atMost(DEADLINE)
        .until(() -> replica.state().look(state -> state.session(session)) == null);
    assertEquals(TimeKeeper.Renewal.GONE, keeper.renew(session, keeper.now()));
  }

  @Test
  void waitEndsAfterItsTime() throws Exception {
    SessionId holder = open();
    SessionId waiter = open();
    acquire(holder, "x", 0);
    acquire(waiter, "x", 1_000);
    pass(900);
    assertEquals(1, waiters());
    pass(200);
    await().atMost(DEADLINE).until(() -> waiters() == 0);
  }

  @Test
  void newLeaderGivesEveryLeaseItsFullTimeAgain() {
    LeaseId lease = createLease(open());
    pass(TTL_MILLIS - 100);
    replica.stoppedLeading();
    pass(5_000);
    replica.startedLeading(2);
    assertEquals(TTL_MILLIS, keeper.remainingMillis(lease));
    pass(TTL_MILLIS - 100);
    assertTrue(isAlive(lease));
    pass(200);
    await().atMost(DEADLINE).until(() -> !isAlive(lease));
  }

  @Test
  void leadersThatFollowEachOtherDoNotEachGiveALeaseThatNobodyRenewsItsFullTime() {
    LeaseId lease = createLease(open());
    for (int term = 2; term <= 12 && isAlive(lease); term++) {
      replica.stoppedLeading();
      replica.startedLeading(term);
      awaitTicks(TTL_MILLIS / 4);
    }
    assertTrue(!isAlive(lease), "eleven leaders of a quarter of its ttl each");
  }

  @Test
  void aSilenceThatIsRecordedEndsByAnEntryBeforeARenewalIsAcknowledged() {
    LeaseId lease = createLease(open());
    replica.stoppedLeading();
    replica.startedLeading(2);
    awaitTicks(TTL_MILLIS / 2);
    long recorded = left(lease);
    assertTrue(recorded < TTL_MILLIS, "recorded: " + recorded);
    assertEquals(TimeKeeper.Renewal.NOT_YET, keeper.renew(lease, keeper.now()));
    assertEquals(TTL_MILLIS, left(lease));
    assertEquals(TimeKeeper.Renewal.RENEWED, keeper.renew(lease, keeper.now()));
    replica.stoppedLeading();
    replica.startedLeading(3);
    assertEquals(TTL_MILLIS, keeper.remainingMillis(lease));
  }

  @Test
  void aLeaseThatIsRenewedIsNeverInTheLog() {
    LeaseId lease = createLease(open());
    replica.stoppedLeading();
    replica.startedLeading(2);
    for (int i = 0; i < 10; i++) {
      assertEquals(TimeKeeper.Renewal.RENEWED, keeper.renew(lease, keeper.now()));
      awaitTicks(TTL_MILLIS / 2);
    }
    assertEquals(TTL_MILLIS, left(lease));
    assertEquals(0, recordedRenewals(lease));
  }

  /** A silence that was noticed before a renewal, and comes into the log after it. */
  @Test
  void aLateRecordOfASilenceDoesNotTakeARenewalBack() {
    LeaseId lease = createLease(open());
    Command late = new Command.RecordSilence(List.of(new Command.SilentLease(lease, 0, 10)));
    apply(late);
    assertEquals(10, left(lease));
    apply(new Command.RecordRenewal(lease, 0));
    apply(late);
    apply(new Command.RecordRenewal(lease, 0));
    assertEquals(TTL_MILLIS, left(lease));
    assertEquals(1, recordedRenewals(lease));
  }

  @Test
  void aKeeperThatStopsRecordsWhatEachLeaseHasLeftAndRenewsNoMore() {
    LeaseId lease = createLease(open());
    pass(TTL_MILLIS / 4);
    keeper.recordAll(Map.of(lease, 0L));
    assertEquals(TTL_MILLIS * 3 / 4, left(lease));
    assertEquals(TimeKeeper.Renewal.NOT_HERE, keeper.renew(lease, keeper.now()));
    replica.startedLeading(2);
    assertEquals(TTL_MILLIS * 3 / 4, keeper.remainingMillis(lease));
  }

  /** As the log has it. */
  private long left(LeaseId lease) {
    return replica.state().<Long>look(state -> state.lease(lease).remainingMillis());
  }

  private long recordedRenewals(LeaseId lease) {
    return replica.state().<Long>look(state -> state.lease(lease).recordedRenewals());
  }

  /** Lets time pass, and the keeper look at it in each step. */
  private void awaitTicks(long millis) {
    for (long passed = 0; passed < millis; passed += 50) {
      nanos.addAndGet(Duration.ofMillis(50).toNanos());
      keeper.tick();
    }
  }

  @Test
  void newLeaderEndsWaitsThatItFinds() {
    SessionId holder = open();
    acquire(holder, "x", 0);
    acquire(open(), "x", 1_000);
    replica.stoppedLeading();
    replica.startedLeading(2);
    pass(1_100);
    await().atMost(DEADLINE).until(() -> waiters() == 0);
  }

  @Test
  void nodeThatDoesNotLeadEndsNothing() {
    LeaseId lease = createLease(open());
    replica.stoppedLeading();
    pass(10 * TTL_MILLIS);
    assertTrue(isAlive(lease));
    assertEquals(TimeKeeper.Renewal.NOT_HERE, keeper.renew(lease, keeper.now()));
  }

  @Test
  void pauseOfTheLeaderDoesNotCount() {
    LeaseId lease = createLease(open());
    pass(1_000);
    nanos.addAndGet(Duration.ofMinutes(10).toNanos());
    pass(900);
    assertTrue(isAlive(lease), "ten minutes were a pause");
    pass(200);
    await().atMost(DEADLINE).until(() -> !isAlive(lease));
  }

  @Test
  void fiftyThousandLeasesEndTogether() {
    SessionId session = open();
    for (int i = 0; i < 50_000; i++) {
      createLease(session);
    }
    // the session itself lives longer than its leases
    pass(TTL_MILLIS + 100);
    await().atMost(DEADLINE).until(() -> replica.state().look(state -> state.leases().isEmpty()));
  }

  /** Lets time pass in steps that are no pauses. */
  private void pass(long millis) {
    for (long passed = 0; passed < millis; passed += 50) {
      nanos.addAndGet(Duration.ofMillis(50).toNanos());
      keeper.now();
    }
  }

  private SessionId open() {
    Outcome outcome =
        apply(new Command.OpenSession(new ClientInfo("a", "h", "p"), 1, 10_000, TTL_MILLIS));
    return ((Outcome.SessionOpened) outcome).session();
  }

  private LeaseId createLease(SessionId session) {
    Outcome outcome = perform(session, new Operation.CreateLease(TTL_MILLIS, "o"));
    return ((Outcome.LeaseCreated) outcome).lease();
  }

  private void acquire(SessionId session, String lock, long waitMillis) {
    perform(
        session,
        new Operation.AcquireLock(new LockName(lock), null, LockMode.EXCLUSIVE, waitMillis));
  }

  private Outcome perform(SessionId session, Operation operation) {
    return apply(new Command.Perform(session, ++sequence, operation));
  }

  private Outcome apply(Command command) {
    CompletableFuture<Outcome> outcome = new CompletableFuture<>();
    pipeline.submit(
        command,
        new Proposal.Listener() {
          @Override
          public void applied(Outcome what) {
            outcome.complete(what);
          }

          @Override
          public void unknown() {
            outcome.completeExceptionally(new IllegalStateException("unknown"));
          }
        });
    return outcome.join();
  }

  private boolean isAlive(LeaseId lease) {
    return replica.state().look(state -> state.lease(lease) != null);
  }

  private int waiters() {
    return replica
        .state()
        .look(state -> state.locks().stream().mapToInt(lock -> lock.waiters().size()).sum());
  }
}
