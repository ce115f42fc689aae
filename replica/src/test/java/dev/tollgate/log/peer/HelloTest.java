package dev.tollgate.log.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.ClusterIdentity;
import dev.tollgate.core.command.UniqueId;
import dev.tollgate.log.peer.ClusterProof.Side;
import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Whom a node serves and calls, once it knows the key of its cluster and before. */
@Timeout(60)
class HelloTest {
  private static final Duration DEADLINE = Duration.ofSeconds(30);
  private static final UniqueId OTHER = new UniqueId(9, 9);

  @TempDir Path directory;

  private final List<AutoCloseable> open = new ArrayList<>();
  private TestNode n1;
  private TestNode n2;
  private ClusterIdentity cluster;

  @BeforeEach
  void start() throws IOException {
    n1 = closing(new TestNode("n1", directory, 50));
    n2 = closing(new TestNode("n2", directory, 50));
    cluster =
        ClusterKeys.identity(
            1, Map.of("n1", n1.identity.incarnation(), "n2", n2.identity.incarnation()));
    n2.strangers.add("n9");
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
    assertEquals(List.of(), n1.stops);
    assertEquals(List.of(), n2.stops);
  }

  private RawPeer connect() throws IOException {
    return closing(new RawPeer(n2.address));
  }

  private PeerCredentials from(String nodeId, UniqueId incarnation) {
    return new PeerCredentials(
        nodeId, ClusterKeys.CLUSTER, incarnation, "n2", n2.identity.incarnation());
  }

  private static void assertUnproven(Frame answer) {
    assertEquals(Frame.Kind.REFUSED, answer.kind());
    assertEquals(PeerGuard.Reason.SENDER_UNPROVEN.name(), answer.body().string());
  }

  private static void assertServed(Frame answer) {
    assertEquals(Frame.Kind.DONE, answer.kind());
  }

  @ParameterizedTest
  @EnumSource
  void strangerIsServedNothing(Frame.Kind kind) throws Exception {
    n2.identity.learn(cluster, 1);
    n2.appends =
        request -> {
          throw new AssertionError("an append was served");
        };
    RawPeer peer = connect();
    peer.send(RawPeer.hello(from("n9", OTHER)));
    // in the same moment, without an answer
    peer.send(RawPeer.frame(kind, from("n9", OTHER)));
    HelloToPeer.requirePreface(peer.in());
    assertEquals(Frame.Kind.CHALLENGE, Frame.read(peer.in(), Frame.MAX_HELLO_BYTES).kind());
    assertUnproven(Frame.read(peer.in(), Frame.MAX_HELLO_BYTES));
    assertThrows(IOException.class, () -> Frame.read(peer.in(), Frame.MAX_HELLO_BYTES));
    assertEquals(0, n2.votes.get());
    assertEquals(0, n2.terms.get());
    assertEquals(List.of(), n2.asked);
    assertEquals(List.of(), n2.installs);
  }

  /** What a refusal has to say of ids is for the cluster. */
  @ParameterizedTest
  @EnumSource(
      value = PeerGuard.Reason.class,
      names = {"OTHER_CLUSTER", "SENDER_UNKNOWN", "UNNAMED_CLUSTER"})
  void strangerLearnsNoIdFromARefusal(PeerGuard.Reason reason) throws Exception {
    n2.identity.learn(cluster, 1);
    UniqueId n1s = n1.identity.incarnation();
    UniqueId n2s = n2.identity.incarnation();
    PeerCredentials caller =
        switch (reason) {
          case OTHER_CLUSTER -> new PeerCredentials("n1", OTHER, n1s, "n2", n2s);
          case SENDER_UNKNOWN -> from("n1", OTHER);
          default -> new PeerCredentials("n1", ClusterKeys.CLUSTER, n1s, "n2", OTHER);
        };
    String told = refusalOf(caller, ClusterIdentity.NONE, reason);
    for (UniqueId id : List.of(ClusterKeys.CLUSTER, n1s, n2s)) {
      assertFalse(told.contains(id.toString()), told);
    }
    assertTrue(told.contains("node n2") && told.contains("node n1"), told);
    if (reason == PeerGuard.Reason.SENDER_UNKNOWN) {
      String toTheCluster = refusalOf(caller, cluster, reason);
      assertTrue(toTheCluster.contains(n1s.toString()), toTheCluster);
    }
  }

