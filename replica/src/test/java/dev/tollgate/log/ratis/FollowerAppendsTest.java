package dev.tollgate.log.ratis;

import static dev.tollgate.log.ratis.LoneFollower.NOTHING;
import static dev.tollgate.log.ratis.LoneFollower.at;
import static dev.tollgate.log.ratis.LoneFollower.command;
import static dev.tollgate.log.ratis.LoneFollower.entry;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.log.LogStatus;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.log.Supervision;
import dev.tollgate.log.peer.PeerService;
import dev.tollgate.log.peer.RawPeer;
import dev.tollgate.log.peer.SealedEntries;
import dev.tollgate.log.snapshot.Snapshots;
import dev.tollgate.log.trace.PromiseTrace;
import dev.tollgate.seal.DirectoryKeys;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotResult;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftConfigurationProto;
import org.apache.ratis.proto.RaftProtos.RaftPeerProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.TermIndexProto;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.statemachine.StateMachine;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** One real node; the test is its leader. */
class FollowerAppendsTest {
  /** With segments of 4 KiB. */
  private static final long SNAPSHOT_LOG_BYTES = 8 << 10;

  private static final int ENTRIES = 20;
  private static final int LAST_OF_SNAPSHOT = 100;

  @TempDir Path directory;

  private LoneFollower node;

  @BeforeEach
  void start() throws IOException {
    node = new LoneFollower(directory, SNAPSHOT_LOG_BYTES);
  }

  @AfterEach
  void stop() throws IOException {
    node.close();
  }

  /**
   * As on a slow link, where entries that the leader sent long ago arrive with its snapshot. The
   * entries fill three segments, of which the writer has not begun the second when the snapshot
   * comes.
   */
  @Test
  void snapshotWaitsUntilTheLogIsWritten() throws Exception {
    LogEntryProto[] entries =
        LongStream.range(0, ENTRIES)
            .mapToObj(index -> entry(1, index, "x".repeat(500)))
            .toArray(LogEntryProto[]::new);
    AppendEntriesRequestProto before = node.request(1, null, NOTHING, entries);
    CompletableFuture<InstallSnapshotReplyProto> snapshot;
    try (HeldWriter writer = new HeldWriter(LoneFollower.ID)) {
      node.send(before);
      writer.awaitHeld();
      snapshot = node.installSnapshot(1, at(1, LAST_OF_SNAPSHOT));
      await()
          .atMost(LoneFollower.DEADLINE)
          .until(() -> node.consumer.restored.get() > 0 || isHeldUp("checkAndInstallSnapshot"));
    }
    assertEquals(AppendResult.SUCCESS, node.answer(before).getResult());
    assertEquals(
        InstallSnapshotResult.SUCCESS,
        snapshot.get(LoneFollower.DEADLINE.toSeconds(), TimeUnit.SECONDS).getResult());
    assertGoesOnAfterTheSnapshot();
  }

  /** As when a node that has led follows the next leader: no request has brought these entries. */
  @Test
  void snapshotWaitsUntilTheOwnEntriesOfAFormerLeaderAreWritten() throws Exception {
    CompletableFuture<Long> written;
    CompletableFuture<InstallSnapshotReplyProto> snapshot;
    try (HeldWriter writer = new HeldWriter(LoneFollower.ID)) {
      written = node.division().getRaftLog().appendEntry(entry(1, 0, "of its own"));
      writer.awaitHeld();
      snapshot = node.installSnapshot(1, at(1, LAST_OF_SNAPSHOT));
      await()
          .atMost(LoneFollower.DEADLINE)
          .until(() -> node.consumer.restored.get() > 0 || isHeldUp("settle"));
      assertEquals(0, node.consumer.restored.get());
    }
    assertEquals(0, written.get(LoneFollower.DEADLINE.toSeconds(), TimeUnit.SECONDS));
    assertEquals(
        InstallSnapshotResult.SUCCESS,
        snapshot.get(LoneFollower.DEADLINE.toSeconds(), TimeUnit.SECONDS).getResult());
    assertGoesOnAfterTheSnapshot();
  }

