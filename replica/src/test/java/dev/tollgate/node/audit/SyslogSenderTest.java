package dev.tollgate.node.audit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.cli.certificates.TestAuthority;
import dev.tollgate.core.command.Limits;
import dev.tollgate.log.Supervision;
import dev.tollgate.seal.DataKeys;
import dev.tollgate.seal.TestKeys;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A syslog server with TLS gets the lines, and nothing waits for one that does not. */
@Timeout(60)
class SyslogSenderTest {
  private static final Duration DEADLINE = Duration.ofSeconds(30);

  /** Servers of tests are near. */
  private static final SyslogSender.Times TIMES =
      new SyslogSender.Times(Duration.ofSeconds(1), Duration.ofMillis(700), Duration.ofMillis(50));

  private final List<String> messages = new CopyOnWriteArrayList<>();
  private final List<Socket> accepted = new CopyOnWriteArrayList<>();
  private final AtomicReference<@Nullable Throwable> bug = new AtomicReference<>();
  private TestAuthority authority;
  private ServerSocket server;
  private @Nullable SyslogSender sender;
  private @Nullable AuditFile file;

  private DataKeys keys = DataKeys.off();

  @TempDir Path directory;

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
    if (file != null) {
      file.close();
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

  private AuditSettings settings(String host) throws Exception {
    return new AuditSettings(
        directory.resolve("audit"),
        AuditSettings.LEAST_BYTES,
        2,
        2,
        new SyslogSettings(host, server.getLocalPort(), tls("x")));
  }

  private SyslogSender start(String host) throws Exception {
    AuditSettings settings = settings(host);
    file = new AuditFile(settings, keys, OwnLog.NONE);
    file.open();
    SyslogSender started =
        new SyslogSender("n1", requireNonNull(settings.syslog()), TIMES, Clock.systemUTC());
    started.start(settings, file, new Supervision("n1", bug::set));
    sender = started;
    return started;
  }

  private void write(int from, int to) throws IOException {
    for (int number = from; number < to; number++) {
      requireNonNull(file).append(new JsonLine(42, "audit_continued").toString(), line(number));
    }
  }

  /** What the server does with a connection. */
  private interface Way {
    void serve(Socket socket) throws IOException;
  }

  /** Reads to the end, and answers it. */
  private void serve() {
    serve(socket -> read(socket.getInputStream()));
  }

  private void serve(Way way) {
    ServerSocket serving = server;
    Thread thread =
        new Thread(
            () -> {
              while (!serving.isClosed()) {
                try (Socket socket = serving.accept()) {
                  accepted.add(socket);
                  way.serve(socket);
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
    start("localhost");
    write(1, 3);
    await().atMost(DEADLINE).until(() -> messages.size() == 3);
    assertEquals(
        "<110>1 1970-01-01T00:00:00.000042Z n1 tollgate "
            + ProcessHandle.current().pid()
            + " audit - "
            + Files.readAllLines(directory.resolve("audit")).get(1),
        messages.get(1));
  }

  /** Numbers of the lines that the server has, in the order of their arrival. */
  private List<Integer> numbers() {
    return messages.stream()
        .filter(text -> text.contains("\"number\":"))
        .map(text -> Integer.valueOf(text.replaceFirst("(?s).*\"number\":(\\d+),.*", "$1")))
        .toList();
  }

  private boolean hasAll(int count) {
    return new TreeSet<>(numbers()).size() == count;
  }

  /** A server that ends idle connections takes the next lines into a closed socket. */
  @Test
  void linesForAConnectionThatTheServerEndsAreSentAgain() throws Exception {
    serve(
        socket -> {
          socket.setSoTimeout(100);
          read(socket.getInputStream());
        });
    SyslogSender started = start("localhost");
    for (int number = 0; number < 5; number++) {
      write(number, number + 1);
      int had = accepted.size();
      await().atMost(DEADLINE).until(() -> accepted.size() > had);
    }
    await().atMost(DEADLINE).until(() -> hasAll(5));
    assertEquals(0, started.droppedLines());
  }

  /** It acknowledges the bytes as TCP does, and ends without reading them. */
  @Test
  void linesThatTheServerHasNotReadAreSentAgain() throws Exception {
    serve(
        socket -> {
          if (accepted.size() > 3) {
            read(socket.getInputStream());
          } else {
            // the handshake, and nothing else
            socket.getInputStream().read();
          }
        });
    start("localhost");
    write(0, 20);
    await().atMost(DEADLINE).until(() -> hasAll(20));
    assertEquals(20, numbers().size());
  }

  @Test
  void connectionEndsWhenThereIsNothingToSendAndNoLineComesTwice() throws Exception {
    serve();
    start("localhost");
    write(0, 3);
    await().atMost(DEADLINE).until(() -> hasAll(3) && accepted.get(0).isClosed());
    write(3, 5);
    await().atMost(DEADLINE).until(() -> hasAll(5));
    assertEquals(List.of(0, 1, 2, 3, 4), numbers());
  }

  @Test
  void nextStartSendsWhatTheServerHasNotConfirmed() throws Exception {
    serve();
    SyslogSender first = start("localhost");
    write(0, 3);
    await().atMost(DEADLINE).until(() -> hasAll(3));
    first.close();
    write(3, 6);
    requireNonNull(file).close();
    start("localhost");
    write(6, 8);
    await().atMost(DEADLINE).until(() -> hasAll(8));
    assertEquals(List.of(0, 1, 2, 3, 4, 5, 6, 7), numbers());
  }

  /** The server may have lines that the disk has lost, and others are in their place now. */
  @Test
  void linesThatAPowerCutHasReplacedAreSent() throws Exception {
    serve();
    SyslogSender first = start("localhost");
    write(0, 3);
    await().atMost(DEADLINE).until(() -> hasAll(3));
    first.close();
    AuditFile lost = requireNonNull(file);
    lost.close();
    Path path = directory.resolve("audit");
    List<String> all = Files.readAllLines(path);
    Files.writeString(path, String.join("\n", all.subList(0, 3)) + "\n");
    start("localhost");
    write(10, 14);
    await().atMost(DEADLINE).until(() -> hasAll(7));
  }

  @Test
  void linesWhoseFileIsDeletedAreCountedAndTold() throws Exception {
    SyslogSender started = start("localhost");
    int written = 400;
    write(0, written);
    long dropped = started.droppedLines();
    assertTrue(dropped > 100, "dropped " + dropped);
    serve();
    await().atMost(DEADLINE).until(() -> numbers().contains(written - 1));
    assertEquals(dropped, started.droppedLines());
    String told =
        messages.stream().filter(text -> text.contains("syslog_lost")).findFirst().orElseThrow();
    assertTrue(
        told.contains("\"event\":\"syslog_lost\",\"node\":\"n1\",\"lost\":" + dropped + "}"), told);
    long heads = messages.stream().filter(text -> text.contains("audit_continued")).count();
    long files = heads + dropped + numbers().size() - written;
    assertTrue(files > 2 && files < 40, files + " lines begin a file");
    assertTrue(messages.get(0).contains("syslog_lost"), messages.get(0));
  }

  @Test
  void encryptedFilesAreSentAsTheirText() throws Exception {
    serve();
    keys = TestKeys.of("k1");
    start("localhost");
    write(0, 60);
    await().atMost(DEADLINE).until(() -> hasAll(60));
    assertTrue(Files.readString(directory.resolve("audit")).startsWith("TGL1 k1 "));
  }

  /** Lines of a receiver are a chain: a double has a known hash, and a gap breaks the chain. */
  @Test
  void receiverCanCheckTheChain() throws Exception {
    serve();
    start("localhost");
    write(0, 60);
    await().atMost(DEADLINE).until(() -> hasAll(60));
    AuditChain chain = AuditChain.BEGINNING;
    for (String message : messages) {
      AuditChain.Link link =
          requireNonNull(AuditChain.read(message.substring(message.indexOf('{')).getBytes(UTF_8)));
      assertTrue(chain.fits(link), message);
      chain = new AuditChain(link.chain());
    }
  }

  @Test
  void serverThatNeverAnswersGetsLinesAFewTimes() throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    // each connection of such a server needs a thread of its own
    for (int i = 0; i < 6; i++) {
      serve(
          socket -> {
            read(socket.getInputStream());
            try {
              end.await();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
          });
    }
    start("localhost");
    write(0, 1);
    await()
        .atMost(DEADLINE)
        .until(() -> numbers().size() == Limits.SYSLOG_UNANSWERED && storedPlace());
    end.countDown();
    assertEquals(List.of(0, 0, 0), numbers());
  }

  /** Somebody on the way, without a key, can end the bytes; only the server has a close_notify. */
  @Test
  void endOfTheBytesAloneIsNoReceipt() throws Exception {
    server.close();
    server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    SSLContext context = tls("localhost");
    serve(
        socket -> {
          SSLSocket secured =
              (SSLSocket)
                  context
                      .getSocketFactory()
                      .createSocket(socket, null, socket.getPort(), /* autoClose= */ false);
          secured.setUseClientMode(false);
          read(secured.getInputStream());
          socket.shutdownOutput();
        });
    start("localhost");
    write(0, 1);
    await()
        .atMost(DEADLINE)
        .until(() -> numbers().size() == Limits.SYSLOG_UNANSWERED && storedPlace());
    assertEquals(List.of(0, 0, 0), numbers());
  }

  private boolean storedPlace() {
    return Files.exists(directory.resolve("audit.syslog"));
  }

  @Test
  void serverThatDoesNotReadHoldsUpNothingAndLosesNothing() throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    for (int i = 0; i < 2; i++) {
      serve(
          socket -> {
            if (accepted.size() > 1) {
              read(socket.getInputStream());
              return;
            }
            socket.getInputStream().read();
            try {
              end.await();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
          });
    }
    server.setReceiveBufferSize(4 << 10);
    AuditSettings small = settings("localhost");
    AuditSettings settings =
        new AuditSettings(small.file(), AuditSettings.MAX_BYTES, 2, 2, small.syslog());
    AuditFile large = new AuditFile(settings, DataKeys.off(), OwnLog.NONE);
    large.open();
    file = large;
    int count = 30_000;
    write(0, count);
    sender = new SyslogSender("n1", requireNonNull(settings.syslog()), TIMES, Clock.systemUTC());
    sender.start(settings, large, new Supervision("n1", bug::set));
    await().atMost(DEADLINE).until(() -> hasAll(count));
    end.countDown();
  }

  @Test
  void serverOfAnotherNameGetsNothing() throws Exception {
    server.close();
    server = tls("other.example").getServerSocketFactory().createServerSocket();
    server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    serve();
    start("localhost");
    write(1, 2);
    await().atMost(DEADLINE).until(() -> !accepted.isEmpty());
    await().during(Duration.ofMillis(300)).atMost(DEADLINE).until(messages::isEmpty);
  }
}
