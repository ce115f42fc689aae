package dev.tollgate.log.ratis;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.LivingDirectory;
import dev.tollgate.cluster.Ports;
import dev.tollgate.core.command.AppliedDigest;
import dev.tollgate.core.command.ClusterIdentity;
import dev.tollgate.core.command.ClusterKey;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.UniqueId;
import dev.tollgate.log.CommandPipeline;
import dev.tollgate.log.LogClock;
import dev.tollgate.log.LogFailedException;
import dev.tollgate.log.LogStatus;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.log.RecordingConsumer;
import dev.tollgate.log.StateDiffersException;
import dev.tollgate.log.Supervision;
import dev.tollgate.log.entry.EntryCodec;
import dev.tollgate.log.entry.Proposal;
import dev.tollgate.log.entry.ProposedEntry;
import dev.tollgate.log.entry.UnknownCommandException;
import dev.tollgate.log.peer.NodeIdentity;
import dev.tollgate.log.snapshot.Snapshots;
import dev.tollgate.log.trace.PromiseFiles;
import dev.tollgate.snapshot.SnapshotWriter;
import dev.tollgate.snapshot.StateCopy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.TransferLeadershipRequest;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.raftlog.RaftLogBase;
import org.apache.ratis.server.storage.RaftStorageMetadata;
import org.apache.ratis.util.AutoCloseableLock;
import org.apache.ratis.util.ResourceSemaphore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The log on real Ratis servers, three of them in this JVM on loopback. */
class RatisLogTest {
  private static final byte[] OF_A_LATER_VERSION = {99};
  private static final Duration DEADLINE = Duration.ofSeconds(30);

  @TempDir Path directory;

  private final List<TestNode> nodes = new ArrayList<>();
  private Duration electionTimeout = RaftSettings.ELECTION_TIMEOUT;

  /** One member of the group. */
  private final class TestNode {
    final RaftSettings settings;
    RecordingConsumer consumer = new RecordingConsumer();
    RatisLog log;
    CommandPipeline pipeline;

    TestNode(String id, SortedMap<String, String> peers) throws IOException {
      this(id, peers.get(id), peers);
    }

    /**
     * @param peers the members of a new group; none for a node that is to be added
     */
    TestNode(String id, String address, SortedMap<String, String> peers) throws IOException {
      settings =
          new RaftSettings(
                  id,
                  address,
                  peers,
                  directory.resolve(id),
                  electionTimeout,
                  RaftSettings.SNAPSHOT_LOG_BYTES)
              .withPromises(PromiseFiles.of(directory, id));
      start();
    }

    void start() throws IOException {
      consumer = new RecordingConsumer();
      log = new RatisLog(settings, consumer);
      pipeline =
          new CommandPipeline(
              log,
              LogClock.of(settings.nodeId(), settings.clock(), log),
              1 << 20,
              new Supervision(settings.nodeId(), consumer::failed),
              command -> null,
              () -> AppliedDigest.NONE);
      log.start();
    }
  }

  @AfterEach
  void stopAll() throws IOException {
    nodes.forEach(node -> node.log.close());
    PromiseFiles.check(directory);
  }

  /** The node listens for clients first, and they may ask at once. */
  @Test
  void logThatHasNotStartedOrIsClosedAnswersWhatClientsAsk() throws Exception {
    RaftSettings settings = RaftSettings.alone("n1", directory.resolve("not started"));
    RatisLog log = new RatisLog(settings, new RecordingConsumer());
    assertServesNobody(log, LogStatus.Role.STARTING);
    log.close();
    assertServesNobody(log, LogStatus.Role.STOPPED);
  }

  private static void assertServesNobody(RatisLog log, LogStatus.Role role) throws Exception {
    assertEquals(role, log.status().role());
    assertFalse(log.isTakingOver());
    assertNull(log.leaderId());
    assertNull(log.servingLeader());
    assertEquals(0, log.term());
    assertEquals(OptionalLong.empty(), log.readIndex().get(1, TimeUnit.SECONDS));
    CompletableFuture<Void> proposed =
        log.append(ProposedEntry.untimed(new Command.AnnounceNode("n1", "127.0.0.1:1")));
    ExecutionException refused =
        assertThrows(ExecutionException.class, () -> proposed.get(1, TimeUnit.SECONDS));
    assertTrue(refused.getMessage().contains("" + log.status().role()), refused.getMessage());
  }

  @Test
  void allNodesApplyTheSameCommandsInTheSameOrder() throws Exception {
    startThree();
    TestNode leader = leader();
    for (int i = 0; i < 100; i++) {
      perform(leader, "a" + i);
    }
    for (TestNode node : nodes) {
      awaitCommands(node, 100);
      assertEquals(leader.consumer.commands, node.consumer.commands);
      assertEquals(leader.consumer.indexes, node.consumer.indexes);
    }
  }

  private static final StateCopy EMPTY =
      new StateCopy() {
        @Override
        public void writeTo(SnapshotWriter out) {}

        @Override
        public void close() {}
      };

  /** It appends and votes meanwhile, so the others have a majority. */
  @Test
  void nodeWhoseStateDiffersIsNotElectedAndTakesTheStateOfTheNextLeader() throws Exception {
    startThree();
    TestNode leader = leader();
    perform(leader, "one");
    TestNode differs = followersOf(leader).get(0);
    TestNode other = followersOf(leader).get(1);
    awaitCommands(differs, 1);
    differs.consumer.failNext = new StateDiffersException("on purpose");
    perform(leader, "two");
    await().atMost(DEADLINE).until(() -> !differs.consumer.differences.isEmpty());
    differs.consumer.failNext = null;
    assertFalse(isTakenOver(leader, differs, Duration.ofSeconds(1)));
    leader.log.close();
    nodes.remove(leader);
    await().atMost(DEADLINE).until(() -> other.consumer.leading.get());
    perform(other, "three");
    assertFalse(differs.consumer.leading.get());
    assertEquals(0, differs.consumer.restored.get());
    other.consumer.copies.add(EMPTY);
    perform(other, "four");
    await().atMost(DEADLINE).until(() -> differs.consumer.restored.get() == 1);
    perform(other, "five");
    await()
        .atMost(DEADLINE)
        .until(
            () ->
                differs.consumer.commands.contains(command("five"))
                    && !differs.consumer.commands.contains(command("two")));
    assertEquals(List.of(), differs.consumer.failures);
    other.log.close();
    nodes.remove(other);
    leader.start();
    nodes.add(leader);
    await().atMost(DEADLINE).until(() -> isLed());
  }