  /** The leader has committed another entry 5, so none of the log is known to be right. */
  @Test
  void logWithAnotherEntryWhereASnapshotEndsIsRemoved() throws Exception {
    Path log = LoneFollower.storage(directory).resolve("current");
    Path kept = directory.resolve("kept");
    overrule(() -> Files.copy(log.resolve("log_inprogress_0"), kept));
    assertEquals(6, node.division().getRaftLog().getNextIndex());
    assertRefusesWhoLacksTheSnapshot(4);
    // a stop before the log was removed
    node.close();
    for (Path segment : Snapshots.segments(log)) {
      Files.delete(segment);
    }
    Files.copy(kept, log.resolve("log_inprogress_0"));
    try (SyncedIndex index = SyncedIndex.open(log.getParent())) {
      index.set(9);
    }
    node = new LoneFollower(directory, SNAPSHOT_LOG_BYTES);
    assertEquals(6, node.division().getRaftLog().getNextIndex());
    assertRefusesWhoLacksTheSnapshot(6);
  }

  @Test
  void logGoesOnAfterASnapshotThatHasOverruledIt() throws Exception {
    overrule(() -> {});
    AppendEntriesReplyProto next =
        node.ask(node.request(3, at(3, 5), 5, entry(3, 6, "next"), entry(3, 7, "and next")));
    assertEquals(AppendResult.SUCCESS, next.getResult());
    assertEquals(at(3, 7), node.division().getRaftLog().getLastEntryTermIndex().toProto());
    node.close();
    node = new LoneFollower(directory, SNAPSHOT_LOG_BYTES);
    assertEquals(at(3, 7), node.division().getRaftLog().getLastEntryTermIndex().toProto());
  }

