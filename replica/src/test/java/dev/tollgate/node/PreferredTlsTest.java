package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tollgate.node.client.ClientConnection;
import dev.tollgate.node.client.LoginRules;
import dev.tollgate.node.client.PasswordRules;
import dev.tollgate.tls.CertificateDemand;
import dev.tollgate.tls.TestCertificates;
import dev.tollgate.tls.TlsCredentials;
import dev.tollgate.tls.TlsSocket;
import dev.tollgate.tls.TlsVersion;
import dev.tollgate.wire.Frame;
import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.ScramBinding;
import dev.tollgate.wire.WireWriter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A driver that was told nothing of TLS, and nodes on an address that is not loopback. */
@Timeout(120)
class PreferredTlsTest {
  private static final Duration DEADLINE = Duration.ofSeconds(20);
  private static final String LOGIN = "&user=admin&password=unused";

  @TempDir private Path directory;
  private @Nullable InetAddress here;
  private @Nullable Node node;

  @BeforeEach
  void findAddress() throws Exception {
    here =
        NetworkInterface.networkInterfaces()
            .flatMap(NetworkInterface::inetAddresses)
            .filter(address -> address instanceof Inet4Address && !address.isLoopbackAddress())
            .findFirst()
            .orElse(null);
    assumeTrue(here != null, "this machine has no address but loopback");
  }

  @AfterEach
  void stop() {
    if (node != null) {
      node.closeAtOnce();
    }
  }

  private void start(@Nullable NodeTls tls, UserSettings users) throws Exception {
    node =
        new Node(
            new NodeSettings(
                    "n1",
                    /* raft= */ null,
                    here.getHostAddress() + ":1",
                    new InetSocketAddress(here, 0),
                    100,
                    Duration.ZERO)
                .withTls(tls),
            AdminNode.CONNECTIONS,
            users);
    node.start();
    assertTrue(node.awaitLeadership(DEADLINE));
  }

  private NodeTls tls() throws Exception {
    TestCertificates certificates = new TestCertificates(directory);
    certificates.write(
        "n1",
        certificates.authority.node("n1", List.of(here.getHostAddress()), TestCertificates.now()));
    return new NodeTls(
        new TlsCredentials(certificates.files("n1"), TlsVersion.TLS_1_3, NodeTls.logged("n1")),
        CertificateDemand.WANTED,
        /* peers= */ false);
  }

  private String url(String properties) {
    return url(node.listenAddress().getPort(), properties);
  }

  private String url(int port, String properties) {
    return "jdbc:tollgate://"
        + here.getHostAddress()
        + ":"
        + port
        + "/?failoverTimeout=2s"
        + properties;
  }

  private static void assertRefused(String url, String why) {
    SQLException refused =
        assertThrows(SQLException.class, () -> DriverManager.getConnection(url).close());
    assertTrue(refused.getMessage().contains(why), refused.getMessage());
    assertEquals("28000", refused.getSQLState(), refused.getMessage());
  }

  @Test
  void loginGoesToNoOtherHostWithoutTls() throws Exception {
    start(null, TestUsers.administrator("admin"));
    assertRefused(url(LOGIN), "set sslMode=disable in the URL to log in all the same");
    await()
        .atMost(DEADLINE)
        .ignoreExceptions()
        .until(
            () -> {
              DriverManager.getConnection(url(LOGIN + "&sslMode=disable")).close();
              return true;
            });
  }

  @Test
  void nodeThatAsksForNoLoginIsServedAsItIs() throws Exception {
    start(null, UserSettings.OPTIONAL);
    assertEquals(2, TlsNode.ask(url("")));
    assertEquals(2, TlsNode.ask(url("")));
  }

  @Test
  void tlsIsSpokenWithoutBeingAskedFor() throws Exception {
    start(tls(), TestUsers.administrator("admin"));
    await().atMost(DEADLINE).ignoreExceptions().until(() -> TlsNode.ask(url(LOGIN)) == 2);
    assertRefused(url("&user=admin&password=wrong"), "is wrong");
  }

  @Test
  void nodeMayTakeBoundLoginsAlone() throws Exception {
    UserSettings users = TestUsers.administrator("admin");
    LoginRules rules = new LoginRules(/* bindingRequired= */ true, PasswordRules.STANDARD);
    start(tls(), new UserSettings(true, users.firstAdministrator(), rules));
    await().atMost(DEADLINE).ignoreExceptions().until(() -> TlsNode.ask(url(LOGIN)) == 2);
  }

  /** The node's side of a connection that has this binding. */
  private final class Bound implements ClientConnection.Link {
    private final byte @Nullable [] binding;
    private final List<Reply> replies = new ArrayList<>();
    private final ClientConnection connection;