  /** It was elected before it had applied what an earlier leader says. */
  @Test
  void leaderWhoseStateDiffersStepsDown() throws Exception {
    startThree();
    TestNode differs = leader();
    perform(differs, "one");
    differs.consumer.failNext = new StateDiffersException("on purpose");
    differs.pipeline.submit(command("two"), Proposal.Listener.NOBODY);
    await().atMost(DEADLINE).until(() -> !differs.consumer.differences.isEmpty());
    differs.consumer.failNext = null;
    List<TestNode> others = followersOf(differs);
    await()
        .atMost(DEADLINE)
        .until(() -> others.stream().anyMatch(node -> node.consumer.leading.get()));
    for (TestNode other : others) {
      other.consumer.copies.add(EMPTY);
    }
    perform(leader(), "three");
    await().atMost(DEADLINE).until(() -> differs.consumer.restored.get() == 1);
    assertEquals(List.of(), differs.consumer.failures);
  }

  private boolean isLed() {
    return nodes.stream().anyMatch(node -> node.consumer.leading.get());
  }

  @Test
  void followerRefusesToPropose() throws Exception {
    startThree();
    TestNode leader = leader();
    TestNode follower = followersOf(leader).get(0);
    assertThrows(Exception.class, () -> perform(follower, "x"));
    assertEquals(leader.settings.nodeId(), follower.log.leaderId());
  }

  @Test
  void followerHasItsLeaderAppendACommand() throws Exception {
    startThree();
    TestNode leader = leader();
    TestNode follower = followersOf(leader).get(0);
    Command ofItself = new Command.AnnounceNode(follower.settings.nodeId(), "10.0.0.1:7400");
    follower.log.forward(ofItself).get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
    for (TestNode node : nodes) {
      await().atMost(DEADLINE).until(() -> node.consumer.commands.equals(List.of(ofItself)));
    }
  }

  /** Others would wait for a proof that it cannot give if it loses its power now. */
  @Test
  void nodeIsNotMadeKnownBeforeItHasTheKeyOfItsCluster() throws Exception {
    startThree();
    TestNode leader = leader();
    TestNode follower = followersOf(leader).get(0);
    String id = follower.settings.nodeId();
    CompletableFuture<Void> known =
        follower.log.forward(
            new Command.AnnounceNode(id, "10.0.0.1:7400", follower.log.incarnation()));
    perform(leader, "before");
    awaitCommands(follower, 1);
    assertEquals(List.of(command("before")), leader.consumer.commands);
    ClusterIdentity named =
        ClusterIdentity.NONE.named(new UniqueId(1, 2), new ClusterKey(new byte[ClusterKey.BYTES]));
    nodes.forEach(node -> node.consumer.identity = named);
    perform(leader, "named");
    known.get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
    awaitCommands(leader, 3);
    Path file = follower.settings.directory().resolve(NodeIdentity.FILE);
    assertTrue(Files.readString(file).contains("cluster-key=00"));
  }

  /** Or a node, or whoever has its certificate, would be administrator of the cluster. */
  @Test
  void leaderTakesFromANodeOnlyWhatTheNodeSaysOfItself() throws Exception {
    startThree();
    TestNode leader = leader();
    TestNode follower = followersOf(leader).get(0);
    List<Command> others =
        List.of(
            command("a session"),
            new Command.AnnounceNode(leader.settings.nodeId(), "10.0.0.1:7400"),
            new Command.ForgetNode(leader.settings.nodeId()),
            new Command.SkipCommand(1, 0));
    for (Command other : others) {
      CompletableFuture<Void> refused = follower.log.forward(other);
      ExecutionException failure =
          assertThrows(
              ExecutionException.class, () -> refused.get(DEADLINE.toSeconds(), TimeUnit.SECONDS));
      assertTrue(failure.toString().contains("may not propose"), failure.toString());
    }
    follower.log.forward(new Command.VerifyReplicas(List.of("n9"))).get(20, TimeUnit.SECONDS);
    awaitCommands(leader, 1);
    Command.VerifyReplicas asked =
        assertInstanceOf(Command.VerifyReplicas.class, leader.consumer.commands.get(0));
    assertEquals(
        nodes.stream().map(node -> node.settings.nodeId()).sorted().toList(),
        asked.nodes().stream().sorted().toList());
  }

  @Test
  void barrierPassesAtTheLeaderAndFailsAtAFollower() throws Exception {
    startThree();
    TestNode leader = leader();
    perform(leader, "one");
    assertTrue(barrier(leader));
    long entries = leader.log.appliedIndex();
    assertTrue(barrier(leader));
    assertEquals(entries, leader.log.appliedIndex(), "it takes no entry");
    for (TestNode node : followersOf(leader)) {
      assertFalse(barrier(node));
    }
  }

  @Test
  void leadershipIsConfirmedByAnyMajorityAndByNoLess() throws Exception {
    // so long a leader waits for answers, on a busy machine too
    electionTimeout = Duration.ofSeconds(1);
    startThree();
    TestNode leader = leader();
    perform(leader, "one");
    assertTrue(barrier(leader));
    assertEquals(leader.log.appliedIndex(), readIndex(leader).getAsLong());
    List<TestNode> followers = followersOf(leader);
    followers.get(0).log.close();
    for (int i = 0; i < 100; i++) {
      assertTrue(readIndex(leader).isPresent(), "one follower is left");
    }
    followers.get(0).start();
    awaitCommands(followers.get(0), 1);
    stop(followers.get(1));
    await().atMost(DEADLINE).until(() -> readIndex(leader).isPresent());
    stop(followers.get(0));
    assertEquals(OptionalLong.empty(), readIndex(leader));
    assertFalse(barrier(leader));
  }