  /** Has a log with entries 0 to 9 of term 1, and takes a snapshot of entry 5 of term 3 over. */
  private void overrule(Executable before) throws Exception {
    LogEntryProto[] overruled =
        LongStream.range(0, 10)
            .mapToObj(index -> entry(1, index, "overruled"))
            .toArray(LogEntryProto[]::new);
    node.ask(node.request(1, null, NOTHING, overruled));
    try {
      before.execute();
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
    assertEquals(
        InstallSnapshotResult.SUCCESS,
        node.installSnapshot(3, at(3, 5), node.membersEntry(1, 0))
            .get(LoneFollower.DEADLINE.toSeconds(), TimeUnit.SECONDS)
            .getResult());
  }

  private void assertRefusesWhoLacksTheSnapshot(long term) throws Exception {
    node.appends().doubtLeader("n1", term - 1);
    RequestVoteReplyProto vote =
        node.requestVote("n3", false, term, at(2, 4))
            .get(LoneFollower.DEADLINE.toSeconds(), TimeUnit.SECONDS);
    assertFalse(vote.getServerReply().getSuccess());
    assertEquals(at(3, 5), vote.getLastEntry());
  }

  /** As when the leader has lost the connection, and has more to send by now. */
  @Test
  void entriesSentAgainWithMoreAreAcknowledgedWhenTheyAreInTheLog() throws Exception {
    sendWhileTheFirstIsWritten(
        1, entry(1, 1, "pending"), entry(1, 2, "more"), entry(1, 3, "and more"));
    assertEquals(AppendResult.SUCCESS, node.ask(node.request(1, at(1, 3), NOTHING)).getResult());
  }

  @Test
  void entriesOfANewLeaderAreAcknowledgedWhenTheyAreInTheLog() throws Exception {
    sendWhileTheFirstIsWritten(2, entry(2, 1, "elected"));
    assertEquals(AppendResult.SUCCESS, node.ask(node.request(2, at(2, 1), NOTHING)).getResult());
  }

  /** Sends entries from index 1 on while the disk is busy with one for that index. */
  private void sendWhileTheFirstIsWritten(long term, LogEntryProto... entries) throws Exception {
    node.ask(node.request(1, null, NOTHING, entry(1, 0, "before")));
    AppendEntriesRequestProto first = node.request(1, at(1, 0), NOTHING, entry(1, 1, "pending"));
    AppendEntriesRequestProto again = node.request(term, at(1, 0), NOTHING, entries);
    try (HeldWriter writer = new HeldWriter(LoneFollower.ID)) {
      node.send(first);
      writer.awaitHeld();
      node.send(again);
      await().atMost(LoneFollower.DEADLINE).until(() -> isHeldUp("awaitAppended"));
    }
    assertEquals(AppendResult.SUCCESS, node.answer(first).getResult());
    AppendEntriesReplyProto answer = node.answer(again);
    assertEquals(AppendResult.SUCCESS, answer.getResult());
    assertEquals(entries.length, answer.getMatchIndex());
  }

  /** The entry was not in the log when the candidate without it got the vote. */
  @Test
  void entryThatWasAppendedAfterAVoteIsNotAcknowledged() throws Exception {
    node.ask(node.request(3, null, NOTHING, entry(3, 0, "before"), entry(3, 1, "shared")));
    AppendEntriesRequestProto late = node.request(3, at(3, 1), NOTHING, entry(3, 2, "late"));
    try (HeldAppend append = new HeldAppend(node.division())) {
      node.send(late);
      append.awaitHeld();
      assertTrue(node.vote(4, at(3, 1)).getServerReply().getSuccess());
    }
    AppendEntriesReplyProto answer = node.answer(late);
    assertEquals(AppendResult.NOT_LEADER, answer.getResult());
    assertEquals(4, answer.getTerm());
    assertEquals(NOTHING, answer.getMatchIndex());
  }

  /** Ratis has compared the terms before the later leader was elected, and appends afterwards. */
  @Test
  void entryOfALaterLeaderIsNotCutOffForAnEarlierOne() throws Exception {
    node.ask(node.request(3, null, NOTHING, entry(3, 0, "before")));
    CompletableFuture<AppendEntriesReplyProto> answer = new CompletableFuture<>();
    try (RawPeer later = node.connect("n3")) {
      try (HeldAppend append = new HeldAppend(node.division())) {
        node.send(node.request(3, at(3, 0), NOTHING, entry(3, 1, "late")));
        append.awaitHeld();
        later.append(node.request(4, at(3, 0), NOTHING, entry(4, 1, "elected")), answer::complete);
        await()
            .atMost(LoneFollower.DEADLINE)
            .until(() -> answer.isDone() || isInState(Thread.State.WAITING, "tryAppend"));
      }
      assertEquals(
          AppendResult.SUCCESS,
          answer.get(LoneFollower.DEADLINE.toSeconds(), TimeUnit.SECONDS).getResult());
      RaftLog log = node.division().getRaftLog();
      await().atMost(LoneFollower.DEADLINE).until(() -> log.getFlushIndex() >= 1);
      assertEquals(4, log.getTermIndex(1).getTerm());
    }
  }

  /** What is synced of entries that are to be cut off would count for those in their place. */
  @Test
  void cutBeginsWhenAllBeforeItIsOnTheDisk() throws Exception {
    node.ask(node.request(1, null, NOTHING, entry(1, 0, "kept"), entry(1, 1, "overruled")));
    AppendEntriesRequestProto late = node.request(1, at(1, 1), NOTHING, entry(1, 2, "overruled"));
    AppendEntriesRequestProto cut = node.request(2, at(1, 0), NOTHING, entry(2, 1, "elected"));
    RaftLog log = node.division().getRaftLog();
    try (HeldWriter writer = new HeldWriter(LoneFollower.ID)) {
      node.send(late);
      writer.awaitHeld();
      node.send(cut);
      await().atMost(LoneFollower.DEADLINE).until(() -> isHeldUp("awaitAppended"));
      assertEquals(3, log.getNextIndex());
    }
    node.answer(late);
    assertEquals(AppendResult.SUCCESS, node.answer(cut).getResult());
    assertEquals(2, log.getNextIndex());
  }

  @Test
  void nothingBeginsWhileTheLogIsCut() throws Exception {
    node.ask(
        node.request(
            1, null, NOTHING, entry(1, 0, "kept"), entry(1, 1, "former"), entry(1, 2, "former")));
    AppendEntriesRequestProto cut = node.request(2, at(1, 0), NOTHING, entry(2, 1, "elected"));
    AppendEntriesRequestProto next = node.request(2, at(2, 1), NOTHING, entry(2, 2, "next"));
    RaftLog log = node.division().getRaftLog();
    try (HeldWriter writer = new HeldWriter(LoneFollower.ID)) {
      node.send(cut);
      writer.awaitHeld();
      node.send(next);
      await().atMost(LoneFollower.DEADLINE).until(() -> isHeldUp("awaitAppended"));
      assertEquals(2, log.getNextIndex());
      assertFalse(node.appends().isSettled());
    }
    assertEquals(AppendResult.SUCCESS, node.answer(cut).getResult());
    assertEquals(AppendResult.SUCCESS, node.answer(next).getResult());
    assertTrue(node.appends().isSettled());
  }

  /** The vote may have looked at the log before the entry was there, and raise the term later. */
  @Test
  void entryIsNotAcknowledgedWhileTheNodeVotes() throws Exception {
    AppendEntriesRequestProto request = node.request(3, null, NOTHING, entry(3, 0, "before"));
    AppendEntriesReplyProto reply = node.ask(request);
    AppendEntriesRequestProto heartbeat = node.request(3, at(3, 0), NOTHING);
    FollowerAppends appends = node.appends();
    RequestVoteRequestProto vote = RequestVoteRequestProto.getDefaultInstance();
    appends.vote(
        vote,
        unused -> {
          assertThrows(IOException.class, () -> appends.answer(request, reply));
          assertEquals(AppendResult.SUCCESS, appends.answer(heartbeat, reply).getResult());
          return RequestVoteReplyProto.getDefaultInstance();
        });
    appends.vote(
        vote.toBuilder().setPreVote(true).build(),
        unused -> {
          assertEquals(AppendResult.SUCCESS, appends.answer(request, reply).getResult());
          return RequestVoteReplyProto.getDefaultInstance();
        });
    assertEquals(AppendResult.SUCCESS, appends.answer(request, reply).getResult());
  }

  /** The term is the one before the vote, and the entry may be one that the vote did not see. */
  @Test
  void entryIsNotAcknowledgedIfTheVoteEndsOnceTheTermWasRead() throws Exception {
    FollowerAppends appends = unattached();
    CountDownLatch votes = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    Thread voter =
        new Thread(
            () ->
                Assertions.assertDoesNotThrow(
                    () ->
                        appends.vote(
                            RequestVoteRequestProto.getDefaultInstance(),
                            request -> {
                              votes.countDown();
                              Assertions.assertDoesNotThrow(() -> end.await());
                              return RequestVoteReplyProto.getDefaultInstance();
                            })));
    Supplier<Long> term =
        () -> {
          end.countDown();
          Assertions.assertDoesNotThrow(() -> voter.join());
          return 3L;
        };
    DivisionInfo info =
        RatisFake.of(DivisionInfo.class, Map.of("getCurrentTerm", term, "getLastAppliedIndex", 0L));
    RatisInternals.field(FollowerAppends.class, "division")
        .set(appends, RatisFake.of(RaftServer.Division.class, Map.of("getInfo", info)));
    voter.start();
    votes.await();
    AppendEntriesRequestProto request = node.request(3, null, NOTHING, entry(3, 0, "x"));
    assertThrows(
        IOException.class,
        () -> appends.answer(request, AppendEntriesReplyProto.getDefaultInstance()));
  }

  /** Or the first candidate after the death of a leader waits until its voters were silent too. */
  @Test
  void leaderThatIsDoubtedHoldsNoOtherCandidateUp() throws Exception {
    node.ask(node.request(3, null, NOTHING, entry(3, 0, "of the leader")));
    assertFalse(wouldVote(), "the leader was heard");
    node.appends().doubtLeader("n3", 3);
    node.appends().doubtLeader("n1", 2);
    assertFalse(wouldVote(), "another leader was doubted");
    node.appends().doubtLeader("n1", 3);
    assertTrue(wouldVote(), "the leader was doubted");
  }

  /** Without this node, whose log is not applied, the candidate gets no majority, nor any other. */
  @Test
  void nodeThatIsBehindStandsOnceACandidateLacksEntriesOfItsLog() throws Exception {
    CountDownLatch applies = new CountDownLatch(1);
    node.consumer.holdApply = applies;
    try {
      int last = (int) LogStatus.CAUGHT_UP_ENTRIES + 1;
      LogEntryProto[] entries =
          LongStream.rangeClosed(0, last)
              .mapToObj(index -> entry(3, index, "x"))
              .toArray(LogEntryProto[]::new);
      node.ask(node.request(3, null, last, entries));
      FollowerAppends appends = node.appends();
      assertFalse(appends.hasCaughtUp());
      assertFalse(isGranted(preVote(at(3, last))), "the leader was heard");
      assertFalse(appends.hasCaughtUp(), "the candidate has all entries");
      assertFalse(isGranted(preVote(at(3, last - 1))));
      assertTrue(appends.hasCaughtUp(), "the candidate lacks an entry");
      node.ask(node.request(3, at(3, last), last));
      assertFalse(appends.hasCaughtUp(), "a leader was heard");
    } finally {
      applies.countDown();
    }
  }

  private RequestVoteReplyProto preVote(TermIndexProto last) throws Exception {
    return node.requestVote("n3", /* preVote= */ true, 4, last)
        .get(LoneFollower.DEADLINE.toSeconds(), TimeUnit.SECONDS);
  }

  private static boolean isGranted(RequestVoteReplyProto reply) {
    return reply.getServerReply().getSuccess();
  }

  private boolean wouldVote() throws Exception {
    return isGranted(preVote(at(3, 0)));
  }

  /** The vote was not granted, but nothing is promised to a leader of an earlier term. */
  @Test
  void entryIsNotAcknowledgedInATermThatHasPassed() throws Exception {
    node.ask(node.request(3, null, NOTHING, entry(3, 0, "before")));
    AppendEntriesRequestProto late = node.request(3, at(3, 0), NOTHING, entry(3, 1, "late"));
    try (HeldWriter writer = new HeldWriter(LoneFollower.ID)) {
      node.send(late);
      writer.awaitHeld();
      assertFalse(node.vote(4, at(3, 0)).getServerReply().getSuccess());
    }
    assertEquals(AppendResult.NOT_LEADER, node.answer(late).getResult());
  }

  /** Ratis takes the members that a snapshot names at the end, and drops what came meanwhile. */
  @Test
  void membersOfALaterLeaderWaitForTheSnapshotOfAFormerOne() throws Exception {
    node.ask(node.request(3, null, NOTHING, entry(3, 0, "before")));
    FollowerAppends appends = node.appends();
    AppendEntriesRequestProto entry = node.request(4, at(3, 0), NOTHING, entry(4, 1, "other"));
    AppendEntriesRequestProto members = node.request(4, at(4, 1), NOTHING, node.membersEntry(4, 2));
    List<AppendEntriesRequestProto> received = new ArrayList<>();
    PeerService.Receiver receiver =
        request -> {
          received.add(request);
          return CompletableFuture.completedFuture(null);
        };
    String taken =
        appends.installSnapshot(
            InstallSnapshotRequestProto.newBuilder().setLeaderTerm(3).build(),
            request -> {
              assertTrue(appends.tryAppend(entry, receiver));
              assertFalse(appends.tryAppend(members, receiver));
              return "taken";
            });
    assertEquals("taken", taken);
    appends.append(members, () -> false, receiver);
    assertEquals(List.of(entry, members), received);
  }

  /** What no server has begun to use yet. */
  private FollowerAppends unattached() {
    DiskWatch working =
        new DiskWatch(
            LoneFollower.ID,
            directory,
            Duration.ofSeconds(1),
            new Supervision(LoneFollower.ID, failure -> {}));
    return new FollowerAppends(
        1_000,
        new RatisUpdater(),
        working,
        failure -> {},
        PromiseTrace.NONE,
        new SealedEntries(DirectoryKeys.off(), directory));
  }

  /** As when a leader has a new connection, and sends another snapshot by it. */
  @Test
  void snapshotsAreTakenOverOneAtATime() throws Exception {
    FollowerAppends appends = unattached();
    InstallSnapshotRequestProto request = InstallSnapshotRequestProto.getDefaultInstance();
    AtomicInteger begun = new AtomicInteger();
    CountDownLatch end = new CountDownLatch(1);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      Thread thread =
          new Thread(
              () ->
                  Assertions.assertDoesNotThrow(
                      () ->
                          appends.installSnapshot(
                              request,
                              checked -> {
                                begun.incrementAndGet();
                                Assertions.assertDoesNotThrow(() -> end.await());
                                return checked;
                              })));
      thread.start();
      threads.add(thread);
    }
    await()
        .atMost(LoneFollower.DEADLINE)
        .until(() -> threads.stream().allMatch(one -> one.getState() == Thread.State.WAITING));
    assertEquals(1, begun.get());
    end.countDown();
    for (Thread thread : threads) {
      thread.join(LoneFollower.DEADLINE.toMillis());
    }
    assertEquals(2, begun.get());
  }

