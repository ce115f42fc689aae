package dev.tollgate.log.peer;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.FeatureLevels;
import dev.tollgate.core.command.UniqueId;
import dev.tollgate.log.NodeVersion;
import dev.tollgate.wire.WireWriter;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.proto.RaftProtos.StateMachineLogEntryProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.server.RaftServerRpc;
import org.apache.ratis.server.ServerFactory;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two nodes of which one is as slow, broken or hostile as the test wants. */
class PeerLinkTest {
  private static final Duration DEADLINE = Duration.ofSeconds(30);
  private static final long ELECTION_MILLIS = 50;

  @TempDir Path directory;

  private final List<AutoCloseable> open = new ArrayList<>();
  private TestNode n1;
  private TestNode n2;
  private PeerLink link;

  @BeforeEach
  void start() throws IOException {
    n1 = closing(new TestNode("n1", directory, ELECTION_MILLIS));
    n2 = closing(new TestNode("n2", directory, ELECTION_MILLIS));
    link = closing(n1.linkTo(n2));
  }

  private <C extends AutoCloseable> C closing(C closeable) {
    open.add(0, closeable);
    return closeable;
  }

  @AfterEach
  void stop() throws Exception {
    for (AutoCloseable closeable : open) {
      closeable.close();
    }
    assertEquals(List.of(), n1.failures);
    assertEquals(List.of(), n2.failures);
  }

