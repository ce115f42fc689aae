package dev.tollgate.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.AppliedDigest;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.log.entry.Entry;
import dev.tollgate.log.entry.EntryCodec;
import dev.tollgate.log.entry.Proposal;
import dev.tollgate.log.entry.ProposedEntry;
import java.time.Clock;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class CommandPipelineTest {
  /** Collects entries and lands them when the test says so. */
  private static final class ManualLog implements ReplicatedLog {
    final List<Entry> entries = new ArrayList<>();
    final List<CompletableFuture<Void>> flights = new ArrayList<>();
    final List<CompletableFuture<OptionalLong>> rounds = new ArrayList<>();
    long applied;
    final Deque<Throwable> faults = new ArrayDeque<>();

    @Override
    public CompletableFuture<Void> append(ProposedEntry entry) {
      Throwable fault = faults.poll();
      if (fault instanceof Error error) {
        throw error;
      }
      if (fault instanceof RuntimeException exception) {
        throw exception;
      }
      entries.add(EntryCodec.decode(entry.bytes(), entry.proposals()));
      flights.add(new CompletableFuture<>());
      return flights.get(flights.size() - 1);
    }

    void prove(int round, long index) {
      rounds.get(round).complete(OptionalLong.of(index));
    }

    void failToProve(int round) {
      rounds.get(round).complete(OptionalLong.empty());
    }

    /** Entries count from 1. */
    void land(int flight) {
      applied = Math.max(applied, flight + 1);
      entries.get(flight).proposals().forEach(p -> p.applied(new Outcome.Done()));
      flights.get(flight).complete(null);
    }

    void lose(int flight) {
      flights.get(flight).completeExceptionally(new IllegalStateException("not leader"));
    }

    @Override
    public CompletableFuture<OptionalLong> readIndex() {
      rounds.add(new CompletableFuture<>());
      return rounds.get(rounds.size() - 1);
    }

    @Override
    public long appliedIndex() {
      return applied;
    }

    @Override
    public void start() {}

    @Override
    public CompletableFuture<Void> forward(Command command) {
      throw new UnsupportedOperationException();
    }

    @Override
    public LogStatus status() {
      throw new UnsupportedOperationException();
    }

    @Override
    public String leaderId() {
      return "n1";
    }

    @Override
    public long term() {
      return 1;
    }

    @Override
    public TermLeader servingLeader() {
      return new TermLeader(1, "n1");
    }

    @Override
    public Membership membership() {
      throw new UnsupportedOperationException();
    }

    @Override
    public SnapshotStore snapshots() {
      return SnapshotStore.none("none");
    }

    @Override
    public boolean isAlone() {
      return false;
    }

    @Override
    public void close() {}
  }

  private static final class Barrier implements CommandPipeline.Barrier {
    String state = "waiting";

    @Override
    public void passed() {
      state = "passed";
    }

    @Override
    public void failed() {
      state = "failed";
    }
  }

  private final List<Throwable> failures = new ArrayList<>();
  private final Map<Command, String> refusals = new HashMap<>();
  private final ManualLog log = new ManualLog();
  private final CommandPipeline pipeline =
      new CommandPipeline(
          log,
          LogClock.of("n1", Clock.fixed(Instant.ofEpochSecond(7, 8_000), ZoneOffset.UTC), log),
          1_000,
          new Supervision("n1", failures::add),
          command -> refusals.get(command),
          () -> this.applied);

  private AppliedDigest applied = AppliedDigest.NONE;

  @Test
  void firstCommandGoesAtOnceAndTheRestGatherBehindIt() {
    submit("a");
    submit("b");
    submit("c");
    assertEquals(1, log.entries.size());
    log.land(0);
    assertEquals(2, log.entries.size());
    assertEquals(List.of(command("b"), command("c")), log.entries.get(1).commands());
    log.land(1);
    assertEquals(2, log.entries.size());
  }

  @Test
  void entryHasTheDigestOfWhatIsAppliedAndAnIdleLeaderSendsItOnce() {
    applied = new AppliedDigest(3, 77);
    submit("a");
    assertEquals(applied, log.entries.get(0).digest());
    pipeline.sendDigest();
    log.land(0);
    pipeline.sendDigest();
    assertEquals(1, log.entries.size(), "it was sent with the entry");
    applied = new AppliedDigest(4, 78);
    pipeline.sendDigest();
    assertEquals(2, log.entries.size());
    assertEquals(applied, log.entries.get(1).digest());
    assertEquals(List.of(), log.entries.get(1).commands());
    log.land(1);
    applied = new AppliedDigest(5, 78);
    pipeline.sendDigest();
    assertEquals(2, log.entries.size(), "an entry without commands has changed nothing");
  }

  /** They may be to blame themselves, and must not stop leader after leader. */
  @Test
  void commandsThatTheLogChokesOnAreUnknownAndTheNextGo() {
    log.faults.add(new IllegalArgumentException("a bug, on purpose"));
    CompletableFuture<Outcome> choked = submit("a");
    assertTrue(choked.isCompletedExceptionally());
    assertEquals(List.of(), log.entries.get(0).commands(), "the log is tried with nothing");
    CompletableFuture<Outcome> next = submit("b");
    log.land(0);
    log.land(1);
    assertTrue(next.isDone() && !next.isCompletedExceptionally());
    assertEquals(List.of(), failures);
  }

  @Test
  void logThatTakesNothingAnyMoreEndsTheNode() {
    log.faults.add(new IllegalArgumentException("a bug, on purpose"));
    log.faults.add(new IllegalStateException("and with nothing too"));
    assertTrue(submit("a").isCompletedExceptionally());
    assertEquals(1, failures.size());
    assertEquals("and with nothing too", failures.get(0).getCause().getMessage());
  }

  @Test
  void logThatFailsLaterThanAtOnceHoldsUpNothing() {
    CompletableFuture<Outcome> flown = submit("a");
    submit("b");
    log.faults.add(new IllegalArgumentException("a bug, on purpose"));
    CompletableFuture<Outcome> choked = submit("c");
    log.land(0);
    assertTrue(flown.isDone());
    assertTrue(choked.isCompletedExceptionally());
    assertEquals(2, log.entries.size());
    assertEquals(List.of(), failures);
  }

  @Test
  void errorOfTheLogEndsTheNode() {
    log.faults.add(new NoClassDefFoundError("no more file descriptors, on purpose"));
    assertTrue(submit("a").isCompletedExceptionally());
    assertEquals(1, failures.size());
  }

  @Test
  void errorOfAListenerEndsTheNode() {
    pipeline.entry(
        new CommandPipeline.Barrier() {
          @Override
          public void passed() {
            throw new InternalError("on purpose");
          }

          @Override
          public void failed() {}
        });
    log.land(0);
    assertEquals(1, failures.size());
  }

  @Test
  void proofThatFailsIsNoProofAndEndsTheNode() {
    Barrier barrier = new Barrier();
    pipeline.leadership(barrier);
    log.rounds.get(0).completeExceptionally(new IllegalStateException("a bug, on purpose"));
    assertEquals("failed", barrier.state);
    assertEquals(1, failures.size());
  }

  @Test
  void entryWithoutATimeGoesWhenTheClockFails() {
    InstantSource failing =
        () -> {
          throw new IllegalStateException("a bug, on purpose");
        };
    CommandPipeline timeless =
        new CommandPipeline(
            log,
            LogClock.of("n1", failing.withZone(ZoneOffset.UTC), log),
            1_000,
            new Supervision("n1", failures::add),
            command -> null,
            () -> this.applied);
    timeless.submit(command("a"), Proposal.Listener.NOBODY);
    assertEquals(1, log.entries.size());
    assertEquals(0, log.entries.get(0).stampMicros());
    assertEquals(1, failures.size());
  }

  @Test
  void entryCarriesTheTimeInMicroseconds() {
    submit("a");
    assertEquals(7_000_008, log.entries.get(0).stampMicros());
  }

  @Test
  void listenersHearOfTheirOutcome() {
    CompletableFuture<Outcome> first = submit("a");
    CompletableFuture<Outcome> second = submit("b");
    log.land(0);
    assertTrue(first.isDone());
    assertFalse(second.isDone());
    log.lose(1);
    assertTrue(second.isCompletedExceptionally());
  }

  @Test
  void outcomeThatComesAfterTheLossIsNotTold() {
    CompletableFuture<Outcome> first = submit("a");
    log.lose(0);
    log.land(0);
    assertTrue(first.isCompletedExceptionally());
  }

  @Test
  void lostEntryDoesNotHoldUpTheNext() {
    submit("a");
    CompletableFuture<Outcome> second = submit("b");
    log.lose(0);
    log.land(1);
    assertTrue(second.isDone() && !second.isCompletedExceptionally());
  }

  @Test
  void commandsThatMayNotWaitAreRefusedByNumber() {
    submit("in flight");
    List<String> refusals = new ArrayList<>();
    for (int i = 0; i < CommandPipeline.MAX_QUEUED + 3; i++) {
      pipeline.submit(command("x"), refusing(refusals));
    }
    assertEquals(3, refusals.size());
    assertTrue(refusals.get(0).contains("at most 200000 may"), refusals.get(0));
    log.land(0);
    pipeline.submit(command("y"), refusing(refusals));
    assertEquals(3, refusals.size(), "there is room again");
  }

  @Test
  void commandsThatMayNotWaitAreRefusedByBytes() {
    submit("in flight");
    List<String> refusals = new ArrayList<>();
    Command large = new Command.AnnounceNode("n", "x".repeat(8 << 20));
    for (int i = 0; i < 10; i++) {
      pipeline.submit(large, refusing(refusals));
    }
    assertEquals(3, refusals.size());
    assertTrue(refusals.get(0).contains("at most 67108864 bytes may"), refusals.get(0));
    pipeline.submit(command("small"), refusing(refusals));
    assertEquals(3, refusals.size(), "renewals and releases are small, and go on");
    log.land(0);
    pipeline.submit(large, refusing(refusals));
    assertEquals(3, refusals.size(), "there is room again");
  }

  private static Proposal.Listener refusing(List<String> refusals) {
    return new Proposal.Listener() {
      @Override
      public void applied(Outcome outcome) {}

      @Override
      public void unknown() {}

      @Override
      public void refused(String why) {
        refusals.add(why);
      }
    };
  }

  @Test
  void barrierNeedsNoEntry() {
    Barrier barrier = new Barrier();
    pipeline.barrier(barrier);
    assertEquals("waiting", barrier.state);
    log.prove(0, 0);
    assertEquals("passed", barrier.state);
    assertEquals(0, log.entries.size());
  }

  @Test
  void barrierWaitsForWhatWasCommittedBeforeIt() {
    submit("a");
    Barrier barrier = new Barrier();
    pipeline.barrier(barrier);
    log.prove(0, 1);
    assertEquals("waiting", barrier.state, "entry 1 is not applied");
    log.land(0);
    assertEquals("passed", barrier.state);
    assertEquals(1, log.entries.size());
  }

  @Test
  void barrierThatNoEntryInFlightWillPassTakesTheNext() {
    submit("a");
    Barrier early = new Barrier();
    pipeline.barrier(early);
    log.prove(0, 2);
    log.land(0);
    assertEquals("waiting", early.state);
    log.land(1);
    assertEquals("passed", early.state);
    Barrier late = new Barrier();
    pipeline.barrier(late);
    log.prove(1, 3);
    assertEquals("waiting", late.state, "nothing is in flight");
    log.land(2);
    assertEquals("passed", late.state);
    assertEquals(List.of(), log.entries.get(2).commands());
  }

  @Test
  void barrierThatIsNotConfirmedIsProvenByAnEntryProposedAfterIt() {
    submit("a");
    Barrier barrier = new Barrier();
    pipeline.barrier(barrier);
    log.failToProve(0);
    log.land(0);
    assertEquals("waiting", barrier.state, "entry 0 was proposed before the barrier was asked for");
    log.land(1);
    assertEquals("passed", barrier.state);
    assertEquals(List.of(), log.entries.get(1).commands());
  }

  @Test
  void barriersGoWithTheCommandsThatWait() {
    submit("a");
    submit("b");
    Barrier one = new Barrier();
    Barrier two = new Barrier();
    pipeline.barrier(one);
    pipeline.barrier(two);
    assertEquals(0, log.rounds.size());
    log.land(0);
    assertEquals("waiting", one.state);
    log.land(1);
    assertEquals(2, log.entries.size());
    assertEquals("passed", one.state);
    assertEquals("passed", two.state);
  }

  @Test
  void barrierGoesWithTheNextEntryUnderLoad() {
    submitMany();
    log.land(0);
    Barrier barrier = new Barrier();
    pipeline.barrier(barrier);
    assertEquals(0, log.rounds.size());
    log.land(1);
    log.land(2);
    assertEquals("passed", barrier.state);
  }

  @Test
  void barrierWaitsForNoEntryWhereNothingIsInFlightAnyMore() {
    submitMany();
    log.land(0);
    log.land(1);
    pipeline.barrier(new Barrier());
    assertEquals(1, log.rounds.size());
  }

  /** An entry with one command in flight, and the next will have many. */
  private void submitMany() {
    submit("first");
    for (int i = 0; i < CommandPipeline.BUSY_COMMANDS; i++) {
      submit("many");
    }
  }

  @Test
  void lostEntryFailsItsBarriers() {
    Barrier barrier = new Barrier();
    pipeline.barrier(barrier);
    log.failToProve(0);
    log.lose(0);
    assertEquals("failed", barrier.state);
  }

  @Test
  void leadershipIsProvenWhileNothingIsApplied() {
    submit("a");
    submit("b");
    Barrier renewal = new Barrier();
    pipeline.leadership(renewal);
    log.prove(0, 2);
    assertEquals("passed", renewal.state);
    assertEquals(0, log.applied);
  }

  @Test
  void leadershipThatIsNotConfirmedIsProvenByAnEntry() {
    Barrier renewal = new Barrier();
    pipeline.leadership(renewal);
    log.failToProve(0);
    assertEquals("waiting", renewal.state);
    log.land(0);
    assertEquals("passed", renewal.state);
  }

  @Test
  void entryEndsWithTheCommandThatReachesItsSize() {
    submit("a");
    for (int i = 0; i < 10; i++) {
      submit("x".repeat(400));
    }
    log.land(0);
    assertEquals(3, log.entries.get(1).commands().size(), "400, 800, 1,200 bytes");
    for (int i = 1; i < 5; i++) {
      log.land(i);
    }
    assertEquals(5, log.entries.size());
  }

  @Test
  void listenerThatFailsDoesNotKeepTheOthersWaiting() {
    pipeline.submit(
        command("bad"),
        new Proposal.Listener() {
          @Override
          public void applied(Outcome outcome) {
            throw new IllegalStateException("a bug, on purpose");
          }

          @Override
          public void unknown() {}
        });
    CompletableFuture<Outcome> good = submit("good");
    log.land(0);
    log.land(1);
    assertTrue(good.isDone());
  }

  @Test
  void figuresSayWhatWaitsAndWhatBecameOfEntries() {
    submit("a");
    submit("b");
    submit("c");
    pipeline.barrier(new Barrier());
    PipelineFigures busy = pipeline.figures();
    assertEquals(2, busy.queuedCommands());
    assertTrue(busy.queuedBytes() > 0);
    assertEquals(1, busy.barriers());
    assertEquals(0, busy.commits().total());
    log.land(0);
    log.lose(1);
    submit("d");
    log.land(2);
    PipelineFigures idle = pipeline.figures();
    assertEquals(0, idle.queuedCommands());
    assertEquals(2, idle.commits().total());
    assertEquals(1, idle.unapplied());
    assertEquals(0, idle.refused());
  }

  /** Not all members may know such a command yet. */
  @Test
  void commandThatIsNotAdmittedIsNotProposed() {
    refusals.put(command("new"), "not yet");
    List<String> told = new ArrayList<>();
    Proposal.Listener listener =
        new Proposal.Listener() {
          @Override
          public void applied(Outcome outcome) {
            told.add("applied");
          }

          @Override
          public void unknown() {
            told.add("unknown");
          }

          @Override
          public void notYet(String why) {
            told.add(why);
          }
        };
    pipeline.submit(command("new"), listener);
    assertEquals(List.of("not yet"), told);
    assertEquals(0, log.entries.size());
    refusals.clear();
    pipeline.submit(command("new"), listener);
    assertEquals(List.of(command("new")), log.entries.get(0).commands());
  }

  private CompletableFuture<Outcome> submit(String what) {
    CompletableFuture<Outcome> outcome = new CompletableFuture<>();
    pipeline.submit(command(what), RecordingConsumer.listener(outcome));
    return outcome;
  }

  private static Command command(String what) {
    return new Command.AnnounceNode("node", what);
  }
}
