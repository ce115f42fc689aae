package dev.tollgate.node.audit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.cli.certificates.TestAuthority;
import dev.tollgate.log.Supervision;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A syslog server with TLS gets the lines, and nothing waits for one that does not. */
@Timeout(60)
class SyslogSenderTest {
  private static final Duration DEADLINE = Duration.ofSeconds(30);

  private final List<String> messages = new CopyOnWriteArrayList<>();
  private final List<Socket> accepted = new CopyOnWriteArrayList<>();
  private final AtomicReference<@Nullable Throwable> bug = new AtomicReference<>();
  private TestAuthority authority;
  private ServerSocket server;
  private @Nullable SyslogSender sender;

  @BeforeEach
  void makeAuthority() throws Exception {
    authority = TestAuthority.create("CA", TestAuthority.Validity.days(Instant.now(), 1));
    server = tls("localhost").getServerSocketFactory().createServerSocket();
    server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
  }

  @AfterEach
  void stop() throws Exception {
    if (sender != null) {
      sender.close();
    }
    server.close();
    for (Socket socket : accepted) {
      socket.close();
    }
    assertNull(bug.get());
  }

  /** With a certificate for this host, and trust in the CA. */
  private SSLContext tls(String host) throws Exception {
    TestAuthority.Issued issued =
        authority.node("log", List.of(host), TestAuthority.Validity.days(Instant.now(), 1));
    KeyStore keys = KeyStore.getInstance("PKCS12");
    keys.load(null, null);
    keys.setKeyEntry(
        "key", issued.key(), new char[0], new X509Certificate[] {issued.certificate()});
    keys.setCertificateEntry("ca", authority.certificate());
    KeyManagerFactory own = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    own.init(keys, new char[0]);
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(keys);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(own.getKeyManagers(), trust.getTrustManagers(), null);
    return context;
  }

  private SyslogSender start(String host, int most) throws Exception {
    SyslogSettings settings =
        new SyslogSettings(host, server.getLocalPort(), tls("x").getSocketFactory());
    SyslogSender started = new SyslogSender("n1", settings, most, Clock.systemUTC());
    started.start(new Supervision("n1", bug::set));
    sender = started;
    return started;
  }

  private void serve() {
    Thread thread =
        new Thread(
            () -> {
              while (!server.isClosed()) {
                try {
                  Socket socket = server.accept();
                  accepted.add(socket);
                  read(socket.getInputStream());
                } catch (IOException e) {
                  // the next connection, or the end of the test
                }
              }
            });
    thread.setDaemon(true);
    thread.start();
  }

  /** Frames of RFC 5425: a length, a space, and the message. */
  private void read(InputStream in) throws IOException {
    while (true) {
      int length = 0;
      int next = in.read();
      for (; next >= '0'; next = in.read()) {
        length = 10 * length + next - '0';
      }
      if (next < 0) {
        return;
      }
      assertEquals(' ', next);
      messages.add(new String(in.readNBytes(length), UTF_8));
    }
  }

  private static String line(int number) {
    return new JsonLine(42, "login")
        .number("number", (long) number)
        .text("user", "J\u00d6")
        .toString();
  }

  @Test
  void lineIsAMessageOfRfc5424() throws Exception {
    serve();
    start("localhost", 10).offer(line(1) + line(2));
    await().atMost(DEADLINE).until(() -> messages.size() == 2);
    assertEquals(
        "<110>1 1970-01-01T00:00:00.000042Z n1 tollgate "
            + ProcessHandle.current().pid()
            + " audit - "
            + line(1).trim(),
        messages.get(0));
  }

  @Test
  void linesBeyondTheQueueAreCountedAndToldAndNothingWaits() throws Exception {
    SyslogSender started = start("localhost", 10);
    for (int number = 0; number < 100; number++) {
      // returns, or the test ends by its timeout
      started.offer(line(number));
    }
    assertEquals(90, started.lostLines());
    serve();
    await().atMost(DEADLINE).until(() -> messages.size() == 11);
    assertTrue(
        messages.stream()
            .anyMatch(
                text -> text.contains("\"event\":\"syslog_lost\",\"node\":\"n1\",\"lost\":90}")),
        messages.toString());
  }

  @Test
  void serverThatComesBackGetsWhatWaits() throws Exception {
    serve();
    SyslogSender started = start("localhost", 1_000);
    started.offer(line(0));
    await().atMost(DEADLINE).until(() -> messages.size() == 1);
    accepted.get(0).close();
    int[] number = {0};
    await()
        .atMost(DEADLINE)
        .until(
            () -> {
              started.offer(line(++number[0]));
              return messages.size() > 3;
            });
    assertTrue(accepted.size() > 1);
  }

  @Test
  void serverOfAnotherNameGetsNothing() throws Exception {
    server.close();
    server = tls("other.example").getServerSocketFactory().createServerSocket();
    server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    serve();
    start("localhost", 10).offer(line(1));
    await().atMost(DEADLINE).until(() -> !accepted.isEmpty());
    await().during(Duration.ofMillis(300)).atMost(DEADLINE).until(messages::isEmpty);
  }
}
