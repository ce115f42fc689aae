package dev.tollgate.transport;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.fake.FakeCluster;
import dev.tollgate.fake.StrangeServer;
import dev.tollgate.fake.StrangeServer.Manners;
import dev.tollgate.wire.SqlState;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Opening a session where there is no node, or something that only looks like one. */
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StrangeServersTest {
  private static final Duration BUDGET = Duration.ofSeconds(1);

  /** Ends what a connection of a client waits for in these tests, long before the timeout. */
  private static final Duration LONG = Duration.ofSeconds(20);

  private final ClusterRegistry registry = Client.registry();

  /** For servers whose first word says enough, whenever it comes. */
  private final ClusterRegistry patient = Client.patientRegistry(System::nanoTime);

  /**
   * A server and what the driver makes of it.
   *
   * @param message what the exception says, as a regular expression
   */
  private record Case(String name, Manners manners, SqlState state, String message) {
    /** True if the driver need not time out, so that a machine that stalls changes nothing. */
    boolean isHeardOf() {
      return !message.contains("did not answer");
    }

    @Override
    public String toString() {
      return name;
    }
  }

  private static Case dead(String name, String message, Manners manners) {
    return new Case(name, manners, SqlState.NO_QUORUM, message);
  }

  private static Case foreign(String name, String message, Manners manners) {
    return new Case(name, manners, SqlState.CONNECTION_REFUSED, message);
  }

  private static Manners says(byte[] bytes) {
    return client -> client.getOutputStream().write(bytes);
  }

  private static Manners says(String text) {
    return says(text.getBytes(ISO_8859_1));
  }

  /** Waits for the client to speak first. */
  private static Manners answers(String text) {
    return client -> {
      assertTrue(client.getInputStream().read() >= 0);
      says(text).serve(client);
    };
  }

  private static void reset(Socket client) throws IOException {
    client.setSoLinger(true, 0);
    client.close();
  }

  static Stream<Case> servers() {
    HexFormat hex = HexFormat.of();
    return Stream.of(
        dead("accepts and never answers", "silent|did not answer", client -> {}),
        dead("closes at once", "closed the connection", Socket::shutdownOutput),
        dead("resets at once", "reset", StrangeServersTest::reset),
        dead(
            "resets after hello",
            "reset",
            client -> {
              assertTrue(client.getInputStream().read() >= 0);
              reset(client);
            }),
        dead(
            "closes within a frame",
            "closed the connection",
            client -> {
              says("\0\0\0").serve(client);
              client.shutdownOutput();
            }),
        dead("falls silent within a frame", "silent|did not answer", says("\0\0\1\0abc")),
        dead(
            "says one byte after the other, for ever",
            "did not answer",
            client -> {
              says("\0\0\1\0").serve(client);
              while (true) {
                says("\0").serve(client);
                LockSupport.parkNanos(30_000_000);
              }
            }),
        dead(
            "tells news and never answers",
            "did not answer",
            client -> {
              // Lost: no sessions, no leases
              byte[] lost = hex.parseHex("00000016" + "8a00" + "00".repeat(12) + "00".repeat(8));
              while (true) {
                says(lost).serve(client);
                LockSupport.parkNanos(10_000_000);
              }
            }),
        foreign(
            "HTTP",
            "HTTP/1.1 400 Bad",
            answers("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")),
        foreign(
            "PostgreSQL",
            "sent 'E[.]{3}",
            answers("E\0\0\0\u0092SFATAL\0C0A000\0Munsupported frontend protocol 84.19527\0\0")),
        foreign("MySQL", "sent 'J[.]{4}8[.]0[.]36", says("J\0\0\0\n8.0.36\0\u0008\0\0\0")),
        foreign("SSH", "SSH-2.0-OpenSSH", says("SSH-2.0-OpenSSH_9.2\r\n")),
        foreign("TLS", "sent '[.]{5,}", StrangeServersTest::serveTls),
        foreign(
            "random bytes",
            "does not speak",
            client -> {
              byte[] noise = new byte[1 << 20];
              new Random(1).nextBytes(noise);
              noise[0] |= 0x40;
              client.getOutputStream().write(noise);
            }),
        foreign(
            "random bytes of a likely length",
            "does not speak",
            client -> {
              byte[] noise = new byte[4 + 1000];
              new Random(1).nextBytes(noise);
              System.arraycopy(hex.parseHex("000003e8"), 0, noise, 0, 4);
              client.getOutputStream().write(noise);
            }),
        foreign(
            "a frame of a type that is none",
            "does not speak",
            says(hex.parseHex("0000000e" + "7f00" + "00".repeat(12)))),
        foreign(
            "a welcome with something behind it",
            "does not speak",
            says(hex.parseHex("00000010" + "8700" + "0000000000000001" + "00000000" + "0000"))));
  }

  private static void serveTls(Socket client) throws IOException {
    try {
      SSLSocket tls =
          (SSLSocket)
              SSLContext.getDefault()
                  .getSocketFactory()
                  .createSocket(client, client.getInputStream(), /* autoClose= */ false);
      tls.setUseClientMode(false);
      tls.startHandshake();
    } catch (java.security.NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  private TransportException failing(String... addresses) {
    return failing(registry, addresses);
  }

  private static TransportException failing(ClusterRegistry registry, String... addresses) {
    return assertThrows(
        TransportException.class,
        () -> registry.open(Client.target(addresses), Client.settings(BUDGET), Duration.ZERO));
  }

  private static void assertFailure(SqlState state, String message, TransportException e) {
    assertEquals(state.state(), e.failure().sqlState(), e.getMessage());
    assertTrue(Pattern.compile(message).matcher(e.getMessage()).find(), e.getMessage());
  }

  private static List<String> controlThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith("tollgate-control-"))
        .toList();
  }

  @ParameterizedTest
  @MethodSource("servers")
  void openingFails(Case strange) throws Exception {
    try (StrangeServer server = new StrangeServer(strange.manners)) {
      TransportException e =
          strange.state == SqlState.NO_QUORUM
              ? failing(strange.isHeardOf() ? patient : registry, server.address())
              : assertThrows(
                  TransportException.class,
                  () ->
                      patient.open(
                          Client.target(server.address()), Client.settings(LONG), Duration.ZERO));
      assertFailure(strange.state, strange.message, e);
      assertTrue(e.getMessage().contains(server.address()), e.getMessage());
      assertTrue(server.accepted() > 0);
      await("all connections are closed").until(() -> server.openConnections() == 0);
      assertEquals(0, registry.size() + patient.size());
      assertEquals(List.of(), controlThreads());
    }
  }

  /** The last attempt has hardly any time left; the one before it says more. */
  @Test
  void whatANodeDidSaysMoreThanThatTheTimeEnded() throws Exception {
    AtomicInteger connections = new AtomicInteger();
    try (StrangeServer server =
        new StrangeServer(
            client -> {
              if (connections.incrementAndGet() == 1) {
                reset(client);
              }
            })) {
      TransportException e =
          assertThrows(
              TransportException.class,
              () ->
                  patient.open(
                      Client.target(server.address()), Client.settings(BUDGET), Duration.ZERO));
      assertFailure(SqlState.NO_QUORUM, "reset", e);
    }
    assertEquals(2, connections.get());
  }

  /** It is asked first, and the others after it. */
  @ParameterizedTest
  @MethodSource("servers")
  void otherNodesServeAllTheSame(Case strange) throws Exception {
    try (StrangeServer server = new StrangeServer(strange.manners);
        FakeCluster cluster = FakeCluster.start(1)) {
      ClusterTarget both = Client.target(server.address(), cluster.node(0).address());
      try (ClusterSession session = registry.open(both, Client.settings(LONG), Duration.ZERO)) {
        assertEquals("1", Client.query(session, "SELECT 1"));
      }
      await("all connections are closed").until(() -> server.openConnections() == 0);
      await("also to the node").until(() -> cluster.node(0).openConnections() == 0);
      await().until(() -> controlThreads().isEmpty());
    }
  }

  @Test
  void foreignServersAreNotAskedAgain() throws Exception {
    try (StrangeServer server = new StrangeServer(says("SSH-2.0-OpenSSH_9.2\r\n"))) {
      assertThrows(
          TransportException.class,
          () ->
              patient.open(Client.target(server.address()), Client.settings(LONG), Duration.ZERO));
      assertEquals(1, server.accepted());
    }
  }

  @Test
  void portWhereNobodyListens() throws Exception {
    int port;
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = server.getLocalPort();
    }
    assertFailure(SqlState.NO_QUORUM, "refused", failing("127.0.0.1:" + port));
  }

  @Test
  void nameThatNobodyKnows() {
    assertFailure(
        SqlState.NO_QUORUM, "no address is known for host 'node.invalid'", failing("node.invalid"));
  }

  /** A server whose queue of connections is full does not answer the first packet. */
  @Test
  void serverThatTakesNoConnections() throws Exception {
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      List<Socket> queue = new ArrayList<>();
      try {
        fill(server, queue);
        assertFailure(
            SqlState.NO_QUORUM, "timed out", failing("127.0.0.1:" + server.getLocalPort()));
      } finally {
        for (Socket socket : queue) {
          socket.close();
        }
      }
    }
  }

  private static void fill(ServerSocket server, List<Socket> queue) throws IOException {
    while (true) {
      Socket socket = new Socket();
      queue.add(socket);
      try {
        socket.connect(server.getLocalSocketAddress(), 200);
      } catch (SocketTimeoutException e) {
        return;
      }
    }
  }
}
