package dev.tollgate.log.peer;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.tls.TestCertificates;
import dev.tollgate.tls.TlsCredentials;
import dev.tollgate.tls.TlsFiles;
import dev.tollgate.tls.TlsMode;
import dev.tollgate.tls.TlsSocket;
import dev.tollgate.tls.TlsVersion;
import dev.tollgate.wire.WireWriter;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Nodes that talk over TLS, and strangers that would like to. */
class PeerTlsTest {
  private static final Duration DEADLINE = Duration.ofSeconds(30);
  private static final long ELECTION_MILLIS = 50;

  @TempDir Path directory;
  private final List<AutoCloseable> open = new ArrayList<>();
  private TestCertificates certificates;
  private TestCertificates other;
  private TestNode n1;
  private TestNode n2;

  @BeforeEach
  void start() throws Exception {
    certificates = new TestCertificates(directory.resolve("ca"));
    other = new TestCertificates(directory.resolve("other"));
    for (String id : List.of("n1", "n2", "n3")) {
      certificates.node(id);
    }
    certificates.revoke();
    n1 = node("n1");
    n2 = node("n2");
  }

  private TestNode node(String id) throws IOException {
    TestNode node = new TestNode(id, directory, ELECTION_MILLIS, certificates.credentials(id));
    open.add(0, node);
    return node;
  }

  @AfterEach
  void stop() throws Exception {
    for (AutoCloseable closeable : open) {
      closeable.close();
    }
    assertEquals(List.of(), n1.failures);
    assertEquals(List.of(), n2.failures);
  }

  private PeerConnection connected(TestNode from, String to, String address) throws Exception {
    PeerLink link = from.linkTo(to, address);
    open.add(0, link);
    return link.connect();
  }

  /** The first handshake of a process loads its classes, and nodes wait for none that long. */
  private PeerConnection connectedInTime(TestNode from, String to, String address)
      throws Exception {
    PeerLink link = from.linkTo(to, address);
    open.add(0, link);
    await()
        .atMost(Duration.ofSeconds(30))
        .ignoreExceptionsInstanceOf(IOException.class)
        .until(() -> !link.connect().isClosed());
    return link.connect();
  }

  @Test
  void nodesOfOneCaTalk() throws Exception {
    PeerConnection connection = connectedInTime(n1, "n2", n2.address);
    assertEquals(1, connection.term().get().body().i64());
    connection.call((call, read) -> Frame.of(Frame.Kind.VOTE, call, read, vote())).get();
    assertEquals(1, n2.votes.get());
  }

  private static RequestVoteRequestProto vote() {
    return RequestVoteRequestProto.newBuilder().setCandidateTerm(7).build();
  }

  /** Who tries to vote and to append. */
  enum Stranger {
    PLAIN,
    WITHOUT_CERTIFICATE,
    OF_ANOTHER_CA,
    EXPIRED,
    REVOKED,
    CLIENT,
    SERVER_WITHOUT_A_NODE,
    ANOTHER_NODE
  }

  private TlsFiles files(Stranger stranger) throws Exception {
    switch (stranger) {
      case PLAIN -> throw new IllegalArgumentException("it has no files");
      case WITHOUT_CERTIFICATE -> {
        return new TlsFiles(null, null, null, null, null, certificates.trust(), null);
      }
      case OF_ANOTHER_CA -> {
        other.node("n3");
        return other.files("n3", certificates.trust());
      }
      case EXPIRED ->
          certificates.write(
              "n3",
              certificates.authority.node("n3", List.of("127.0.0.1"), TestCertificates.expired()));
      case REVOKED -> {
        certificates.revoke(certificates.node("n3"));
        n2.settings.tls().refresh();
        assertEquals(List.of(), certificates.events.failed);
        assertEquals(1, certificates.events.reloaded.size());
      }
      case CLIENT ->
          certificates.write("n3", certificates.authority.user("n3", TestCertificates.now()));
      case SERVER_WITHOUT_A_NODE ->
          certificates.write(
              "n3", certificates.authority.node("", List.of("127.0.0.1"), TestCertificates.now()));
      case ANOTHER_NODE -> {
        return certificates.files("n2");
      }
    }
    return certificates.files("n3");
  }