  /** As when the leader has written another snapshot, and purged its log up to that. */
  @Test
  void snapshotWaitsUntilTheOneBeforeIsLoaded() throws Exception {
    CountDownLatch held = new CountDownLatch(1);
    node.consumer.holdRestore = held;
    assertEquals(
        InstallSnapshotResult.SUCCESS,
        node.installSnapshot(1, at(1, LAST_OF_SNAPSHOT - 1))
            .get(LoneFollower.DEADLINE.toSeconds(), TimeUnit.SECONDS)
            .getResult());
    CompletableFuture<InstallSnapshotReplyProto> second =
        node.installSnapshot(1, at(1, LAST_OF_SNAPSHOT));
    await().atMost(LoneFollower.DEADLINE).until(() -> second.isDone() || isHeldUp("awaitLoaded"));
    held.countDown();
    assertEquals(
        InstallSnapshotResult.SUCCESS,
        second.get(LoneFollower.DEADLINE.toSeconds(), TimeUnit.SECONDS).getResult());
    assertGoesOnAfterTheSnapshot(2);
  }

  private static boolean isHeldUp(String method) {
    return isInState(Thread.State.TIMED_WAITING, method);
  }

  private static boolean isInState(Thread.State state, String method) {
    return Thread.getAllStackTraces().entrySet().stream()
        .filter(thread -> thread.getKey().getState() == state)
        .flatMap(thread -> Stream.of(thread.getValue()))
        .anyMatch(frame -> frame.getMethodName().equals(method));
  }