  private String refusalOf(PeerCredentials caller, ClusterIdentity known, PeerGuard.Reason reason)
      throws IOException {
    Frame answer = connect().greet(caller, known);
    assertEquals(Frame.Kind.REFUSED, answer.kind());
    WireReader body = answer.body();
    assertEquals(reason.name(), body.string());
    return body.string();
  }

  @Test
  void nameAndIncarnationOfAMemberAreNoProof() throws Exception {
    n2.identity.learn(cluster, 1);
    PeerCredentials member = from("n1", n1.identity.incarnation());
    assertUnproven(connect().greet(member, ClusterIdentity.NONE));
    assertUnproven(connect().greet(member, ClusterKeys.identity(2, Map.of())));
    assertServed(connect().greet(member, cluster));
  }

  /** It was down while others became members, and one of them leads. */
  @Test
  void nodeThatProvesIsServedThoughItIsNoMemberAsFarAsThisOneKnows() throws Exception {
    n2.identity.learn(cluster, 1);
    assertServed(connect().greet(from("n9", OTHER), cluster));
  }

  /** It may have been added a moment ago, or the cluster is new. */
  @Test
  void memberThatIsNotRecordedYetIsServedWithoutAProofAndNoOther() throws Exception {
    n2.identity.learn(cluster, 1);
    assertServed(connect().greet(from("n3", OTHER), ClusterIdentity.NONE));
    assertUnproven(connect().greet(from("n9", OTHER), ClusterIdentity.NONE));
  }

  @Test
  void nodeThatKnowsNoKeyServesWhoeverCalls() throws Exception {
    PeerCredentials caller = from("n9", OTHER);
    assertServed(connect().greet(caller, ClusterIdentity.NONE));
    assertServed(connect().greet(caller, cluster));
  }

  @Test
  void recordedHelloIsOfNoUse() throws Exception {
    n2.identity.learn(cluster, 1);
    PeerCredentials member = from("n1", n1.identity.incarnation());
    byte[] nonce = ClusterProof.drawNonce();
    RawPeer recorded = connect();
    ClusterProof proofs = recorded.say(member, nonce).proofs(nonce, "n2");
    byte[] proof = proofs.of(cluster, Side.CALLER, member.toBytes());
    assertServed(recorded.prove(proof));
    RawPeer again = connect();
    again.say(member, nonce);
    assertUnproven(again.prove(proof));
  }

  @Test
  void proofOfTheNodeItselfIsOfNoUse() throws Exception {
    n2.identity.learn(cluster, 1);
    PeerCredentials member = from("n1", n1.identity.incarnation());
    RawPeer first = connect();
    byte[] own = first.say(member, ClusterProof.drawNonce()).proof();
    assertNotNull(own);
    assertUnproven(first.prove(own));
    // with the number that the node has drawn, on two connections
    RawPeer second = connect();
    RawPeer third = connect();
    byte[] drawn = second.say(member, ClusterProof.drawNonce()).nonce();
    byte[] reflected = third.say(member, drawn).proof();
    assertUnproven(second.prove(reflected));
  }

  @Test
  void nodeProvesToItsCallerWhatItKnows() throws Exception {
    PeerCredentials caller = from("n9", OTHER);
    assertNull(connect().say(caller, ClusterProof.drawNonce()).proof());
    n2.identity.learn(cluster, 1);
    byte[] nonce = ClusterProof.drawNonce();
    RawPeer.Challenge challenge = connect().say(caller, nonce);
    assertTrue(
        challenge
            .proofs(nonce, "n2")
            .isGiven(cluster, Side.LISTENER, caller.toBytes(), challenge.proof()));
  }

