package dev.tollgate.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.FenceReading;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.LeaseKind;
import dev.tollgate.core.command.LockDefinition;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Notice;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.PresentedToken;
import dev.tollgate.core.command.RequestId;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TableName;
import dev.tollgate.snapshot.CorruptSnapshotException;
import dev.tollgate.snapshot.StateCodec;
import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random commands against {@link LockModel}: every outcome, every late answer and the state after
 * every command must be equal. The seed stands in the name of the test and replays it.
 */
class RandomWorkloadTest {
  private static final int COMMANDS = 30_000;
  private static final int SEEDS_AT_NIGHT = 50;
  private static final long CONTENT = 17;

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3})
  void coreDoesWhatTheModelDoes(long seed) {
    requireWhatTheModelDoes(seed);
  }

  /** As many, and from another seed each night. */
  @Tag("nightly")
  @Test
  void coreDoesWhatTheModelDoesWithManySeeds() {
    long first = Long.getLong("tollgate.seed", System.nanoTime());
    for (long seed = first; seed < first + SEEDS_AT_NIGHT; seed++) {
      System.out.println("RandomWorkloadTest: -Dtollgate.seed=" + seed);
      requireWhatTheModelDoes(seed);
    }
  }

  private static void requireWhatTheModelDoes(long seed) {
    Run run = new Run(seed);
    for (int i = 0; i < COMMANDS; i++) {
      run.step();
    }
    assertTrue(run.refusedWrites > COMMANDS / 200, "the workload hardly fences");
    assertTrue(run.refusedBySessionFence > COMMANDS / 200, "the workload hardly fences sessions");
    assertTrue(run.grantsAfterWaiting > COMMANDS / 60, "the workload hardly waits");
    assertTrue(run.kept > COMMANDS / 1_000, "the workload hardly keeps");
    assertTrue(run.transferred > COMMANDS / 1_000, "the workload hardly hands over");
    assertTrue(
        run.grantedTogetherAfterWaiting > COMMANDS / 400, "the workload hardly waits for several");
    assertTrue(run.copiesRead > COMMANDS / 100, "the workload hardly copies");
  }

  @Test
  void twoReplicasAnswerAlike() {
    List<String> first = trace(42);
    assertEquals(first, trace(42));
    assertEquals(COMMANDS, first.size());
  }

  private static List<String> trace(long seed) {
    Run run = new Run(seed);
    List<String> trace = new ArrayList<>();
    for (int i = 0; i < COMMANDS; i++) {
      run.step();
      trace.add(run.lastOutcome + " " + run.lastNotices);
    }
    return trace;
  }

  private static final class Run {
    private final CoreDriver core = new CoreDriver();
    private final LockModel model = new LockModel();
    private final Random random;
    private final List<SessionId> sessions = new ArrayList<>();
    private final List<LeaseId> leases = new ArrayList<>();
    private final TreeSet<SessionId> waiting = new TreeSet<>();
    private final TreeMap<SessionId, Command> last = new TreeMap<>();
    private final TreeMap<SessionId, String> lastAnswer = new TreeMap<>();
    private final TreeMap<SessionId, PresentedToken> fences = new TreeMap<>();
    private String lastOutcome = "";
    private List<Notice> lastNotices = List.of();
    private int grantsAfterWaiting;
    private int refusedWrites;
    private int refusedBySessionFence;
    private int kept;
    private int transferred;
    private int grantedTogetherAfterWaiting;

    /** Copies of the state, and beside them what they had when they were made. */
    private final Deque<CoreCopy> copies = new ArrayDeque<>();

    private final Deque<List<StateRecord>> copied = new ArrayDeque<>();
    private int copiesRead;

    Run(long seed) {
      random = new Random(seed);
      core.perform(
          core.open(),
          new Operation.FenceTable(
              new TableName(null, "t"),
              new Operation.TableFence(new LockName("l0"), FenceReading.HELD),
              null,
              true));
    }

    void step() {
      readCopies();
      if (sessions.size() < 8) {
        sessions.add(core.open());
        return;
      }
      SessionId session = sessions.get(random.nextInt(sessions.size()));
      if (waiting.contains(session) && random.nextInt(8) != 0) {
        return;
      }
      switch (random.nextInt(29)) {
        case 0 -> endSession(session, random.nextBoolean());
        case 1 -> createLease(session);
        case 2 -> expireLease(someOf(core.machine.state().leases()));
        case 24, 28 -> expireLease(someOf(keepers()));
        case 3 -> endWait(session);
        case 6, 7 -> resend(session);
        case 8 -> forceRelease(session);
        case 20 -> fence(session);
        case 9, 10, 11 -> write(session);
        case 4, 5, 12, 13, 14 -> release(session);
        case 21, 22 -> acquireAll(session);
        case 23 -> keep(session);
        case 25, 26 -> transfer(session);
        case 27 -> define(session);
        default -> acquire(session);
      }
      compare();
    }

    private void acquire(SessionId session) {
      LeaseId lease = someLease();
      if (lease == null && core.machine.state().session(session).ownLease() == null) {
        takeLoss(session);
      }
      giveUpWait(session);
      String lock = someLock();
      boolean shared = random.nextInt(3) == 0;
      boolean wait = random.nextInt(4) != 0;
      Command command =
          next(
              session,
              new Operation.AcquireLock(
                  new LockName(lock),
                  lease,
                  shared ? LockMode.SHARED : LockMode.EXCLUSIVE,
                  wait ? CoreDriver.WAIT_MILLIS : 0));
      String expected =
          model.acquire(request(session), lock, leaseName(session, lease), shared, wait);
      apply(session, command, expected);
      if (expected.equals("waiting")) {
        waiting.add(session);
      }
    }

    private void acquireAll(SessionId session) {
      LeaseId lease = readyLease(session);
      List<String> names = new ArrayList<>(List.of("l0", "l1", "l2", "l3"));
      Collections.shuffle(names, random);
      names = names.subList(0, 1 + random.nextInt(3));
      boolean wait = random.nextInt(4) != 0;
      Command command =
          next(
              session,
              new Operation.AcquireLocks(
                  names.stream().map(LockName::new).toList(),
                  lease,
                  wait ? CoreDriver.WAIT_MILLIS : 0));
      String expected = model.acquireAll(request(session), names, leaseName(session, lease), wait);
      apply(session, command, expected);
      if (expected.equals("waiting")) {
        waiting.add(session);
      }
    }

    private void keep(SessionId session) {
      LeaseId lease = readyLease(session);
      String lock = someLock();
      String keeper = "lease" + (core.machine.state().lastLease() + 1);
      Command command = next(session, new Operation.ReleaseLock(new LockName(lock), lease, 500));
      boolean expected = model.releaseAndKeep(lock, leaseName(session, lease), keeper);
      apply(session, command, new Outcome.Answered(expected).toString());
      kept += expected ? 1 : 0;
    }

    private void transfer(SessionId session) {
      LeaseId from = readyLease(session);
      LeaseId to = someLease();
      String lock = someLock();
      Command command = next(session, new Operation.TransferLock(new LockName(lock), from, to));
      String expected = model.transfer(lock, leaseName(session, from), leaseName(session, to));
      apply(session, command, expected);
      transferred += expected.startsWith("token") ? 1 : 0;
    }

    private void define(SessionId session) {
      giveUpWait(session);
      String lock = someLock();
      LockDefinition definition = new LockDefinition(new LockName(lock), 1 + random.nextInt(3));
      int kind = random.nextInt(3);
      boolean lenient = random.nextBoolean();
      boolean known =
          core.machine.state().lockDefinitions().stream()
              .anyMatch(other -> other.lock().equals(definition.lock()));
      Operation operation =
          switch (kind) {
            case 0 -> new Operation.DefineLock(definition, lenient);
            case 1 -> new Operation.ChangeLock(definition, lenient);
            default -> new Operation.DropLock(definition.lock(), lenient);
          };
      String expected =
          kind == 2
              ? model.dropDefinition(lock)
              : model.define(lock, definition.permits(), /* isNew= */ kind == 0);
      boolean leaves = lenient && known == (kind == 0);
      apply(
          session,
          next(session, operation),
          leaves || !expected.equals("LOCK_STATE")
              ? new Outcome.Answered(!leaves).toString()
              : expected);
    }

    /** A lease on whose behalf the session can ask: its own is not one whose loss is untold. */
    private @Nullable LeaseId readyLease(SessionId session) {
      if (core.machine.state().session(session).ownLease() == null) {
        takeLoss(session);
      }
      giveUpWait(session);
      return someLease();
    }

    private void release(SessionId session) {
      LeaseId lease = someLease();
      if (lease == null && core.machine.state().session(session).ownLease() == null) {
        takeLoss(session);
      }
      giveUpWait(session);
      String lock = someLock();
      Command command = next(session, new Operation.ReleaseLock(new LockName(lock), lease, 0));
      boolean expected = model.release(lock, leaseName(session, lease));
      apply(session, command, new Outcome.Answered(expected).toString());
    }

    private void forceRelease(SessionId session) {
      giveUpWait(session);
      String lock = someLock();
      Command command = next(session, new Operation.ForceReleaseLock(new LockName(lock)));
      apply(session, command, new Outcome.Answered(model.forceRelease(lock)).toString());
    }

    /** Ends a fence more often than it makes one. */
    private void fence(SessionId session) {
      giveUpWait(session);
      fences.remove(session);
      if (random.nextInt(3) == 0) {
        long token = Math.max(1, model.lastToken() - random.nextInt(4));
        fences.put(session, new PresentedToken(new LockName(someLock()), token));
      }
      Command command = next(session, new Operation.FenceSession(fences.get(session)));
      apply(session, command, new Outcome.Done().toString());
    }

    private boolean isFencedOff(SessionId session) {
      PresentedToken fence = fences.get(session);
      return fence != null && !model.heldExclusively(fence.lock().value(), fence.token());
    }

    /** Table t is fenced by lock l0, table u by none. */
    private void write(SessionId session) {
      giveUpWait(session);
      String table = random.nextInt(4) == 0 ? "u" : "t";
      long before = core.store.written.getOrDefault(table, List.of()).size();
      boolean clause = random.nextBoolean();
      long token = Math.max(1, model.lastToken() - random.nextInt(4));
      Command command =
          next(
              session,
              FakeSqlStore.write(
                  "WRITE " + table,
                  "v",
                  clause
                      ? new Operation.StatementFence(
                          new PresentedToken(new LockName("l0"), token), false)
                      : null,
                  true));
      String expected;
      PresentedToken fence = fences.get(session);
      if (isFencedOff(session)) {
        expected = "TOKEN_STALE";
        refusedBySessionFence++;
      } else if (clause) {
        expected = model.heldExclusively("l0", token) ? "written" : "TOKEN_STALE";
      } else if (table.equals("u") || (fence != null && fence.lock().value().equals("l0"))) {
        expected = "written";
      } else {
        boolean own = model.exclusiveToken("l0", leaseName(session, null)).isPresent();
        expected = own ? "written" : "TOKEN_MISSING";
      }
      apply(session, command, expected);
      boolean wrote = core.store.written.getOrDefault(table, List.of()).size() > before;
      assertEquals(expected.equals("written"), wrote, "I3");
      refusedWrites += wrote ? 0 : 1;
    }

    private void createLease(SessionId session) {
      if (leases.size() < 4) {
        giveUpWait(session);
        leases.add(core.lease(session));
        last.remove(session);
      }
    }

    private List<Lease> keepers() {
      return core.machine.state().leases().stream()
          .filter(lease -> lease.kind() == LeaseKind.KEEP)
          .toList();
    }

    private @Nullable Lease someOf(Collection<Lease> all) {
      return all.isEmpty() ? null : List.copyOf(all).get(random.nextInt(all.size()));
    }

    private void expireLease(@Nullable Lease lease) {
      if (lease == null) {
        return;
      }
      leases.remove(lease.id());
      model.endLease(lease.isOwn() ? "own" + lease.creator() : "lease" + lease.id());
      core.apply(new Command.Expire(List.of(), List.of(lease.id())));
      assertTrue(core.notices.contains(new Notice.LeaseEnded(lease.id())));
    }

    /** A copy that was made some commands ago has what the state was then. */
    private void readCopies() {
      if (random.nextInt(50) == 0) {
        copies.add(core.machine.copy());
        copied.add(records(core.machine.copy()));
        assertEquals(copied.getLast(), records(restored(copied.getLast())));
      }
      if (copies.size() > 3 || (!copies.isEmpty() && random.nextInt(50) == 0)) {
        assertEquals(copied.removeFirst(), records(copies.removeFirst()));
        copiesRead++;
      }
    }

    /** What a node has that begins with these records. */
    private CoreCopy restored(List<StateRecord> records) {
      StateMachine machine = new StateMachine(core.store);
      for (StateRecord record : records) {
        WireWriter body = new WireWriter();
        int kind = StateCodec.write(body, record);
        try {
          machine.restore(StateCodec.read(kind, new WireReader(body.toByteArray())));
        } catch (CorruptSnapshotException e) {
          throw new AssertionError(e);
        }
      }
      machine.checkInvariants();
      return machine.copy();
    }

    private static List<StateRecord> records(CoreCopy copy) {
      List<StateRecord> records = new ArrayList<>();
      copy.forEach(records::add);
      return records;
    }

    private void endSession(SessionId session, boolean close) {
      model.endWait(request(session), "SESSION_GONE");
      model.endLease("own" + session);
      core.apply(
          close
              ? new Command.CloseSession(session)
              : new Command.Expire(List.of(session), List.of()));
      sessions.remove(session);
    }

    private void endWait(SessionId session) {
      boolean cancel = random.nextBoolean();
      boolean expected =
          waiting.contains(session)
              && model.endWait(request(session), cancel ? "WAIT_CANCELLED" : "not granted");
      Outcome outcome =
          core.apply(
              new Command.EndWait(
                  session,
                  Math.max(1, core.machine.state().session(session).lastSequence()),
                  cancel ? Command.WaitEnd.CANCELLED : Command.WaitEnd.TIMED_OUT));
      assertEquals(new Outcome.Answered(expected), outcome);
    }

    private void resend(SessionId session) {
      Command command = last.get(session);
      if (command != null) {
        core.notices = List.of();
        if (random.nextInt(3) == 0 && command instanceof Command.Perform perform) {
          Command other =
              new Command.Perform(session, perform.sequence(), someOperation(), CONTENT + 1);
          assertEquals("SEQUENCE_REUSED", describe(core.apply(other)), "I6: instead of " + command);
          assertEquals(List.of(), core.notices, "I6");
        }
        Outcome outcome = core.apply(command);
        assertEquals(lastAnswer.get(session), describe(outcome), "I6: resent " + command);
        assertEquals(List.of(), core.notices, "I6");
      }
    }

    private void giveUpWait(SessionId session) {
      if (waiting.remove(session)) {
        model.endWait(request(session), "WAIT_CANCELLED");
      }
    }

    /**
     * A session whose own lease was lost with locks is told so first; ask for something harmless.
     */
    private void takeLoss(SessionId session) {
      giveUpWait(session);
      core.perform(session, new Operation.ReleaseLock(new LockName("nothing"), null, 0));
      last.remove(session);
      compare();
    }

    private Command next(SessionId session, Operation operation) {
      return new Command.Perform(session, core.nextSequence(session), operation, CONTENT);
    }

    private Operation someOperation() {
      return switch (random.nextInt(3)) {
        case 0 -> new Operation.ReleaseLock(new LockName(someLock()), null, 0);
        case 1 -> new Operation.CreateLease(60_000, "other");
        default ->
            new Operation.AcquireLock(
                new LockName(someLock()), null, LockMode.EXCLUSIVE, CoreDriver.WAIT_MILLIS);
      };
    }

    private void apply(SessionId session, Command command, String expected) {
      lastOutcome = describe(core.apply(command));
      assertEquals(expected, lastOutcome, command::toString);
      last.put(session, command);
      lastAnswer.put(session, lastOutcome);
    }

    /** Late answers of this command, and the state after it. */
    private void compare() {
      TreeMap<String, String> answers = new TreeMap<>();
      for (Notice notice : core.notices) {
        if (notice instanceof Notice.Completed done) {
          String answer = LockModel.describe(done.outcome());
          answers.put(LockModel.name(new RequestId(done.session(), done.sequence())), answer);
          if (done.sequence() == core.lastSequence(done.session())) {
            waiting.remove(done.session());
            lastAnswer.put(done.session(), answer);
          }
          grantedTogetherAfterWaiting += done.outcome() instanceof Outcome.GrantedAll ? 1 : 0;
          grantsAfterWaiting += done.outcome() instanceof Outcome.Granted ? 1 : 0;
        }
      }
      lastNotices = core.notices;
      core.notices = List.of();
      assertEquals(model.answers, answers);
      model.answers.clear();
      assertEquals(model.describe(), LockModel.describe(core.machine.state()));
      assertEquals(model.lastToken(), core.machine.state().lastToken(), "I2");
    }

    private static String describe(Outcome outcome) {
      return outcome instanceof Outcome.Executed ? "written" : LockModel.describe(outcome);
    }

    private String request(SessionId session) {
      return LockModel.name(new RequestId(session, Math.max(1, core.lastSequence(session))));
    }

    private static String leaseName(SessionId session, @Nullable LeaseId lease) {
      return lease == null ? "own" + session : "lease" + lease;
    }

    private @Nullable LeaseId someLease() {
      return leases.isEmpty() || random.nextInt(3) != 0
          ? null
          : leases.get(random.nextInt(leases.size()));
    }

    private String someLock() {
      return "l" + random.nextInt(4);
    }
  }
}