  /** Ratis would carry out no append after one that failed, and say so to the leader forever. */
  @Test
  void nodeThatCannotAppendAnyMoreFails() throws Exception {
    node.ask(node.request(2, null, NOTHING, entry(2, 0, "first")));
    node.send(node.request(2, at(2, 0), NOTHING, entry(1, 1, "of a term before")));
    await().atMost(LoneFollower.DEADLINE).until(() -> !node.consumer.failures.isEmpty());
    String message = node.consumer.failures.get(0).getMessage();
    assertTrue(message.contains("appends no more entries"), message);
  }

  /** Ratis hears of no error in that thread, and would answer no leader any more. */
  @Test
  void nodeWhoseLogIsNoLongerWrittenFails() throws Exception {
    try (HeldWriter writer = new HeldWriter(LoneFollower.ID, new NoClassDefFoundError("a test"))) {
      node.send(node.request(1, null, NOTHING, entry(1, 0, "first")));
      writer.awaitHeld();
    }
    await().atMost(LoneFollower.DEADLINE).until(() -> !node.consumer.failures.isEmpty());
    String message = node.consumer.failures.get(0).getMessage();
    assertTrue(message.startsWith("the thread that writes the log of node n2 failed"), message);
  }

  /** The log ends before the snapshot, and the leader goes on after the snapshot. */
  @Test
  void nodeThatWasKilledBeforeItsLogWasCutGoesOn() throws Exception {
    node.ask(node.request(1, null, NOTHING, entry(1, 0, "a"), entry(1, 1, "b")));
    node.close();
    Path storage = LoneFollower.storage(directory);
    MembersFile.write(storage, node.membersEntry(1, 0));
    Files.write(storage.resolve("sm/snapshot.1_" + LAST_OF_SNAPSHOT), LoneFollower.snapshot());
    start();
    assertGoesOnAfterTheSnapshot();
  }