  @Test
  void nodeThatIsRecordedAndProvesNothingIsNotCalled() throws Exception {
    try (FakePeer stranger = FakePeer.silent()) {
      PeerLink link = closing(n1.linkTo("n2", stranger.address()));
      n1.identity.learn(cluster, 1);
      IOException failure = assertThrows(IOException.class, link::connect);
      assertTrue(failure.getMessage().contains("does not prove"), failure.getMessage());
    }
  }

  @Test
  void nodeThatIsNotRecordedIsCalledWithoutAProof() throws Exception {
    n1.identity.learn(ClusterKeys.identity(1, Map.of("n1", n1.identity.incarnation())), 1);
    PeerConnection connection = closing(n1.linkTo(n2)).connect();
    assertEquals(1, term(connection));
  }

  /** As in a new cluster: the connections were there before the key. */
  @Test
  void connectionGoesOnWithProofsThatComeLater() throws Exception {
    PeerLink link = closing(n1.linkTo(n2));
    PeerConnection connection = link.connect();
    assertEquals(1, term(connection));
    ClusterIdentity nobody = ClusterKeys.identity(1, Map.of());
    long logIndex = 1;
    for (ClusterIdentity known : List.of(nobody, cluster)) {
      n1.identity.learn(known, logIndex);
      assertTrue(term(connection) > 0);
      n2.identity.learn(known, logIndex);
      assertTrue(term(connection) > 0);
      logIndex++;
    }
    assertSame(connection, link.connect());
    vote(connection);
    assertEquals(1, n2.votes.get());
  }

  /** Whoever came before the key has to prove, too. */
  @Test
  void strangerThatWasServedBeforeTheKeyIsServedNoLonger() throws Exception {
    RawPeer peer = connect();
    assertServed(peer.greet(from("n9", OTHER), ClusterIdentity.NONE));
    peer.reading();
    assertEquals(Frame.Kind.DONE, vote(peer).kind());
    n2.identity.learn(cluster, 1);
    assertUnproven(vote(peer));
    peer.send(
        Frame.of(
            Frame.Kind.IDENTITY,
            77,
            2,
            ClusterProof.write(new WireWriter().bytes(from("n9", OTHER).toBytes()), new byte[32])));
    assertUnproven(vote(peer));
    assertEquals(1, n2.votes.get());
  }

  @Test
  void memberHasToProveOnceItIsRecorded() throws Exception {
    n2.identity.learn(cluster, 1);
    RawPeer peer = connect();
    assertServed(peer.greet(from("n3", OTHER), ClusterIdentity.NONE));
    peer.reading();
    assertEquals(Frame.Kind.DONE, vote(peer).kind());
    n2.identity.learn(ClusterKeys.identity(1, Map.of("n3", OTHER)), 2);
    assertUnproven(vote(peer));
  }