  @Test
  void answersComeInAnyOrder() throws Exception {
    List<CompletableFuture<AppendEntriesReplyProto>> replies = new ArrayList<>();
    List<AppendEntriesRequestProto> requests = new ArrayList<>();
    n2.appends =
        request -> {
          CompletableFuture<AppendEntriesReplyProto> reply = new CompletableFuture<>();
          synchronized (replies) {
            requests.add(request);
            replies.add(reply);
          }
          return reply;
        };
    List<CompletableFuture<Frame>> answers = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      answers.add(append(link.connect(), i, 1));
    }
    await().atMost(DEADLINE).until(() -> replies.size() == 8);
    for (int i = 7; i >= 0; i--) {
      replies.get(i).complete(TestNode.reply(requests.get(i)));
      assertEquals(i, matchIndex(answers.get(i)));
    }
  }

  @Test
  void nodeSaysItsVersionWhenAConnectionBegins() throws Exception {
    NodeVersion later = new NodeVersion(3, 9, 2, 4, "7.1");
    TestNode n3 = closing(new TestNode("n3", directory, ELECTION_MILLIS, null, later));
    PeerVersions versions = n1.settings.guard().versions();
    assertEquals(Map.of(), versions.all());
    PeerLink other = closing(n1.linkTo(n3));
    vote(other.connect(), 1);
    vote(link.connect(), 1);
    assertEquals(Map.of("n2", NodeVersion.of(FeatureLevels.STANDARD), "n3", later), versions.all());
    other.connect().breakOff(new IOException("cut"));
    await().atMost(DEADLINE).until(() -> !versions.all().containsKey("n3"));
  }

  /** A node that is started again with another version says so on a connection of its own. */
  @Test
  void nodeIsKnownByWhatItSaysOnItsLatestConnection() {
    NodeVersion later = new NodeVersion(3, 9, 2, 4, "7.1");
    PeerConnection former = new PeerConnection(n1.settings, peer(n2));
    PeerConnection latest = new PeerConnection(n1.settings, peer(n2));
    PeerVersions versions = n1.settings.guard().versions();
    versions.connected("n2", former, NodeVersion.of(FeatureLevels.STANDARD));
    versions.connected("n2", latest, later);
    assertEquals(Map.of("n2", later), versions.all());
    versions.disconnected("n2", former);
    assertEquals(Map.of("n2", later), versions.all());
    versions.disconnected("n2", latest);
    assertEquals(Map.of(), versions.all());
  }

  /** The new connection is there before all callers know that the former one has ended. */
  @Test
  void nodeThatIsConnectedAgainAtOnceIsKnown() throws Exception {
    n2.appends = request -> new CompletableFuture<>();
    CompletableFuture<Thread> former =
        append(link.connect(), 0, 1)
            .handle(
                (answer, lost) -> {
                  link.attempt().orTimeout(DEADLINE.toSeconds(), TimeUnit.SECONDS).join();
                  return Thread.currentThread();
                });
    link.connect().breakOff(new IOException("cut"));
    Thread ending = former.get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
    ending.join(DEADLINE.toMillis());
    assertFalse(ending.isAlive());
    assertEquals(
        Map.of("n2", NodeVersion.of(FeatureLevels.STANDARD)), n1.settings.guard().versions().all());
  }

  private static RaftPeer peer(TestNode node) {
    return RaftPeer.newBuilder().setId(node.id).setAddress(node.address).build();
  }

  @Test
  void nodeIsNotAddedIfItsVersionDoesNotKnowWhatTheClusterDoes() throws Exception {
    RaftPeer joining = peer(closing(new TestNode("joining", directory, ELECTION_MILLIS)));
    assertNull(PeerConnection.askToJoin(n1.settings, joining, 5_000));
    n1.clusterLevel = 2;
    PeerGuard.Refusal refusal = PeerConnection.askToJoin(n1.settings, joining, 5_000);
    assertEquals(PeerGuard.Reason.EARLIER_VERSION, refusal.reason());
    assertTrue(
        refusal.message().contains("knows feature level 1, and the cluster has level 2"),
        refusal.message());
  }

  /** As when an entry waits for a slow disk, and the leader must not be taken for silent. */
  @Test
  void heartbeatsOvertakeEntriesThatWaitAndEntriesDoNot() throws Exception {
    List<Long> arrived = new ArrayList<>();
    n2.appends =
        request -> {
          synchronized (arrived) {
            arrived.add(request.getServerRequest().getCallId());
          }
          return CompletableFuture.completedFuture(TestNode.reply(request));
        };
    n2.busy = true;
    PeerConnection connection = link.connect();
    CompletableFuture<Frame> first = append(connection, 1, 1);
    CompletableFuture<Frame> second = append(connection, 2, 1);
    assertEquals(3, matchIndex(append(connection, 3, 0)));
    vote(connection, 5);
    assertFalse(first.isDone() || second.isDone());
    n2.busy = false;
    assertEquals(1, matchIndex(first));
    assertEquals(2, matchIndex(second));
    assertEquals(List.of(3L, 1L, 2L), arrived);
  }

  /** It would win as easily as any other, and then serve nobody for long. */
  @Test
  void nodeThatIsBehindAsksForNoVotes() throws Exception {
    Parameters parameters = new Parameters();
    PeerRpc.configure(parameters, n1.settings);
    try (RaftServerRpc rpc =
        ((ServerFactory) new PeerRpc.Type().newFactory(parameters)).newRaftServerRpc(n1.server())) {
      rpc.addRaftPeers(List.of(peer(n2)));
      n1.caughtUp = false;
      IOException refused = assertThrows(IOException.class, () -> rpc.requestVote(preVote(5)));
      assertTrue(refused.getMessage().contains("has not applied its log"), refused.getMessage());
      assertEquals(0, n2.votes.get());
      n1.caughtUp = true;
      assertEquals(5, rpc.requestVote(preVote(5)).getTerm());
    }
  }

  /** Its term has begun, so nothing more can come of earlier ones but what is under way. */
  @Test
  void nodeThatStillWritesWhatAnEarlierLeaderSentAsksForNoVotes() throws Exception {
    Parameters parameters = new Parameters();
    PeerRpc.configure(parameters, n1.settings);
    try (RaftServerRpc rpc =
        ((ServerFactory) new PeerRpc.Type().newFactory(parameters)).newRaftServerRpc(n1.server())) {
      rpc.addRaftPeers(List.of(peer(n2)));
      n1.settled = false;
      IOException refused = assertThrows(IOException.class, () -> rpc.requestVote(vote(5)));
      assertTrue(refused.getMessage().contains("is still writing"), refused.getMessage());
      assertEquals(0, n2.votes.get());
      n1.settled = true;
      assertEquals(5, rpc.requestVote(vote(5)).getTerm());
    }
  }

  private static RequestVoteRequestProto preVote(long term) {
    return vote(term).toBuilder().setPreVote(true).build();
  }

  private static RequestVoteRequestProto vote(long term) {
    return RequestVoteRequestProto.newBuilder()
        .setServerRequest(
            RaftRpcRequestProto.newBuilder().setReplyId(ByteString.copyFromUtf8("n2")))
        .setCandidateTerm(term)
        .build();
  }

  @Test
  void nodeThatIsBehindTakesNoLeadershipOver() throws Exception {
    n2.caughtUp = false;
    PeerConnection connection = link.connect();
    assertTrue(failure(election(connection)).getMessage().contains("has not applied its log"));
    n2.caughtUp = true;
    election(connection).get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
  }

  private static CompletableFuture<Frame> election(PeerConnection connection) {
    return connection.call(
        (call, read) ->
            Frame.of(
                Frame.Kind.ELECTION,
                call,
                read,
                StartLeaderElectionRequestProto.getDefaultInstance()));
  }

  @Test
  void callThatFailsSaysWhyAndTheConnectionGoesOn() throws Exception {
    n2.appends = request -> CompletableFuture.failedFuture(new IOException("paused"));
    PeerConnection connection = link.connect();
    assertEquals("paused", failure(append(connection, 1, 1)).getMessage());
    n2.appends =
        request -> {
          throw new IllegalStateException("a bug, with a text of " + "x".repeat(5_000));
        };
    assertTrue(failure(append(connection, 2, 1)).getMessage().startsWith("a bug"));
    vote(connection, 7);
    assertEquals(connection, link.connect());
  }

  /** More than all buffers between the two hold, in both directions at once. */
  @Test
  void largeRequestsDoNotKeepTheCallerWaiting() throws Exception {
    n2.busy = true;
    PeerConnection connection = link.connect();
    List<CompletableFuture<Frame>> answers =
        IntStream.range(0, 20).mapToObj(i -> append(connection, i, 2 << 20)).toList();
    n2.busy = false;
    for (int i = 0; i < 20; i++) {
      assertEquals(i, matchIndex(answers.get(i)));
    }
  }

  @Test
  void nodeThatReadsNothingIsGivenUp() throws Exception {
    try (FakePeer peer = FakePeer.silent()) {
      PeerConnection connection = linkTo(peer).connect();
      List<CompletableFuture<Frame>> answers = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        answers.add(append(connection, i, 2 << 20));
      }
      for (CompletableFuture<Frame> answer : answers) {
        failure(answer);
      }
      assertTrue(connection.isClosed(), "what waits for it has a bound");
    }
  }

  /** Whether or not its callers wait: Ratis interrupts those that ask for votes. */
  @Test
  void nodeThatNeverAnswersIsGivenUp() throws Exception {
    try (FakePeer peer = FakePeer.silent()) {
      PeerLink silent = linkTo(peer);
      CompletableFuture<Frame> answer = append(silent.connect(), 1, 1);
      long began = System.nanoTime();
      await().atMost(DEADLINE).until(answer::isDone);
      assertTrue(System.nanoTime() - began >= n1.settings.silenceNanos(), "not before its time");
      assertTrue(failure(answer).getMessage().contains("said nothing"), "" + failure(answer));
    }
  }

  /** Nobody has anything to say by it, so nobody would find out before an election. */
  @Test
  void silentConnectionThatIsKeptIsGivenUp() throws Exception {
    try (FakePeer peer = FakePeer.silent()) {
      PeerLink silent = linkTo(peer);
      PeerConnection connection = silent.connect();
      silent.keep();
      await().atMost(DEADLINE).until(connection::isClosed);
    }
  }

  @Test
  void linkThatIsKeptConnects() throws Exception {
    link.keep();
    await().atMost(DEADLINE).until(() -> link.connection() != null);
    PeerConnection connection = link.connection();
    int asked = n2.terms.get();
    link.keep();
    await().atMost(DEADLINE).until(() -> n2.terms.get() > asked);
    assertEquals(connection, link.connection());
  }

  /** It would be written to the disk, and no term would be left for another leader. */
  @Test
  void termThatNoElectionReachesIsRefused() throws Exception {
    PeerConnection connection = link.connect();
    vote(connection, 1L << 31);
    assertThrows(
        ExecutionException.class,
        () ->
            voteLater(connection, Long.MAX_VALUE - 1).get(DEADLINE.toSeconds(), TimeUnit.SECONDS));
    await().atMost(DEADLINE).until(connection::isClosed);
    PeerConnection next = link.connect();
    CompletableFuture<Frame> appended =
        next.call((call, read) -> Frame.of(Frame.Kind.APPEND, call, read, ofTerm(1L << 40)));
    assertThrows(
        ExecutionException.class, () -> appended.get(DEADLINE.toSeconds(), TimeUnit.SECONDS));
  }

  /** A follower that appends for long answers heartbeats, and in an election carries votes. */
  @Test
  void connectionThatOwesAnAnswerAndBringsOthersIsKept() throws Exception {
    n2.appends = request -> new CompletableFuture<>();
    PeerConnection connection = link.connect();
    long began = System.nanoTime();
    CompletableFuture<Frame> slow = append(connection, 0, 1);
    int term = 0;
    while (System.nanoTime() - began < 2 * n1.settings.silenceNanos()) {
      vote(connection, ++term);
    }
    assertFalse(connection.isClosed() || slow.isDone(), "it owes an answer and brings others");
  }

  /** A frame that takes seconds on a slow network, and no answer before it has arrived. */
  @Test
  void nodeThatReadsSlowlyIsNotTakenForSilent() throws Exception {
    try (FakePeer peer = FakePeer.silent()) {
      PeerLink slow = linkTo(peer);
      PeerConnection connection = slow.connect();
      CompletableFuture<Frame> answer = append(connection, 1, 6 << 20);
      long end = System.nanoTime() + 3 * n1.settings.silenceNanos();
      while (System.nanoTime() < end) {
        peer.read(64 << 10);
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
      }
      assertFalse(connection.isClosed() || answer.isDone());
    }
  }

  /** As a process that is stopped: the kernel accepts, and nobody says hello. */
  @Test
  void nodeThatNeverSaysHelloIsNotWaitedFor() throws Exception {
    try (FakePeer peer = new FakePeer(new byte[0])) {
      PeerLink silent = linkTo(peer);
      IOException failure = assertThrows(IOException.class, silent::connect);
      assertTrue(failure.getMessage().contains("node n2 at 127.0.0.1"), failure.getMessage());
      assertThrows(IOException.class, silent::connect);
    }
  }

  @Test
  void anotherProtocolIsNamedOnBothSides() throws Exception {
    byte[] http2 = {0, 0, 18, 4, 0, 0, 0, 0, 0};
    try (FakePeer other = new FakePeer(http2)) {
      IOException failure = assertThrows(IOException.class, linkTo(other)::connect);
      assertTrue(failure.getMessage().contains("--raft-address"), failure.getMessage());
    }
    try (RawPeer other = new RawPeer(n2.address)) {
      other.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      assertEnds(other);
    }
  }

  @Test
  void helloCutAtEveryByteIsNone() throws Exception {
    byte[] whole = FakePeer.hello();
    for (int cut = 0; cut < whole.length; cut++) {
      try (FakePeer peer = new FakePeer(Arrays.copyOf(whole, cut))) {
        peer.hangUp();
        assertThrows(IOException.class, linkTo(peer)::connect);
      }
    }
  }

  @Test
  void answersCutAtEveryByteEndTheConnectionAndNothingElse() throws Exception {
    byte[] vote =
        Frame.of(Frame.Kind.DONE, 1, 0, RequestVoteReplyProto.newBuilder().setTerm(3).build());
    for (int cut = 0; cut < vote.length; cut++) {
      try (FakePeer peer = FakePeer.silent()) {
        CompletableFuture<Frame> answer = voteLater(linkTo(peer).connect(), 3);
        peer.send(Arrays.copyOf(vote, cut));
        peer.hangUp();
        failure(answer);
      }
    }
    try (FakePeer peer = FakePeer.silent()) {
      CompletableFuture<Frame> answer = voteLater(linkTo(peer).connect(), 3);
      peer.send(vote);
      assertEquals(Frame.Kind.DONE, answer.get(DEADLINE.toSeconds(), TimeUnit.SECONDS).kind());
    }
  }

  @Test
  void requestsCutAtEveryByteEndTheirConnectionAndNothingElse() throws Exception {
    byte[] hello = RawPeer.hello("n3", "n2");
    byte[] vote = Frame.of(Frame.Kind.VOTE, 1, 0, candidate(9));
    byte[] whole = ByteBuffer.allocate(hello.length + vote.length).put(hello).put(vote).array();
    for (int cut = 0; cut < whole.length; cut++) {
      try (RawPeer peer = accepted()) {
        peer.send(Arrays.copyOf(whole, cut));
      }
    }
    assertEquals(0, n2.votes.get());
    vote(link.connect(), 4);
    assertEquals(1, n2.votes.get());
  }

  /** So many at once are more than the system keeps for a node that is busy. */
  private RawPeer accepted() {
    return await()
        .atMost(DEADLINE)
        .pollDelay(Duration.ZERO)
        .ignoreExceptionsInstanceOf(SocketTimeoutException.class)
        .until(() -> new RawPeer(n2.address), Objects::nonNull);
  }

  /** Length, kind and the claim about answers are what a frame can lie about. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "7fffffff02",
        "ffffffff02",
        "0000000402",
        "000000090c",
        "0000000900",
        "00000009ff"
      })
  void frameThatMakesNoSenseEndsTheConnection(String begin) throws Exception {
    try (RawPeer peer = RawPeer.node("n3", "n2", n2.address)) {
      byte[] bytes = Arrays.copyOf(HexFormat.of().parseHex(begin), 13);
      peer.send(bytes);
      assertEnds(peer);
    }
    vote(link.connect(), 4);
  }

  /** Frames with bytes changed at random, in any order: none of them may end the node. */
  @Test
  void noBytesOfANodeEndAnother() throws Exception {
    long seed = Long.getLong("tollgate.seed", System.nanoTime());
    Random random = new Random(seed);
    ForwardedCommand command =
        new ForwardedCommand(ClientId.randomId(), 7, ByteString.copyFromUtf8("command"));
    List<byte[]> frames =
        List.of(
            Frame.of(Frame.Kind.APPEND, 1, 0, request(1, 10)),
            Frame.of(Frame.Kind.APPEND, 2, 0, request(1, 0)),
            Frame.of(Frame.Kind.VOTE, 3, 0, candidate(4)),
            Frame.of(Frame.Kind.TERM, 4, 0, nothing()),
            Frame.of(Frame.Kind.FORWARD, 5, 0, command.toBytes()),
            Frame.of(Frame.Kind.SNAPSHOT, 6, 0, candidate(5)),
            Frame.of(Frame.Kind.ELECTION, 7, 0, candidate(6)),
            Arrays.copyOfRange(
                RawPeer.hello("n3", "n2"), Frame.PREFACE.length, RawPeer.hello("n3", "n2").length));
    for (int i = 0; i < 500; i++) {
      byte[] hello = RawPeer.hello("n3", "n2");
      if (random.nextInt(3) == 0) {
        hello[random.nextInt(hello.length)] = (byte) random.nextInt(256);
      }
      try (RawPeer peer = new RawPeer(n2.address)) {
        peer.send(hello);
        for (int j = 0; j < 5; j++) {
          byte[] frame = frames.get(random.nextInt(frames.size())).clone();
          for (int changes = random.nextInt(4); changes > 0; changes--) {
            frame[random.nextInt(frame.length)] = (byte) random.nextInt(256);
          }
          peer.send(frame);
        }
        peer.hangUp();
        assertEnds(peer);
      } catch (SocketException e) {
        // the node has closed the connection, as it should
      }
    }
    vote(link.connect(), 4);
    assertEquals(List.of(), n2.failures, "seed " + seed);
  }

  @Test
  void answersThatWereNeverGivenCannotHaveBeenRead() throws Exception {
    try (RawPeer peer = RawPeer.node("n3", "n2", n2.address)) {
      peer.send(Frame.of(Frame.Kind.TERM, 1, 1_000_000, nothing()));
      assertEnds(peer);
    }
  }

  @Test
  void callsWithoutAnAnswerAreBounded() throws Exception {
    n2.busy = true;
    try (RawPeer peer = RawPeer.node("n3", "n2", n2.address)) {
      for (int i = 1; i <= AcceptedPeer.MAX_CALLS; i++) {
        peer.send(Frame.of(Frame.Kind.APPEND, i, 0, request(i, 1)));
      }
      vote(link.connect(), 4);
      peer.send(Frame.of(Frame.Kind.APPEND, 0, 0, request(0, 1)));
      assertEnds(peer);
    }
  }

  @Test
  void bytesThatWaitAreBounded() throws Exception {
    n2.busy = true;
    try (RawPeer peer = RawPeer.node("n3", "n2", n2.address)) {
      byte[] large = Frame.of(Frame.Kind.APPEND, 1, 0, request(1, TestNode.MAX_FRAME_BYTES / 2));
      assertThrows(
          SocketException.class,
          () -> {
            for (int i = 0; i < AcceptedPeer.MAX_CALLS; i++) {
              peer.send(large);
            }
          });
    }
    vote(link.connect(), 4);
  }

  @Test
  void nodeCannotChangeItsName() throws Exception {
    try (RawPeer peer = RawPeer.node("n3", "n2", n2.address)) {
      PeerCredentials other = new PeerCredentials("n4", null, new UniqueId(1, 1), "n2", null);
      peer.send(Frame.of(Frame.Kind.IDENTITY, 0, 0, new WireWriter().bytes(other.toBytes())));
      assertEnds(peer);
    }
  }

  @Test
  void helloMayNotBeLarge() throws Exception {
    try (RawPeer peer = new RawPeer(n2.address)) {
      peer.send(Frame.PREFACE);
      peer.send(ByteBuffer.allocate(4).putInt(Frame.MAX_HELLO_BYTES + 1).array());
      assertEnds(peer);
    }
  }

  @Test
  void nothingIsDoneBeforeAHello() throws Exception {
    try (RawPeer peer = new RawPeer(n2.address)) {
      peer.send(Frame.PREFACE);
      peer.send(Frame.of(Frame.Kind.VOTE, 1, 0, candidate(9)));
      assertEnds(peer);
    }
    assertEquals(0, n2.votes.get());
  }

  /** As a node that asks and asks, and reads no answer: others are served, and it is not. */
  @Test
  void nodeThatFloodsIsCutOffAndOthersAreServed() throws Exception {
    try (RawPeer flood = RawPeer.node("n3", "n2", n2.address)) {
      byte[] question = Frame.of(Frame.Kind.TERM, 1, 0, nothing());
      byte[] many = new byte[question.length * 10_000];
      for (int i = 0; i < many.length; i++) {
        many[i] = question[i % question.length];
      }
      assertThrows(
          SocketException.class,
          () -> {
            while (n2.terms.get() < 100_000_000) {
              flood.send(many);
              vote(link.connect(), 2);
            }
          });
    }
    vote(link.connect(), 3);
  }

  @Test
  void strangersAreBoundedAndDoNotStay() throws Exception {
    List<RawPeer> strangers = new ArrayList<>();
    for (int i = 0; i < PeerListener.MAX_STRANGERS; i++) {
      strangers.add(closing(new RawPeer(n2.address)));
    }
    link.connect().term().get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
    // those that say nothing are sent away in time
    for (RawPeer stranger : strangers) {
      assertEnds(stranger);
    }
  }

  @Test
  void strangerThatSaysHelloByteByByteIsSentAwayInTime() throws Exception {
    byte[] hello = RawPeer.hello("n3", "n2");
    try (RawPeer slow = new RawPeer(n2.address)) {
      assertThrows(
          SocketException.class,
          () -> {
            for (int i = 0; i < 1_000; i++) {
              slow.send(new byte[] {hello[Math.min(i, hello.length - 2)]});
              TimeUnit.MILLISECONDS.sleep(100);
            }
          });
    }
  }

  @Test
  void newConnectionOfANodeReplacesTheOneBefore() throws Exception {
    try (RawPeer before = RawPeer.node("n3", "n2", n2.address);
        RawPeer after = RawPeer.node("n3", "n2", n2.address).reading()) {
      assertEnds(before);
      assertNotNull(
          after.call(Frame.Kind.VOTE, candidate(8)).get(DEADLINE.toSeconds(), TimeUnit.SECONDS));
    }
  }

  @Test
  void answerToNoCallEndsTheConnection() throws Exception {
    byte[] twice = Frame.of(Frame.Kind.DONE, 1, 0, RequestVoteReplyProto.getDefaultInstance());
    try (FakePeer peer = FakePeer.silent()) {
      PeerConnection connection = linkTo(peer).connect();
      CompletableFuture<Frame> first = voteLater(connection, 1);
      CompletableFuture<Frame> second = append(connection, 1, 1);
      peer.send(twice);
      first.get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
      peer.send(twice);
      assertTrue(failure(second).getMessage().contains("nobody has made"));
    }
  }

  /** Each call is answered or fails, and none hangs, whatever becomes of the connection. */
  @Test
  void connectionsThatBreakAllTheTimeLeaveNoCallBehind() throws Exception {
    AtomicInteger answered = new AtomicInteger();
    AtomicInteger failed = new AtomicInteger();
    List<CompletableFuture<?>> calls = new ArrayList<>();
    for (int i = 0; i < 2_000; i++) {
      PeerConnection connection = connected();
      calls.add(
          append(connection, i, i % 3 == 0 ? 200_000 : 1)
              .handle((frame, e) -> (e == null ? answered : failed).incrementAndGet()));
      if (i % 20 == 0) {
        connection.breakOff(new IOException("cut"));
      }
    }
    CompletableFuture.allOf(calls.toArray(CompletableFuture[]::new))
        .get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
    assertTrue(answered.get() > 0 && failed.get() > 0, answered + " and " + failed);
    vote(connected(), 3);
    link.close();
    await().atMost(DEADLINE).until(() -> threads("tollgate-n1-to-n2") == 0);
    await().atMost(DEADLINE).until(() -> threads("tollgate-n2-from-peer") == 0);
  }

  /** After a connection that ended at once, the next one is made a moment later. */
  private PeerConnection connected() {
    return await()
        .atMost(DEADLINE)
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(5))
        .ignoreExceptions()
        .until(link::connect, Objects::nonNull);
  }

  private static long threads(String name) {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals(name))
        .count();
  }

  private static WireWriter nothing() {
    return new WireWriter(0);
  }

  private PeerLink linkTo(FakePeer peer) {
    return closing(n1.linkTo("n2", peer.address()));
  }

  private static AppendEntriesRequestProto ofTerm(long term) {
    return request(1, 1).toBuilder().setLeaderTerm(term).build();
  }

  private static AppendEntriesRequestProto request(long number, int entryBytes) {
    AppendEntriesRequestProto.Builder request =
        AppendEntriesRequestProto.newBuilder()
            .setServerRequest(RaftRpcRequestProto.newBuilder().setCallId(number));
    if (entryBytes > 0) {
      request.addEntries(
          LogEntryProto.newBuilder()
              .setIndex(number)
              .setStateMachineLogEntry(
                  StateMachineLogEntryProto.newBuilder()
                      .setLogData(ByteString.copyFrom(new byte[entryBytes]))));
    }
    return request.build();
  }

  private static CompletableFuture<Frame> append(
      PeerConnection connection, long number, int entryBytes) {
    AppendEntriesRequestProto request = request(number, entryBytes);
    return connection.call((call, read) -> Frame.of(Frame.Kind.APPEND, call, read, request));
  }

  private static RequestVoteRequestProto candidate(long term) {
    return RequestVoteRequestProto.newBuilder().setCandidateTerm(term).build();
  }

  private static CompletableFuture<Frame> voteLater(PeerConnection connection, long term) {
    return connection.call((call, read) -> Frame.of(Frame.Kind.VOTE, call, read, candidate(term)));
  }

  private static void vote(PeerConnection connection, long term) throws Exception {
    Frame answer = voteLater(connection, term).get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
    assertEquals(term, RequestVoteReplyProto.parseFrom(answer.message()).getTerm());
  }

  private static long matchIndex(CompletableFuture<Frame> answer) throws Exception {
    return AppendEntriesReplyProto.parseFrom(
            answer.get(DEADLINE.toSeconds(), TimeUnit.SECONDS).message())
        .getMatchIndex();
  }

  private static Throwable failure(CompletableFuture<?> answer) {
    return assertThrows(
            ExecutionException.class, () -> answer.get(DEADLINE.toSeconds(), TimeUnit.SECONDS))
        .getCause();
  }

  /** Requires that the other side ends the connection, and soon. */
  private static void assertEnds(RawPeer peer) {
    try {
      DataInputStream in = peer.in();
      while (in.read() >= 0) {
        // what was sent before the end
      }
    } catch (SocketTimeoutException e) {
      throw new AssertionError("the connection is still there", e);
    } catch (IOException e) {
      // an end too
    }
  }
}