  /**
   * Who counts the entries of this segment by their lengths finds fewer than the snapshot covers.
   */
  @Test
  void damagedLogIsNotTakenForOneThatTheSnapshotCovers() throws Exception {
    LogEntryProto[] entries =
        LongStream.range(0, 2 * LAST_OF_SNAPSHOT)
            .mapToObj(index -> entry(1, index, "x".repeat(50)))
            .toArray(LogEntryProto[]::new);
    node.close();
    node = new LoneFollower(directory.resolve("large segments"), RaftSettings.SNAPSHOT_LOG_BYTES);
    node.ask(node.request(1, null, NOTHING, entries));
    node.close();
    Path data = directory.resolve("large segments");
    Path storage = LoneFollower.storage(data);
    Files.write(storage.resolve("sm/snapshot.1_" + LAST_OF_SNAPSHOT), LoneFollower.snapshot());
    Path segment = storage.resolve("current/log_inprogress_0");
    byte[] log = Files.readAllBytes(segment);
    // the length of the first entry, as a varint of two bytes, leads over most of the others
    log[8] = (byte) 0xff;
    log[9] = 0x7f;
    Files.write(segment, log);
    IOException refused =
        assertThrows(
            IOException.class, () -> new LoneFollower(data, RaftSettings.SNAPSHOT_LOG_BYTES));
    assertTrue(
        refused.getMessage().contains("its log is damaged in " + segment), refused.getMessage());
    assertTrue(Files.exists(segment));
  }

