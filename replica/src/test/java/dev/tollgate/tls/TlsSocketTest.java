package dev.tollgate.tls;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** TLS over two sockets of this process. */
class TlsSocketTest {
  private static final long MILLIS = 10_000;

  @TempDir Path directory;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private TestCertificates certificates;
  private TlsCredentials node;
  private TlsCredentials user;
  private ServerSocket listener;
  private Socket client;
  private Socket server;

  @BeforeEach
  void connect() throws Exception {
    certificates = new TestCertificates(directory);
    certificates.node("n1");
    certificates.user("u1");
    node = certificates.credentials("n1");
    user = certificates.credentials("u1");
    listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    client = new Socket(InetAddress.getLoopbackAddress(), listener.getLocalPort());
    server = listener.accept();
  }

  @AfterEach
  void close() throws IOException {
    client.close();
    server.close();
    listener.close();
    threads.shutdownNow();
  }

  private CompletableFuture<TlsSocket> accepted() {
    return async(
        () ->
            TlsSocket.handshake(
                server,
                node.serverEngine(CertificateDemand.REQUIRED, /* nodesOnly= */ false),
                "the client",
                MILLIS));
  }

  private TlsSocket connected() throws IOException {
    return TlsSocket.handshake(
        client, user.clientEngine(TlsMode.VERIFY_FULL, "127.0.0.1", 1), "the node", MILLIS);
  }

  private interface Work<T> {
    T run() throws IOException;
  }

  private <T> CompletableFuture<T> async(Work<T> work) {
    CompletableFuture<T> done = new CompletableFuture<>();
    threads.execute(
        () -> {
          try {
            done.complete(work.run());
          } catch (IOException | RuntimeException e) {
            done.completeExceptionally(e);
          }
        });
    return done;
  }

  @ParameterizedTest
  @EnumSource(TlsVersion.class)
  void bytesArriveAsTheyWereSent(TlsVersion version) throws Exception {
    user = new TlsCredentials(certificates.files("u1"), version, certificates.events);
    CompletableFuture<TlsSocket> accepting = accepted();
    TlsSocket near = connected();
    TlsSocket far = accepting.get(MILLIS, TimeUnit.MILLISECONDS);
    assertEquals("CN=u1", far.peerCertificate().getSubjectX500Principal().getName());
    assertEquals("n1", Certificates.node(near.peerCertificate()));
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int size : new int[] {1, 100, 16_384, 16_385, 65_536, 1 << 20}) {
      byte[] sent = new byte[size];
      random.nextBytes(sent);
      CompletableFuture<byte[]> there = async(() -> far.in().readNBytes(size));
      CompletableFuture<byte[]> back = async(() -> near.in().readNBytes(size));
      near.out().write(sent);
      far.out().write(sent);
      assertArrayEquals(sent, there.get(MILLIS, TimeUnit.MILLISECONDS), "seed " + seed);
      assertArrayEquals(sent, back.get(MILLIS, TimeUnit.MILLISECONDS), "seed " + seed);
    }
  }

  /** Hands bytes on one by one, as far as it is permitted. */
  private static boolean trickle(InputStream in, OutputStream out, Semaphore permits)
      throws IOException {
    for (int b = in.read(); b >= 0; b = in.read()) {
      permits.acquireUninterruptibly();
      out.write(b);
    }
    return true;
  }

  @Test
  void timeoutWithinARecordLosesNothing() throws Exception {
    Semaphore permits = new Semaphore(1 << 20);
    try (ServerSocket front = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Socket near = new Socket(InetAddress.getLoopbackAddress(), front.getLocalPort());
        Socket middle = front.accept()) {
      CompletableFuture<TlsSocket> accepting = accepted();
      var unusedUp = async(() -> middle.getInputStream().transferTo(client.getOutputStream()));
      var unusedDown =
          async(() -> trickle(client.getInputStream(), middle.getOutputStream(), permits));
      TlsSocket tls =
          TlsSocket.handshake(
              near, user.clientEngine(TlsMode.VERIFY_FULL, "127.0.0.1", 1), "the node", MILLIS);
      TlsSocket far = accepting.get(MILLIS, TimeUnit.MILLISECONDS);
      far.out().write("first".getBytes(US_ASCII));
      assertEquals("first", new String(tls.in().readNBytes(5), US_ASCII));
      permits.drainPermits();
      far.out().write("second".getBytes(US_ASCII));
      near.setSoTimeout(20);
      for (int i = 0; i < 10; i++) {
        permits.release();
        assertThrows(SocketTimeoutException.class, () -> tls.in().read());
      }
      permits.release(1 << 20);
      near.setSoTimeout((int) MILLIS);
      assertEquals("second", new String(tls.in().readNBytes(6), US_ASCII));
    }
  }

  @Test
  @Timeout(30)
  void handshakeEndsByItsDeadlineHoweverSlowlyBytesCome() throws Exception {
    CompletableFuture<Boolean> dripping =
        async(
            () -> {
              // a handshake record that announces 16,000 bytes
              server.getOutputStream().write(new byte[] {22, 3, 3, 62, -128});
              while (true) {
                server.getOutputStream().write(0);
                LockSupport.parkNanos(20_000_000);
              }
            });
    long begin = System.nanoTime();
    assertThrows(
        SocketTimeoutException.class,
        () ->
            TlsSocket.handshake(
                client, user.clientEngine(TlsMode.VERIFY_FULL, "127.0.0.1", 1), "the node", 300));
    long took = Duration.ofNanos(System.nanoTime() - begin).toMillis();
    assertTrue(took >= 250 && took < 5_000, took + " ms");
    client.close();
    assertThrows(Exception.class, () -> dripping.get(MILLIS, TimeUnit.MILLISECONDS));
  }

  @Test
  void plainTextIsToldApart() throws Exception {
    server.getOutputStream().write("TGPEER".getBytes(US_ASCII));
    NoTlsException refused = assertThrows(NoTlsException.class, this::connected);
    assertTrue(String.valueOf(refused.getMessage()).contains("'TGPEER'"), refused.getMessage());
  }

  @Test
  void closingTheSocketEndsAWriterThatIsStuck() throws Exception {
    CompletableFuture<TlsSocket> accepting = accepted();
    TlsSocket near = connected();
    accepting.get(MILLIS, TimeUnit.MILLISECONDS);
    CompletableFuture<Boolean> stuck =
        async(
            () -> {
              while (true) {
                near.out().write(new byte[1 << 20]);
              }
            });
    assertThrows(TimeoutException.class, () -> stuck.get(300, TimeUnit.MILLISECONDS));
    client.close();
    Exception end = assertThrows(Exception.class, () -> stuck.get(MILLIS, TimeUnit.MILLISECONDS));
    assertTrue(end.getCause() instanceof SocketException, end.toString());
  }
}