  /** As while a large state is encoded for a snapshot. */
  @Test
  void leadershipIsProvenWhileNothingCanBeApplied() throws Exception {
    // so long a leader waits for answers, on a busy machine too
    electionTimeout = Duration.ofSeconds(1);
    startThree();
    TestNode leader = leader();
    CountDownLatch held = holdApplying(leader, "busy");
    CompletableFuture<Boolean> renewal = new CompletableFuture<>();
    leader.pipeline.leadership(told(renewal));
    CompletableFuture<Boolean> read = new CompletableFuture<>();
    leader.pipeline.barrier(told(read));
    assertTrue(renewal.get(DEADLINE.toSeconds(), TimeUnit.SECONDS));
    assertTrue(readIndex(leader).isPresent());
    assertFalse(read.isDone(), "what is committed is not applied yet");
    held.countDown();
    assertTrue(read.get(DEADLINE.toSeconds(), TimeUnit.SECONDS));
  }

  @Test
  void restartedNodeAppliesTheWholeLogAgain() throws Exception {
    startThree();
    TestNode leader = leader();
    perform(leader, "before");
    TestNode follower = followersOf(leader).get(0);
    follower.log.close();
    perform(leader, "meanwhile");
    follower.start();
    awaitCommands(follower, 2);
    assertEquals(leader.consumer.commands, follower.consumer.commands);
  }

  @Test
  void restartOfAllNodesKeepsWhatWasAcknowledged() throws Exception {
    startThree();
    perform(leader(), "kept");
    List<Command> before = leader().consumer.commands;
    nodes.forEach(node -> node.log.close());
    for (TestNode node : nodes) {
      node.start();
    }
    TestNode leader = leader();
    assertEquals(before, leader.consumer.commands, "a leader has applied all before it leads");
    perform(leader, "new");
    for (TestNode node : nodes) {
      awaitCommands(node, 2);
    }
  }

  @Test
  void anotherNodeLeadsWhenTheLeaderStops() throws Exception {
    startThree();
    TestNode first = leader();
    perform(first, "one");
    first.log.close();
    nodes.remove(first);
    TestNode second = leader();
    perform(second, "two");
    assertEquals(2, second.consumer.commands.size());
  }

  /**
   * The time until the next attempt must not grow with the outages, or with what was tried during
   * one.
   */
  @Test
  void voterThatComesBackIsAskedAtOnceHoweverOftenItWasAway() throws Exception {
    electionTimeout = Duration.ofMillis(50);
    SortedMap<String, String> peers = Ports.peers(3);
    try (PortOfAPeer present = new PortOfAPeer(peers.get("n3"))) {
      nodes.add(new TestNode("n1", peers));
      for (int outage = 0; outage < 10; outage++) {
        try (PortOfAPeer voter = new PortOfAPeer(peers.get("n2"))) {
          await().atMost(DEADLINE).until(() -> voter.connections.get() > 0);
        }
        int others = present.connections.get();
        await().atMost(DEADLINE).until(() -> present.connections.get() >= others + 2);
      }
    }
  }

  @Test
  void nodeAloneKeepsItsLogWithoutAPort() throws Exception {
    RaftSettings alone = RaftSettings.alone("solo", directory.resolve("solo"));
    RecordingConsumer consumer = new RecordingConsumer();
    try (RatisLog log = new RatisLog(alone, consumer)) {
      log.start();
      await().atMost(DEADLINE).untilTrue(consumer.leading);
      assertTrue(log.isAlone());
      log.append(
              new ProposedEntry(
                  1, AppliedDigest.NONE, List.of(proposal("kept", new CompletableFuture<>()))))
          .get();
    }
    RecordingConsumer again = new RecordingConsumer();
    try (RatisLog log = new RatisLog(alone, again)) {
      log.start();
      await().atMost(DEADLINE).untilTrue(again.leading);
      assertEquals(List.of(command("kept")), again.commands);
    }
  }