  /** Ratis removes segments of the log from the last one that is not needed to the first. */
  @Test
  void nodeThatWasKilledWhileItsLogWasCutGoesOn() throws Exception {
    LogEntryProto[] entries =
        LongStream.range(0, LAST_OF_SNAPSHOT + 1)
            .mapToObj(index -> entry(1, index, "x".repeat(500)))
            .toArray(LogEntryProto[]::new);
    node.ask(node.request(1, null, NOTHING, entries));
    node.close();
    Path storage = LoneFollower.storage(directory);
    MembersFile.write(storage, node.membersEntry(1, 0));
    Files.write(storage.resolve("sm/snapshot.1_" + LAST_OF_SNAPSHOT), LoneFollower.snapshot());
    List<Path> closed;
    try (Stream<Path> files = Files.list(storage.resolve("current"))) {
      closed =
          files.filter(file -> file.getFileName().toString().matches("log_\\d+-\\d+")).toList();
    }
    assertTrue(closed.size() > 3, closed::toString);
    for (Path segment : closed) {
      if (!segment.getFileName().toString().startsWith("log_0-")) {
        Files.delete(segment);
        break;
      }
    }
    start();
    assertGoesOnAfterTheSnapshot();
  }

  @Test
  void snapshotOfTheLeaderIsSyncedBeforeItIsAcknowledged() throws Exception {
    node.ask(node.request(1, null, NOTHING, entry(1, 0, "old")));
    Path storage = LoneFollower.storage(directory);
    List<Path> forced;
    try (RecordedForces forces = new RecordedForces()) {
      assertEquals(
          InstallSnapshotResult.SUCCESS,
          node.installSnapshot(1, at(1, LAST_OF_SNAPSHOT))
              .get(LoneFollower.DEADLINE.toSeconds(), TimeUnit.SECONDS)
              .getResult());
      forced = forces.in(directory);
    }
    Path received = storage.resolve("tmp/snapshot-snapshot");
    int file = forced.indexOf(received.resolve("snapshot.1_" + LAST_OF_SNAPSHOT));
    assertTrue(file >= 0, "the file: " + forced);
    assertTrue(forced.contains(received), "its name: " + forced);
    assertEquals(
        2,
        Collections.frequency(forced, storage),
        "the names after each of two renames: " + forced);
    assertTrue(forced.indexOf(storage) > file, "the file before its names: " + forced);
    assertGoesOnAfterTheSnapshot();
    try (Stream<Path> left = Files.list(storage)) {
      assertEquals(
          List.of(),
          left.filter(path -> path.getFileName().toString().startsWith("sm.tmp")).toList());
    }
  }

  /** Ratis asks for the snapshot before it acknowledges it. */
  @Test
  void snapshotThatRatisAsksForIsInItsPlaceForGood() throws Exception {
    Path storage = LoneFollower.storage(directory);
    StateMachine machine = node.division().getStateMachine();
    machine.pause();
    Path aside = storage.resolve("sm.tmp");
    assertTrue(Files.isDirectory(aside));
    Files.createDirectory(storage.resolve("sm"));
    try (RecordedForces forces = new RecordedForces()) {
      machine.getLatestSnapshot();
      assertEquals(List.of(storage), forces.in(directory));
    }
    assertFalse(Files.exists(aside), "the old state");
  }

  @Test
  void nodeThatWasKilledBetweenTwoRenamesGoesOn() throws Exception {
    node.installSnapshot(1, at(1, LAST_OF_SNAPSHOT)).get();
    node.close();
    Path storage = LoneFollower.storage(directory);
    Files.move(storage.resolve("sm"), storage.resolve("sm.tmp20261123-120000"));
    Path received = storage.resolve("tmp/snapshot-x");
    Files.createDirectories(received);
    Files.write(received.resolve("part"), new byte[1]);
    start();
    assertGoesOnAfterTheSnapshot();
    assertFalse(Files.exists(received), "what did not arrive is removed");
  }

  private void assertGoesOnAfterTheSnapshot() throws Exception {
    assertGoesOnAfterTheSnapshot(1);
  }

  /**
   * @param restored how many snapshots the node has loaded
   */
  private void assertGoesOnAfterTheSnapshot(int restored) throws Exception {
    AppendEntriesRequestProto after =
        node.request(
            1,
            at(1, LAST_OF_SNAPSHOT),
            LAST_OF_SNAPSHOT + 1,
            entry(1, LAST_OF_SNAPSHOT + 1, "after"));
    assertEquals(AppendResult.SUCCESS, node.ask(after).getResult());
    await()
        .atMost(LoneFollower.DEADLINE)
        .until(() -> node.consumer.commands.equals(List.of(command("after"))));
    assertEquals(restored, node.consumer.restored.get());
    assertEquals(List.of(), node.consumer.failures);
  }