  @ParameterizedTest
  @EnumSource
  void strangerCanNeitherJoinNorVoteNorAppend(Stranger stranger) throws Exception {
    try (Socket socket = new Socket()) {
      PeerSockets.connect(socket, PeerSockets.resolve(n2.address));
      PeerSockets.Streams streams;
      try {
        streams =
            stranger == Stranger.PLAIN
                ? PeerSockets.Streams.of(socket)
                : streams(socket, files(stranger));
        byte[] hello = RawPeer.hello("n3", "n2");
        streams.out().write(hello);
        streams.out().write(Frame.of(Frame.Kind.VOTE, 1, 0, vote()));
        streams
            .out()
            .write(
                Frame.of(Frame.Kind.APPEND, 2, 0, AppendEntriesRequestProto.getDefaultInstance()));
        streams.out().write(Frame.of(Frame.Kind.TERM, 3, 0, new WireWriter(0)));
        socket.setSoTimeout((int) DEADLINE.toMillis());
        DataInputStream in = new DataInputStream(streams.in());
        HelloToPeer.requirePreface(in);
        assertEquals(Frame.Kind.REFUSED, Frame.read(in, Frame.MAX_HELLO_BYTES).kind());
        assertThrows(IOException.class, () -> Frame.read(in, Frame.MAX_HELLO_BYTES));
        assertEquals(Stranger.PLAIN, stranger);
      } catch (SocketTimeoutException e) {
        throw e;
      } catch (IOException e) {
        // it was refused with an alert, or cut off
        assertFalse(stranger == Stranger.PLAIN && !(e instanceof EOFException || isReset(e)));
      }
    }
    assertEquals(0, n2.votes.get());
    assertEquals(0, n2.terms.get());
    // and a node that may is served as before
    assertEquals(1, connectedInTime(n1, "n2", n2.address).term().get().body().i64());
  }

  @ParameterizedTest
  @EnumSource(names = {"PLAIN", "WITHOUT_CERTIFICATE", "OF_ANOTHER_CA"})
  void strangerIsServedNoCall(Stranger stranger) throws Exception {
    n2.appends =
        request -> {
          throw new AssertionError("an append was served");
        };
    TlsFiles files = stranger == Stranger.PLAIN ? null : files(stranger);
    for (Frame.Kind kind : Frame.Kind.values()) {
      try (Socket socket = new Socket()) {
        PeerSockets.connect(socket, PeerSockets.resolve(n2.address));
        socket.setSoTimeout((int) DEADLINE.toMillis());
        List<Frame.Kind> answers = new ArrayList<>();
        IOException end =
            assertThrows(
                IOException.class,
                () -> {
                  PeerSockets.Streams streams =
                      files == null ? PeerSockets.Streams.of(socket) : streams(socket, files);
                  streams.out().write(RawPeer.hello("n3", "n2"));
                  streams.out().write(RawPeer.frame(kind, RawPeer.credentials("n3", "n2")));
                  DataInputStream in = new DataInputStream(streams.in());
                  HelloToPeer.requirePreface(in);
                  while (true) {
                    answers.add(Frame.read(in, Frame.MAX_HELLO_BYTES).kind());
                  }
                });
        assertFalse(end instanceof SocketTimeoutException, kind + ": " + end);
        answers.remove(Frame.Kind.REFUSED);
        assertEquals(List.of(), answers, kind.toString());
      }
    }
    assertEquals(0, n2.votes.get());
    assertEquals(0, n2.terms.get());
    assertEquals(List.of(), n2.asked);
    assertEquals(List.of(), n2.installs);
  }