    Bound(byte @Nullable [] binding) {
      this.binding = binding;
      this.connection = node.service().connect(this);
    }

    Reply call(Request request) {
      WireWriter body = new WireWriter();
      request.write(body);
      connection.receive(new Frame(request.type(), 1, 0, body.toByteArray()));
      return replies.get(replies.size() - 1);
    }

    @Override
    public void send(Frame frame) {
      replies.add(Reply.read(frame));
    }

    @Override
    public void close() {}

    @Override
    public String client() {
      return "local";
    }

    @Override
    public byte @Nullable [] channelBinding() {
      return binding;
    }
  }

  @Test
  void loginThatIsNotBoundIsRefusedWhereThatIsDemanded() throws Exception {
    UserSettings users = TestUsers.administrator("admin");
    LoginRules rules = new LoginRules(/* bindingRequired= */ true, PasswordRules.STANDARD);
    start(tls(), new UserSettings(true, users.firstAdministrator(), rules));
    Request hello = new Request.Hello(1, Protocol.VERSION, "app", "host", "1");
    await()
        .atMost(DEADLINE)
        .until(() -> new Bound(new byte[] {1}).call(hello) instanceof Reply.LoginRequired);
    Bound bound = new Bound(new byte[] {1});
    assertEquals(
        List.of(ScramBinding.PLUS), ((Reply.LoginRequired) bound.call(hello)).mechanisms());
    byte[] first = "n,,n=admin,r=abcdefghijklmnopqrstuvwx".getBytes(StandardCharsets.US_ASCII);
    Reply reply = bound.call(new Request.BeginLogin(ScramBinding.PLAIN, first));
    assertEquals("28000", ((Reply.Failure) reply).sqlState());
    assertEquals("28000", ((Reply.Failure) new Bound(null).call(hello)).sqlState());
  }

  /** A server with TLS, but not with the certificate of a node, that wants an unbound login. */
  @Test
  void passwordIsNotProvenToAServerThatNobodyKnows() throws Exception {
    for (String mode : List.of("", "&sslMode=require")) {
      try (ServerSocket server = new ServerSocket(0, 5, here)) {
        TlsCredentials pretended = tls().credentials();
        CompletableFuture<String> seen =
            CompletableFuture.supplyAsync(() -> pretendToBeANode(server, pretended));
        assertRefused(url(server.getLocalPort(), LOGIN + mode), "anybody in between");
        assertEquals("", seen.get(DEADLINE.toMillis(), TimeUnit.MILLISECONDS));
      }
    }
  }

  /** Returns what the client sends after it was asked for a login. */
  private static String pretendToBeANode(ServerSocket server, TlsCredentials credentials) {
    try (Socket socket = server.accept()) {
      TlsSocket tls =
          TlsSocket.handshake(
              socket,
              credentials.serverEngine(CertificateDemand.NONE, /* nodesOnly= */ false),
              "the client",
              DEADLINE.toMillis());
      InputStream in = tls.in();
      int length = 0;
      for (int i = 0; i < Integer.BYTES; i++) {
        length = length << 8 | in.read();
      }
      byte[] hello = in.readNBytes(length);
      long id = ByteBuffer.wrap(hello).getLong(2);
      Reply required = new Reply.LoginRequired(Protocol.VERSION, List.of(ScramBinding.PLAIN));
      WireWriter body = new WireWriter();
      required.write(body);
      Frame frame = new Frame(required.type(), id, 0, body.toByteArray());
      WireWriter bytes = new WireWriter();
      frame.writeHeader(bytes);
      bytes.raw(frame.body(), 0, frame.body().length);
      OutputStream out = tls.out();
      out.write(bytes.toByteArray());
      ByteArrayOutputStream rest = new ByteArrayOutputStream();
      in.transferTo(rest);
      return rest.toString(StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      return String.valueOf(e.getMessage());
    }
  }

  @Test
  void loopbackNeedsNoTls() throws Exception {
    try (Node local =
        new Node(
            LoopbackSettings.of("n1", null),
            AdminNode.CONNECTIONS,
            TestUsers.administrator("admin"))) {
      local.start();
      String url = "jdbc:tollgate://127.0.0.1:" + local.listenAddress().getPort() + "/?";
      await()
          .atMost(DEADLINE)
          .ignoreExceptions()
          .until(
              () -> {
                try (Connection connection =
                    DriverManager.getConnection(url + "failoverTimeout=2s" + LOGIN)) {
                  return connection.isValid(5);
                }
              });
    }
  }
}