  /** Left to itself, the thread that writes the log sleeps for a second before it ends. */
  @Test
  void closingWakesTheThreadThatWritesTheLog() throws Exception {
    long fastestMillis = Long.MAX_VALUE;
    for (int i = 0; i < 3; i++) {
      RecordingConsumer consumer = new RecordingConsumer();
      RatisLog log =
          new RatisLog(RaftSettings.alone("solo", directory.resolve("solo" + i)), consumer);
      log.start();
      await().atMost(DEADLINE).untilTrue(consumer.leading);
      long begin = System.nanoTime();
      log.close();
      fastestMillis =
          Math.min(fastestMillis, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin));
    }
    assertTrue(fastestMillis < 500, "the fastest of three took " + fastestMillis + " ms");
  }

  @Test
  void largestEntryIsReplicated() throws Exception {
    // no other node is to lead because this one is busy for a moment
    electionTimeout = Duration.ofSeconds(5);
    startThree();
    long end = System.nanoTime() + DEADLINE.toNanos();
    while (!isPerformed(leader(), "x".repeat(17 << 20))) {
      assertTrue(System.nanoTime() < end, "no leader stays one while it replicates the entry");
    }
    for (TestNode node : nodes) {
      await().atMost(DEADLINE).until(() -> !node.consumer.commands.isEmpty());
      assertEquals(List.of(), node.consumer.failures);
    }
  }

  /** A hundred times what a thread has by default; DepthTest says what needs it. */
  @Test
  void entriesMayRecurseDeep() throws Exception {
    // a collection goes through stacks of a million frames, and the leader has to stay one
    electionTimeout = Duration.ofSeconds(1);
    startThree();
    TestNode leader = leader();
    for (TestNode node : nodes) {
      node.consumer.depth = 1_000_000;
    }
    perform(leader, "deep");
    for (TestNode node : nodes) {
      awaitCommands(node, 1);
      assertEquals(List.of(), node.consumer.failures);
    }
  }

  static Stream<Throwable> faults() {
    return Stream.of(
        new IllegalStateException("told to fail"),
        new OutOfMemoryError("told to fail"),
        new StackOverflowError("told to fail"));
  }

  @ParameterizedTest
  @MethodSource("faults")
  void replicaThatFailsToApplyStopsAndTheOthersGoOn(Throwable fault) throws Exception {
    startThree();
    TestNode leader = leader();
    TestNode follower = followersOf(leader).get(0);
    follower.consumer.failNext = fault;
    perform(leader, "one");
    awaitFailure(follower);
    assertSame(fault, follower.consumer.failures.get(0));
    perform(leader, "two");
    assertEquals(List.of(), follower.consumer.commands);
    assertEquals(List.of(), leader.consumer.failures);
    follower.log.close();
    follower.start();
    awaitCommands(follower, 2);
  }

  @ParameterizedTest
  @MethodSource("faults")
  void leaderThatFailsToApplyIsReplacedAndAcknowledgesNothing(Throwable fault) throws Exception {
    startThree();
    TestNode leader = leader();
    leader.consumer.failNext = fault;
    assertFalse(isPerformed(leader, "one"));
    assertSame(fault, leader.consumer.failures.get(0));
    assertFalse(barrier(leader));
    // as a replica that has failed says itself
    leader.consumer.leading.set(false);
    TestNode next = leader();
    assertNotSame(leader, next);
    perform(next, "two");
    assertEquals(command("two"), next.consumer.commands.get(next.consumer.commands.size() - 1));
  }

  /**
   * Two of three nodes are there, so the leader needs this one; left to itself, Ratis would have it
   * acknowledge what is in its memory when the leader sends it again.
   */
  @Test
  void nodeWhoseLogHasFailedAcknowledgesNothing() throws Exception {
    // another leader would begin another segment, and large entries keep a busy disk for a while
    electionTimeout = Duration.ofSeconds(1);
    startThree();
    TestNode leader = leader();
    List<TestNode> followers = followersOf(leader);
    TestNode failing = followers.get(0);
    perform(leader, "x");
    awaitCommands(failing, 1);
    followers.get(1).log.close();
    nodes.remove(followers.get(1));
    failToBeginSegments(failing, 2, 10);
    // a segment of the log has room for one of these
    int applied = 1;
    while (failing.consumer.failures.isEmpty() && isPerformed(leader, "x".repeat(17 << 20))) {
      applied++;
    }
    awaitFailure(failing);
    assertInstanceOf(LogFailedException.class, failing.consumer.failures.get(0));
    assertEquals(2, applied);
    await().atMost(DEADLINE).untilFalse(leader.consumer.leading);
    assertEquals(applied, leader.consumer.commands.size(), "nothing was committed by one disk");
  }

  @Test
  void nodeThatWasKilledWhileItWroteAnEntryStarts() throws Exception {
    startThree();
    TestNode leader = leader();
    TestNode killed = followersOf(leader).get(0);
    perform(leader, "before");
    awaitCommands(killed, 1);
    killed.log.close();
    Path segment =
        Snapshots.segments(current(killed)).stream()
            .filter(file -> file.getFileName().toString().startsWith("log_inprogress_"))
            .findFirst()
            .orElseThrow();
    byte[] unfinished = {(byte) 0x90, 0x4e, 8, 1};
    byte[] room = new byte[20_000];
    Files.write(segment, unfinished, StandardOpenOption.APPEND);
    Files.write(segment, room, StandardOpenOption.APPEND);
    perform(leader, "meanwhile");
    killed.start();
    awaitCommands(killed, 2);
    assertEquals(leader.consumer.commands, killed.consumer.commands);
  }

  /** Here no node is of that version; the leader too has only the bytes to go by. */
  @Test
  void commandOfALaterVersionStopsTheNodesThatDoNotKnowIt() throws Exception {
    startThree();
    TestNode leader = leader();
    perform(leader, "known");
    for (TestNode node : nodes) {
      awaitCommands(node, 1);
    }
    CompletableFuture<Void> appended = leader.log.append(ofALaterVersion());
    awaitFailure(leader);
    assertThrows(
        ExecutionException.class, () -> appended.get(DEADLINE.toSeconds(), TimeUnit.SECONDS));
    for (TestNode node : nodes) {
      // the others learn of it only if there is a majority left
      for (Throwable failure : node.consumer.failures) {
        assertInstanceOf(UnknownCommandException.class, failure);
      }
      assertEquals(1, node.consumer.commands.size(), "nothing of the entry was applied");
    }
  }

  @Test
  void nodeThatDidNotKnowACommandAppliesItOnceItDoes() throws Exception {
    startThree();
    TestNode leader = leader();
    TestNode older = followersOf(leader).get(0);
    perform(leader, "known");
    awaitCommands(older, 1);
    older.consumer.failNext = new UnknownCommandException("a command of kind 99");
    perform(leader, "new");
    awaitFailure(older);
    perform(leader, "without it");
    older.log.close();
    older.start();
    awaitCommands(older, 3);
    assertEquals(leader.consumer.commands, older.consumer.commands);
  }

  /** Or one node of a later version would stop all the others as soon as it starts. */
  @Test
  void leaderRefusesWhatANodeOfALaterVersionForwards() throws Exception {
    startThree();
    TestNode leader = leader();
    TestNode later = followersOf(leader).get(0);
    CompletableFuture<Void> refused = later.log.forward(OF_A_LATER_VERSION);
    ExecutionException failure =
        assertThrows(
            ExecutionException.class, () -> refused.get(DEADLINE.toSeconds(), TimeUnit.SECONDS));
    assertTrue(failure.toString().contains("a command of kind 99"), failure.toString());
    perform(leader, "known");
    for (TestNode node : nodes) {
      awaitCommands(node, 1);
      assertEquals(List.of(), node.consumer.failures);
    }
  }

  /** An entry with a command that only who wrote it can read. */
  private static ProposedEntry ofALaterVersion() {
    return new ProposedEntry(
        1,
        AppliedDigest.NONE,
        List.of(
            new Proposal(
                OF_A_LATER_VERSION, RecordingConsumer.listener(new CompletableFuture<>()))));
  }

  /** It would vote twice in the term, and follow two leaders one after the other. */
  @Test
  void nodeThatCannotWriteItsVoteLeavesBeforeAnybodyHearsOfIt() throws Exception {
    startThree();
    TestNode leader = leader();
    List<TestNode> followers = followersOf(leader);
    TestNode failing = followers.get(0);
    perform(leader, "before");
    awaitCommands(failing, 1);
    Path vote = current(failing).resolveSibling("vote");
    Path given = Files.move(vote, vote.resolveSibling("given"));
    Files.createDirectory(vote);
    leader.log.membership().transferLeadership(followers.get(1).settings.nodeId()).get();
    awaitFailure(failing);
    assertEquals(
        "its term and vote in "
            + failing.settings.directory()
            + " cannot be written: "
            + vote
            + ": Is a directory. Make room there, or copy the directory to another disk, and start the node again: it"
            + " writes the end of its log to the disk anew, and catches up by itself",
        failing.consumer.failures.get(0).getMessage());
    perform(leader(), "without it");
    assertEquals(1, failing.consumer.commands.size());
    failing.log.close();
    Files.delete(vote);
    Files.move(given, vote);
    failing.start();
    awaitCommands(failing, 2);
  }

  /** Clients who were refused by a node that still leads came back at once, again and again. */
  @Test
  void leaderRefusesNoEntryWhileItHandsLeadershipOver() throws Exception {
    // with less, a busy machine ends the leadership before this test does
    electionTimeout = Duration.ofSeconds(1);
    startThree();
    TestNode leader = leader();
    TestNode successor = followersOf(leader).get(0);
    AtomicInteger refused = new AtomicInteger();
    AtomicInteger applied = new AtomicInteger();
    Queue<Optional<String>> named = new ConcurrentLinkedQueue<>();
    CountDownLatch redirected = new CountDownLatch(1);
    RaftServer server = serverOf(leader);
    Proposal.Listener insistent =
        new Proposal.Listener() {
          @Override
          public void applied(Outcome outcome) {
            applied.incrementAndGet();
            CompletableFuture.runAsync(() -> leader.pipeline.submit(command("again"), this));
          }

          @Override
          public void unknown() {
            // the consumer may hear of the end of leadership later than this
            if (isLeader(server)) {
              refused.incrementAndGet();
              CompletableFuture.runAsync(() -> leader.pipeline.submit(command("again"), this));
            } else {
              named.add(
                  Optional.ofNullable(leader.log.leaderId())
                      .filter(id -> !id.equals(leader.settings.nodeId()))
                      .or(() -> Optional.ofNullable(leader.log.successorId())));
              redirected.countDown();
            }
          }
        };
    leader.pipeline.submit(command("first"), insistent);
    String to = successor.settings.nodeId();
    leader.log.membership().transferLeadership(to).get(20, TimeUnit.SECONDS);
    assertTrue(redirected.await(20, TimeUnit.SECONDS), "the client was never sent on");
    assertEquals(0, refused.get());
    assertTrue(applied.get() > 1, "it went on meanwhile");
    assertEquals(to, leader().settings.nodeId());
    assertEquals(Optional.of(to), named.peek(), "where the client is sent on to");
    assertNull(leader.log.successorId());
  }

  /** Its clients look for the next leader while that is elected. */
  @Test
  void entryThatIsHeldIsRefusedWhenLeadershipIsLost() throws Exception {
    // with less, a busy machine ends the leadership before this test does
    electionTimeout = Duration.ofSeconds(1);
    startThree();
    TestNode leader = leader();
    RatisStateMachine machine =
        (RatisStateMachine) RatisInternals.field(RatisLog.class, "stateMachine").get(leader.log);
    machine.hold().begin();
    CompletableFuture<Outcome> outcome = new CompletableFuture<>();
    leader.pipeline.submit(command("held"), RecordingConsumer.listener(outcome));
    handOver(leader, followersOf(leader).get(0));
    assertThrows(
        ExecutionException.class, () -> outcome.get(DEADLINE.toSeconds(), TimeUnit.SECONDS));
    machine.hold().end();
  }

  /** Clients may connect to it meanwhile. */
  @Test
  void nodeThatIsElectedTakesOverUntilItHasAppliedItsLog() throws Exception {
    // with less, a busy machine ends the leadership before this test does
    electionTimeout = Duration.ofSeconds(1);
    startThree();
    TestNode leader = leader();
    TestNode successor = followersOf(leader).get(0);
    perform(leader, "entry");
    assertTrue(leader.log.isTakingOver());
    assertFalse(successor.log.isTakingOver());
    awaitCommands(successor, 1);
    successor.consumer.holdApply = new CountDownLatch(1);
    try {
      perform(leader, "entry that the successor does not apply");
      handOver(leader, successor);
      assertTrue(successor.log.isTakingOver());
      assertFalse(successor.consumer.leading.get());
      assertFalse(leader.log.isTakingOver());
    } finally {
      successor.consumer.holdApply.countDown();
    }
    assertEquals(successor, leader());
  }

  /** It stands again and again, and no client should wait for that. */
  @Test
  void nodeThatHearsNoOtherOneIsNotTakingOver() throws Exception {
    startThree();
    TestNode leader = leader();
    perform(leader, "entry");
    followersOf(leader).forEach(this::stop);
    for (int i = 0; i < 3; i++) {
      await().atMost(DEADLINE).until(() -> leader.log.status().role() == LogStatus.Role.CANDIDATE);
      assertFalse(leader.log.isTakingOver());
      await().atMost(DEADLINE).until(() -> leader.log.status().role() == LogStatus.Role.FOLLOWER);
      assertFalse(leader.log.isTakingOver());
    }
  }

  /** A client whose reply was lost asks the next leader, which must not give leadership back. */
  @Test
  void leaderIsReplacedOnceHoweverOftenItIsAsked() throws Exception {
    startThree();
    TestNode former = leader();
    String id = former.settings.nodeId();
    former.log.membership().replaceLeader(id).get(20, TimeUnit.SECONDS);
    TestNode next = leader();
    assertNotSame(former, next);
    next.log.membership().replaceLeader(id).get(20, TimeUnit.SECONDS);
    assertTrue(next.consumer.leading.get());
    ExecutionException refused =
        assertThrows(
            ExecutionException.class,
            () -> next.log.membership().replaceLeader("n9").get(20, TimeUnit.SECONDS));
    assertTrue(
        refused.getCause().getMessage().startsWith("node n9 is no member; members are "),
        refused.getCause().getMessage());
  }

  /** The one that is to take over is not there: clients write on. */
  @Test
  void leadershipThatIsOfferedInVainCostsNoEntry() throws Exception {
    // with less, a busy machine ends the leadership before this test does
    electionTimeout = Duration.ofSeconds(1);
    startThree();
    TestNode leader = leader();
    TestNode dead = followersOf(leader).get(0);
    dead.log.close();
    CompletableFuture<Void> offered =
        leader.log.membership().transferLeadership(dead.settings.nodeId());
    for (int i = 0; i < 20; i++) {
      perform(leader, "entry " + i);
    }
    ExecutionException refused =
        assertThrows(ExecutionException.class, () -> offered.get(40, TimeUnit.SECONDS));
    assertTrue(
        refused.getCause().getMessage().contains("did not take over within"),
        refused.getCause().getMessage());
    perform(leader, "afterwards");
    assertEquals(leader, leader());
  }

  /** A leader serves nobody before it has applied its log. */
  @Test
  void nodeThatHasNotAppliedItsLogTakesNoLeadership() throws Exception {
    // with less, a busy machine ends the leadership before this test does
    electionTimeout = Duration.ofSeconds(1);
    startThree();
    TestNode leader = leader();
    TestNode behind = followersOf(leader).get(0);
    behind.consumer.holdApply = new CountDownLatch(1);
    int entries = (int) LogStatus.CAUGHT_UP_ENTRIES + 2;
    try {
      for (int i = 0; i < entries; i++) {
        perform(leader, "entry " + i);
      }
      assertFalse(isTakenOver(leader, behind, Duration.ofSeconds(2)));
      assertEquals(leader, leader());
    } finally {
      behind.consumer.holdApply.countDown();
    }
    awaitCommands(behind, entries);
    takeOver(leader, behind);
  }

  /** A few entries may hold as much work as a thousand others. */
  @Test
  void nodeThatHasBeenApplyingAnEntryForLongTakesNoLeadership() throws Exception {
    electionTimeout = Duration.ofSeconds(1);
    startThree();
    TestNode leader = leader();
    TestNode behind = followersOf(leader).get(0);
    FollowerAppends appends =
        ((RatisStateMachine) serverOf(behind).getDivision(RatisLog.GROUP).getStateMachine())
            .appends();
    behind.consumer.holdApply = new CountDownLatch(1);
    try {
      perform(leader, "one");
      await().atMost(DEADLINE).until(() -> !appends.hasCaughtUp());
      assertFalse(isTakenOver(leader, behind, Duration.ofSeconds(2)));
      assertEquals(leader, leader());
    } finally {
      behind.consumer.holdApply.countDown();
    }
    takeOver(leader, behind);
  }

  /** A machine that stalls for a moment is not dead. */
  @Test
  void changeWaitsForAMemberThatItNeeds() throws Exception {
    // so long a leader waits for answers, on a busy machine too
    electionTimeout = Duration.ofSeconds(1);
    startThree();
    TestNode leader = leader();
    perform(leader, "one");
    List<TestNode> followers = followersOf(leader);
    TestNode needed = followers.get(0);
    needed.log.close();
    CompletableFuture<Void> removal =
        leader.log.membership().remove(followers.get(1).settings.nodeId());
    assertThrows(TimeoutException.class, () -> removal.get(3, TimeUnit.SECONDS));
    needed.start();
    removal.get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
    perform(leader, "two");
    awaitCommands(needed, 2);
  }

  /**
   * The log of the first node says that the second one is a member, so that the first one needs its
   * vote; but the second one does not know.
   */
  @Test
  void nodeThatEndsJustBeforeItIsAMemberComesBack() throws Exception {
    // with less, a busy machine ends the leadership before this test does
    electionTimeout = Duration.ofSeconds(1);
    SortedMap<String, String> addresses = Ports.peers(2);
    SortedMap<String, String> alone = addresses.headMap("n2");
    TestNode first = new TestNode("n1", alone);
    nodes.add(first);
    assertEquals(first, leader());
    perform(first, "before");
    // the entry after this one begins a segment
    perform(first, "x".repeat(17 << 20));
    TestNode second = new TestNode("n2", addresses.get("n2"), Collections.emptySortedMap());
    nodes.add(second);
    long next = first.log.status().lastAppliedIndex() + 1;
    List<Path> inTheWay = failToBeginSegments(second, next, next + 10);
    CompletableFuture<Void> added = addUntilItFails(first, second, addresses.get("n2"));
    second.log.close();
    await().atMost(DEADLINE).untilFalse(first.consumer.leading);
    assertThrows(ExecutionException.class, added::get);
    for (Path file : inTheWay) {
      Files.delete(file);
    }
    second.start();
    await().atMost(DEADLINE).untilTrue(first.consumer.leading);
    perform(first, "after");
    awaitCommands(second, 3);
    assertEquals(first.consumer.commands, second.consumer.commands);
    assertEquals(2, first.log.status().members().size());
  }

  /** On a busy machine a node may be silent for longer than an addition waits. */
  private static CompletableFuture<Void> addUntilItFails(
      TestNode leader, TestNode joining, String address) {
    List<CompletableFuture<Void>> added = new ArrayList<>();
    await("a failure of the node that joins")
        .atMost(DEADLINE.multipliedBy(2))
        .until(
            () -> {
              if (added.isEmpty() || added.get(added.size() - 1).isCompletedExceptionally()) {
                added.add(leader.log.membership().add(joining.settings.nodeId(), address));
              }
              return !joining.consumer.failures.isEmpty();
            });
    return added.get(added.size() - 1);
  }

  @Test
  void nodeWithALogAndWithoutAVoteDoesNotStart() throws Exception {
    startThree();
    perform(leader(), "x");
    TestNode node = nodes.get(0);
    awaitCommands(node, 1);
    node.log.close();
    Path vote = current(node).resolveSibling("vote");
    Files.write(vote, new byte[0]);
    IOException refused = assertThrows(IOException.class, node::start);
    assertTrue(
        refused.getMessage().contains("its vote in " + vote + " is lost"), refused.getMessage());
    assertEquals(0, Files.size(vote));
  }

  @Test
  void votesOfALeaderAreOnDisks() throws Exception {
    startThree();
    TestNode leader = leader();
    RaftStorageMetadata given =
        RaftStorageMetadata.valueOf(
            leader.log.status().term(), RaftPeerId.valueOf(leader.settings.nodeId()));
    int votes = 0;
    for (TestNode node : nodes) {
      votes += VoteFile.read(current(node).resolveSibling("vote")).equals(given) ? 1 : 0;
    }
    assertTrue(votes >= 2, votes + " of " + given);
  }

  @Test
  void nodeThatCannotWriteWhoTheMembersAreStops() throws Exception {
    startThree();
    TestNode leader = leader();
    List<TestNode> followers = followersOf(leader);
    TestNode failing = followers.get(0);
    perform(leader, "before");
    awaitCommands(failing, 1);
    Path members = current(failing).resolveSibling("members");
    obstruct(members);
    leader.log.membership().transferLeadership(followers.get(1).settings.nodeId()).get();
    awaitFailure(failing);
    assertTrue(
        failing.consumer.failures.get(0).getMessage().startsWith("the list of members in "),
        failing.consumer.failures.get(0).getMessage());
    failing.log.close();
    clear(members);
    failing.start();
    perform(leader(), "after");
    awaitCommands(failing, 2);
  }

  /** As after an exception in a thread of Ratis, which closes its log and tells nobody. */
  @Test
  void nodeWhoseLogIsClosedBelowItFails() throws Exception {
    startThree();
    TestNode leader = leader();
    TestNode closed = followersOf(leader).get(0);
    serverOf(closed).getDivision(RatisLog.GROUP).close();
    awaitFailure(closed);
    String message = closed.consumer.failures.get(0).getMessage();
    assertTrue(message.startsWith("Ratis has closed its log in "), message);
    closed.log.close();
    closed.start();
    perform(leader(), "after");
    awaitCommands(closed, 1);
  }

  /** As when somebody stops a node in the moment in which it cannot apply an entry. */
  @Test
  void nodeThatFailsWhileItIsClosedEnds() throws Exception {
    startThree();
    TestNode leader = leader();
    CountDownLatch held = holdApplying(leader, "poison");
    CompletableFuture<Void> closed = CompletableFuture.runAsync(leader.log::close);
    await().atMost(DEADLINE).until(RatisLogTest::isUpdaterAwaited);
    leader.consumer.failNext = new IllegalStateException("poison");
    held.countDown();
    closed.get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
    assertEquals("poison", leader.consumer.failures.get(0).getMessage());
  }

  /** While it holds the lock of its log, Ratis waits for a thread that may be waiting for that. */
  @Test
  @SuppressWarnings("try") // the lock is only held
  void evictionEndsBeforeTheLogIsClosed() throws Exception {
    startThree();
    TestNode leader = leader();
    RaftLogBase log =
        (RaftLogBase)
            serverOf(leader)
                .getDivision(serverOf(leader).getGroupIds().iterator().next())
                .getRaftLog();
    long before = evictions(leader);
    CompletableFuture<Void> closed;
    try (AutoCloseableLock held = log.writeLock()) {
      closed = CompletableFuture.runAsync(leader.log::close);
      await().atMost(DEADLINE).until(() -> evictions(leader) < before);
      assertFalse(closed.isDone());
    }
    closed.get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
  }

  /** Counts the threads that evict at this node, and at nodes of other tests with its name. */
  private static long evictions(TestNode node) {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(
            name ->
                name.startsWith(node.settings.nodeId() + "@") && name.contains("-cacheEviction-"))
        .count();
  }

  private static boolean isUpdaterAwaited() {
    return Thread.getAllStackTraces().values().stream()
        .flatMap(Stream::of)
        .anyMatch(frame -> frame.getMethodName().equals("stopAndJoin"));
  }

  /**
   * As when an entry is applied while the leader loses leadership. Ratis has closed the permits of
   * its pending requests by then, and that they cannot be returned keeps it from answering.
   */
  @Test
  void leaderWhoseEntryIsNeverAnsweredProposesAgainOnceItLeadsAgain() throws Exception {
    startThree();
    TestNode leader = leader();
    TestNode other = followersOf(leader).get(0);
    CountDownLatch held = holdApplying(leader, "lost");
    permits(leader).close();
    held.countDown();
    handOver(leader, other);
    await().atMost(DEADLINE).until(other.consumer.leading::get);
    assertFalse(isPerformed(leader, "by a follower"));
    handOver(other, leader);
    await().atMost(DEADLINE).until(leader.consumer.leading::get);
    perform(leader, "as leader");
  }

  /**
   * As when a connection is reset between an entry and its answer. Heartbeats have a connection of
   * their own and go on, so that no election helps, and no later entry tells what the follower has.
   */
  @Test
  void entryWhoseAnswerIsLostIsCommittedWithoutAnother() throws Exception {
    startThree();
    TestNode leader = leader();
    TestNode follower = followersOf(leader).get(0);
    perform(leader, "before");
    stop(followersOf(leader).get(1));
    CompletableFuture<Outcome> outcome = new CompletableFuture<>();
    try (HeldWriter disk = new HeldWriter(follower.settings.nodeId())) {
      leader.pipeline.submit(command("unanswered"), RecordingConsumer.listener(outcome));
      disk.awaitHeld();
      reset(leader, follower);
    }
    assertEquals(new Outcome.Done(), outcome.get(DEADLINE.toSeconds(), TimeUnit.SECONDS));
    awaitCommands(follower, 2);
    assertTrue(leader.consumer.leading.get());
    assertEquals(List.of(), follower.consumer.failures);
  }

  /** Resets the connections to a node; what was sent arrived, and no answer comes. */
  private static void reset(TestNode from, TestNode to) throws Exception {
    serverOf(from)
        .getServerRpc()
        .handleException(
            RaftPeerId.valueOf(to.settings.nodeId()), new SocketException("reset"), true);
  }

  private static ResourceSemaphore.Group permits(TestNode leader) throws Exception {
    Object division = serverOf(leader).getDivision(RatisLog.GROUP);
    Object role = RatisInternals.field(division.getClass(), "role").get(division);
    Object state =
        ((AtomicReference<?>) RatisInternals.field(role.getClass(), "leaderState").get(role)).get();
    Object requests = RatisInternals.field(state.getClass(), "pendingRequests").get(state);
    Object map = RatisInternals.field(requests.getClass(), "pendingRequests").get(requests);
    return (ResourceSemaphore.Group) RatisInternals.field(map.getClass(), "resource").get(map);
  }

  /** Offers leadership until it is taken, as an operator does. */
  private static void takeOver(TestNode from, TestNode to) throws Exception {
    from.log
        .membership()
        .transferLeadership(to.settings.nodeId())
        .get(DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** Hands leadership over without regard to entries under way. */
  private static void handOver(TestNode from, TestNode to) throws Exception {
    assertTrue(isTakenOver(from, to, DEADLINE));
  }

  private static boolean isTakenOver(TestNode from, TestNode to, Duration within) throws Exception {
    RaftServer server = serverOf(from);
    return server
        .transferLeadership(
            new TransferLeadershipRequest(
                ClientId.randomId(),
                server.getId(),
                RatisLog.GROUP,
                1,
                RaftPeerId.valueOf(to.settings.nodeId()),
                within.toMillis()))
        .isSuccess();
  }

  private static boolean isLeader(RaftServer server) {
    try {
      return server.getDivision(RatisLog.GROUP).getInfo().isLeader();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static RaftServer serverOf(TestNode node) throws Exception {
    return serverOf(node.log);
  }

  static RaftServer serverOf(RatisLog log) throws Exception {
    return (RaftServer) RatisInternals.field(RatisLog.class, "server").get(log);
  }

  /** The file cannot be replaced: where it would be written there is something else. */
  private static void obstruct(Path file) throws IOException {
    Files.createDirectories(unfinished(file).resolve("in the way"));
  }

  private static void clear(Path file) throws IOException {
    Files.delete(unfinished(file).resolve("in the way"));
    Files.delete(unfinished(file));
  }

  private static Path unfinished(Path file) {
    return file.resolveSibling(file.getFileName() + ".tmp");
  }

  private static Path current(TestNode node) throws IOException {
    return LivingDirectory.find(node.settings.directory(), "current").get(0);
  }

  /** The files that the log would create next cannot be created. */
  private List<Path> failToBeginSegments(TestNode node, long from, long to) throws IOException {
    Path current = current(node);
    List<Path> inTheWay = new ArrayList<>();
    for (long index = from; index < to; index++) {
      inTheWay.add(
          Files.createSymbolicLink(
              current.resolve("log_inprogress_" + index),
              directory.resolve("nowhere").resolve("file")));
    }
    return inTheWay;
  }

  /** Waits until the node applies this command, and holds it there until it is let go. */
  private static CountDownLatch holdApplying(TestNode leader, String what) throws Exception {
    CountDownLatch held = new CountDownLatch(1);
    CompletableFuture<Void> applying = new CompletableFuture<>();
    leader.pipeline.submit(
        command(what),
        new Proposal.Listener() {
          @Override
          public void applied(Outcome outcome) {
            applying.complete(null);
            try {
              held.await();
            } catch (InterruptedException e) {
              throw new IllegalStateException(e);
            }
          }

          @Override
          public void unknown() {}
        });
    applying.get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
    return held;
  }

  private static boolean isPerformed(TestNode node, String what) throws Exception {
    CompletableFuture<Outcome> outcome = new CompletableFuture<>();
    node.pipeline.submit(command(what), RecordingConsumer.listener(outcome));
    try {
      outcome.get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
      return true;
    } catch (ExecutionException e) {
      return false;
    }
  }

  private void startThree() throws IOException {
    SortedMap<String, String> peers = Ports.peers(3);
    for (String id : peers.keySet()) {
      nodes.add(new TestNode(id, peers));
    }
  }

  private TestNode leader() {
    return await()
        .atMost(DEADLINE)
        .until(
            () -> nodes.stream().filter(node -> node.consumer.leading.get()).findFirst(),
            found -> found.isPresent())
        .orElseThrow();
  }

  private List<TestNode> followersOf(TestNode leader) {
    return nodes.stream().filter(node -> node != leader).toList();
  }

  private static void awaitCommands(TestNode node, int count) {
    await().atMost(DEADLINE).until(() -> node.consumer.commands.size() == count);
  }

  private static void awaitFailure(TestNode node) {
    await().atMost(DEADLINE).until(() -> !node.consumer.failures.isEmpty());
  }

  private static boolean barrier(TestNode node) throws Exception {
    CompletableFuture<Boolean> result = new CompletableFuture<>();
    node.pipeline.barrier(told(result));
    return result.get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
  }

  private static CommandPipeline.Barrier told(CompletableFuture<Boolean> result) {
    return new CommandPipeline.Barrier() {
      @Override
      public void passed() {
        result.complete(true);
      }

      @Override
      public void failed() {
        result.complete(false);
      }
    };
  }

  private static OptionalLong readIndex(TestNode node) throws Exception {
    return node.log.readIndex().get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
  }

  private void stop(TestNode node) {
    node.log.close();
    nodes.remove(node);
  }

  private static void perform(TestNode node, String what) throws Exception {
    CompletableFuture<Outcome> outcome = new CompletableFuture<>();
    node.pipeline.submit(command(what), RecordingConsumer.listener(outcome));
    assertEquals(new Outcome.Done(), outcome.get(DEADLINE.toSeconds(), TimeUnit.SECONDS));
    assertNull(node.consumer.failures.stream().findFirst().orElse(null));
  }

  private static Command command(String what) {
    return new Command.AnnounceNode("node", what);
  }

  private static Proposal proposal(String what, CompletableFuture<Outcome> outcome) {
    return new Proposal(EntryCodec.encode(command(what)), RecordingConsumer.listener(outcome));
  }
}