  private static boolean isReset(IOException e) {
    return e instanceof SocketException;
  }

  private PeerSockets.Streams streams(Socket socket, TlsFiles files) throws IOException {
    TlsCredentials credentials = new TlsCredentials(files, TlsVersion.TLS_1_3, certificates.events);
    TlsSocket tls =
        TlsSocket.handshake(
            socket, credentials.clientEngine(TlsMode.VERIFY_CA, "127.0.0.1", 1), "n2", 10_000);
    return new PeerSockets.Streams(tls.in(), tls.out(), null);
  }

  @Test
  void nodeTalksToNoStranger() throws Exception {
    // n3 was n2's host, and shows the certificate of n2
    TestNode impostor =
        new TestNode("n3", directory, ELECTION_MILLIS, certificates.credentials("n2"));
    open.add(0, impostor);
    IOException refused =
        assertThrows(IOException.class, () -> connected(n1, "n3", impostor.address));
    assertTrue(
        String.valueOf(refused.getMessage()).contains("has the certificate of node n2"),
        refused.getMessage());

    TestNode foreign = new TestNode("n3", directory.resolve("f"), ELECTION_MILLIS, foreign());
    open.add(0, foreign);
    assertThrows(IOException.class, () -> connected(n1, "n3", foreign.address));
    assertEquals(0, foreign.terms.get());
  }

  private TlsCredentials foreign() throws Exception {
    other.node("n3");
    return other.credentials("n3");
  }

  @Test
  void nodeWithoutTlsIsToldSo() throws Exception {
    TestNode plain = new TestNode("n3", directory, ELECTION_MILLIS);
    open.add(0, plain);
    IOException refused = assertThrows(IOException.class, () -> connected(plain, "n2", n2.address));
    assertTrue(
        String.valueOf(refused.getMessage()).contains("node n2 speaks TLS alone"),
        refused.getMessage());
    IOException other = assertThrows(IOException.class, () -> connected(n1, "n3", plain.address));
    assertTrue(
        String.valueOf(other.getMessage()).contains("does not speak TLS, but sent 'TGPEER"),
        other.getMessage());
  }

  @Test
  void handshakesThatNeverEndAreStrangersThatEnd() throws Exception {
    List<Socket> stuck = new ArrayList<>();
    try {
      for (int i = 0; i < PeerListener.MAX_STRANGERS / 2; i++) {
        Socket socket = new Socket();
        PeerSockets.connect(socket, PeerSockets.resolve(n2.address));
        socket.setSoTimeout((int) DEADLINE.toMillis());
        if (i % 2 == 0) {
          socket.getOutputStream().write(new byte[] {22, 3, 1, 2, 0, 1});
        }
        stuck.add(socket);
      }
      assertEquals(1, connectedInTime(n1, "n2", n2.address).term().get().body().i64());
      for (Socket socket : stuck) {
        socket.getInputStream().transferTo(OutputStream.nullOutputStream());
      }
    } finally {
      for (Socket socket : stuck) {
        socket.close();
      }
    }
  }

  @Test
  void newConnectionsUseTheNewCertificate() throws Exception {
    PeerConnection before = connectedInTime(n1, "n2", n2.address);
    String old = Files.readString(certificates.certificate("n2"));
    certificates.node("n2");
    assertFalse(old.equals(Files.readString(certificates.certificate("n2"))));
    n2.settings.tls().refresh();
    assertEquals(1, before.term().get().body().i64());
    try (Socket socket = new Socket()) {
      PeerSockets.connect(socket, PeerSockets.resolve(n2.address));
      TlsSocket tls =
          TlsSocket.handshake(socket, n1.settings.tls().peerEngine("127.0.0.1", 1), "n2", 10_000);
      assertEquals(n2.settings.tls().certificate(), tls.peerCertificate());
    }
    await().atMost(DEADLINE).until(() -> before.term().get().body().i64() > 1);
  }
}