  /** It took the address before the key was there. */
  @Test
  void nodeThatWasCalledBeforeTheKeyIsLeftIfItProvesNothing() throws Exception {
    try (FakePeer stranger = FakePeer.silent()) {
      PeerLink link = closing(n1.linkTo("n2", stranger.address()));
      PeerConnection connection = link.connect();
      n1.identity.learn(cluster, 1);
      CompletableFuture<Frame> answer = connection.term();
      stranger.send(Frame.of(Frame.Kind.DONE, 1, 0, new WireWriter().flag(false)));
      assertFails(answer, "does not prove");
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void answerToCredentialsThatMakesNoSenseEndsTheConnectionAlone(int which) throws Exception {
    try (FakePeer stranger = FakePeer.silent()) {
      PeerConnection connection = closing(n1.linkTo("n2", stranger.address())).connect();
      n1.identity.learn(cluster, 1);
      CompletableFuture<Frame> answer = connection.term();
      WireWriter cut = new WireWriter().flag(true).i32(1 << 30);
      stranger.send(
          switch (which) {
            case 0 -> Frame.of(Frame.Kind.DONE, 1, 0, new WireWriter());
            case 1 -> Frame.of(Frame.Kind.DONE, 1, 0, cut);
            default -> Frame.failed(1, "no");
          });
      assertFails(answer, which == 2 ? "does not take new credentials" : "cannot be read");
    }
  }

  private static void assertFails(CompletableFuture<Frame> answer, String why) {
    ExecutionException failure =
        assertThrows(
            ExecutionException.class, () -> answer.get(DEADLINE.toSeconds(), TimeUnit.SECONDS));
    assertTrue(failure.toString().contains(why), failure.toString());
  }

  /** It has no certificate of that node, but sits at its address. */
  @Test
  void strangerEndsNoNodeByRefusingIt() throws Exception {
    byte[] hello = FakePeer.hello();
    byte[] refused =
        Frame.refused(
            0, new PeerGuard.Refusal(PeerGuard.Reason.SENDER_REMOVED, "node n1 was removed"));
    int done = Frame.of(Frame.Kind.DONE, 0, 0, new WireWriter(0)).length;
    byte[] begin = Arrays.copyOf(hello, hello.length - done + refused.length);
    System.arraycopy(refused, 0, begin, hello.length - done, refused.length);
    n1.identity.learn(cluster, 1);
    try (FakePeer stranger = new FakePeer(begin)) {
      PeerLink link = closing(n1.linkTo("n2", stranger.address()));
      IOException failure = assertThrows(IOException.class, link::connect);
      assertTrue(failure.getMessage().contains("n1 was removed"), failure.getMessage());
      assertFalse(n1.settings.guard().hasStopped());
    }
  }

  @Test
  void strangerEndsNoNodeBySayingThatItIsAnotherOne() throws Exception {
    n2.identity.learn(cluster, 1);
    PeerCredentials wrong =
        new PeerCredentials(
            "n1", ClusterKeys.CLUSTER, n1.identity.incarnation(), "n2", new UniqueId(5, 5));
    Frame answer = connect().greet(wrong, ClusterIdentity.NONE);
    assertEquals(Frame.Kind.REFUSED, answer.kind());
    assertEquals(PeerGuard.Reason.UNNAMED_CLUSTER.name(), answer.body().string());
    assertFalse(n2.settings.guard().hasStopped());
  }

  /** All of the hello has one deadline, whatever comes meanwhile. */
  @Test
  void nodeThatAnswersByteByByteIsNotWaitedFor() throws Exception {
    try (FakePeer slow = new FakePeer(Arrays.copyOf(FakePeer.hello(), 5))) {
      PeerLink link = closing(n1.linkTo("n2", slow.address()));
      CompletableFuture<PeerConnection> attempt = link.attempt();
      byte[] rest = Arrays.copyOfRange(FakePeer.hello(), 5, FakePeer.hello().length);
      ExecutionException failure =
          assertThrows(
              ExecutionException.class,
              () -> {
                for (int i = 0; i < rest.length - 1; i++) {
                  if (attempt.isDone()) {
                    attempt.get();
                  }
                  try {
                    slow.send(new byte[] {rest[i]});
                  } catch (IOException e) {
                    // the other side has left
                  }
                  TimeUnit.MILLISECONDS.sleep(50);
                }
              });
      assertTrue(failure.toString().contains("no hello within"), failure.toString());
    }
  }

  private static Frame vote(RawPeer peer) throws Exception {
    return peer.call(Frame.Kind.VOTE, RequestVoteRequestProto.getDefaultInstance())
        .get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
  }

  private static void vote(PeerConnection connection) throws Exception {
    connection
        .call(
            (call, read) ->
                Frame.of(Frame.Kind.VOTE, call, read, RequestVoteRequestProto.getDefaultInstance()))
        .get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
  }

  private static long term(PeerConnection connection) throws Exception {
    return connection.term().get(DEADLINE.toSeconds(), TimeUnit.SECONDS).body().i64();
  }
}