  /** A leader that stood still while it sent a snapshot, and goes on in a term that has passed. */
  @Test
  void leaderOfAnEarlierTermDoesNotSayWhoTheMembersAre() throws Exception {
    node.ask(node.request(2, null, NOTHING, entry(2, 0, "first")));
    List<LogStatus.Member> members = node.members();
    LogEntryProto others =
        LogEntryProto.newBuilder()
            .setTerm(1)
            .setIndex(0)
            .setConfigurationEntry(
                RaftConfigurationProto.newBuilder()
                    .addPeers(
                        RaftPeerProto.newBuilder()
                            .setId(ByteString.copyFromUtf8(LoneFollower.ID))
                            .setAddress("127.0.0.1:1")))
            .build();
    assertEquals(
        InstallSnapshotResult.NOT_LEADER,
        node.installSnapshot(1, at(1, LAST_OF_SNAPSHOT), others)
            .get(LoneFollower.DEADLINE.toSeconds(), TimeUnit.SECONDS)
            .getResult());
    assertEquals(members.size(), node.members().size());
  }

  /** What comes after the snapshot does not name them: they are as of its last entry. */
  @Test
  void membersOfASnapshotStayUntilAnEntryNamesOthers() throws Exception {
    assertEquals(
        InstallSnapshotResult.SUCCESS,
        node.installSnapshot(
                1, at(1, LAST_OF_SNAPSHOT), node.membersEntry(0, 50, Set.of("n1", "n2")))
            .get(LoneFollower.DEADLINE.toSeconds(), TimeUnit.SECONDS)
            .getResult());
    assertGoesOnAfterTheSnapshot();
    assertEquals(50, node.division().getRaftConf().getLogEntryIndex());
    assertEquals(2, node.members().size());
  }

  /** As when the leader has lost the answer to entries, and takes the node for far behind. */
  @Test
  void membersOfASnapshotThatTheNodeHasAreNotTaken() throws Exception {
    node.ask(
        node.request(
            1,
            null,
            1,
            node.membersEntry(1, 0, Set.of("n1", "n2")),
            entry(1, 1, "covered"),
            node.membersEntry(1, 2)));
    assertEquals(
        InstallSnapshotResult.ALREADY_INSTALLED,
        node.installSnapshot(1, at(1, 1), node.membersEntry(0, 0, Set.of("n1", "n2")))
            .get(LoneFollower.DEADLINE.toSeconds(), TimeUnit.SECONDS)
            .getResult());
    assertEquals(2, node.division().getRaftConf().getLogEntryIndex());
    assertEquals(3, node.members().size());
  }

  /**
   * As when the leader changes while the node is being added: the new leader takes it for a member,
   * and its first request comes before the entry that makes it one.
   */
  @Test
  void nodeThatJoinsStandsForNoElectionBeforeItIsAMember() throws Exception {
    node.close();
    await().atMost(LoneFollower.DEADLINE).until(() -> !takesPartInElections());
    node = LoneFollower.joining(directory.resolve("joining"), SNAPSHOT_LOG_BYTES);
    node.ask(node.request(1, null, NOTHING, entry(1, 0, "first")));
    AppendEntriesRequestProto early = node.request(2, at(1, 7), NOTHING, entry(2, 8, "far ahead"));
    assertEquals(AppendResult.INCONSISTENCY, node.ask(early).getResult());
    assertFalse(takesPartInElections());
    assertEquals(
        AppendResult.SUCCESS,
        node.ask(node.request(2, at(1, 0), NOTHING, node.membersEntry(2, 1))).getResult());
    assertEquals(3, node.members().size());
    node.ask(node.request(2, at(2, 1), NOTHING, entry(2, 2, "now it is one")));
    await()
        .atMost(LoneFollower.DEADLINE)
        .until(() -> node.status().role() == LogStatus.Role.CANDIDATE);
  }

  /** Returns true if the thread runs that makes a silent leader's follower a candidate. */
  private static boolean takesPartInElections() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .anyMatch(name -> name.startsWith(LoneFollower.ID) && name.endsWith("-FollowerState"));
  }
}
