package dev.tollgate.node.admin;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.log.Supervision;
import dev.tollgate.node.client.LoginProof;
import dev.tollgate.node.login.LoginMethod;
import dev.tollgate.node.replica.Duties;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The HTTP of the admin address over sockets, with pages of the test, and clients of all kinds. */
@Timeout(120)
class AdminServerTest {
  private static final Duration SHORT = Duration.ofMillis(300);
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final int MANY_BYTES = 64 << 20;
  private static final int BODY_BYTES = 1_000;

  private final List<Throwable> failures = new CopyOnWriteArrayList<>();
  private final List<Throwable> broken = new CopyOnWriteArrayList<>();
  private final List<Socket> sockets = new ArrayList<>();
  private final CountDownLatch released = new CountDownLatch(1);
  private final CountDownLatch endless = new CountDownLatch(1);
  private final AtomicInteger blocked = new AtomicInteger();
  private final AtomicInteger streamsBegun = new AtomicInteger();
  private final AtomicInteger streamsEnded = new AtomicInteger();
  private final OneAtATime gate = new OneAtATime();
  private final Set<Presence> presences = ConcurrentHashMap.newKeySet();
  private volatile @Nullable Duration delay;
  private AdminServer server;

  /** Admits one request, and refuses the next. */
  private static final class OneAtATime implements Route.Gate {
    private final AtomicInteger inside = new AtomicInteger();

    @Override
    public @Nullable Answer enter(Caller caller) {
      assertEquals("JO", caller.user());
      return inside.compareAndSet(0, 1) ? null : Answer.text(503, "full");
    }

    @Override
    public void leave(Caller caller) {
      assertTrue(inside.compareAndSet(1, 0));
    }
  }

  @AfterEach
  void stop() throws IOException {
    released.countDown();
    for (Socket socket : sockets) {
      socket.close();
    }
    server.close();
    assertEquals(List.of(), failures, "no request may end the node");
  }

  private void start(AdminLimits limits) throws IOException {
    List<Route> routes =
        List.of(
            new Route("GET", "/page", Audience.USERS, request -> Answer.text(200, "a page")),
            new Route(
                "GET",
                "/echo/",
                Audience.USERS,
                request -> Answer.text(200, request.rest() + " " + request.query())),
            new Route(
                "POST",
                "/body",
                Audience.USERS,
                request -> Answer.text(200, request.body().length + " bytes")),
            new Route(
                "GET",
                "/large",
                Audience.USERS,
                request -> Answer.of(200, Answer.TEXT, new byte[MANY_BYTES])),
            new Route("GET", "/blocked", Audience.USERS, request -> block()),
            new Route(
                "POST", "/counted", Audience.USERS, gate, request -> Answer.text(200, "counted")),
            new Route(
                "GET",
                "/counted",
                Audience.USERS,
                gate,
                request -> Answer.of(200, Answer.TEXT, new byte[MANY_BYTES])),
            new Route(
                "GET",
                "/bug",
                Audience.USERS,
                request -> {
                  throw new IllegalStateException("a bug, on purpose");
                }),
            new Route(
                "GET",
                "/stream",
                Audience.USERS,
                request -> Answer.stream("text/event-stream", this::stream)));
    server =
        new AdminServer(
            "n1",
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            null,
            limits,
            routes,
            new Door(
                new Caller(true, new LoginProof("JO", 1, LoginMethod.SCRAM, null), Duties.NONE)),
            broken::add,
            new Supervision("n1", failures::add));
  }

  /** Admits one caller, after a wait where the test says so. */
  private final class Door implements AdminServer.Admission {
    private final Caller caller;

    Door(Caller caller) {
      this.caller = caller;
    }

    @Override
    public Doorkeeper.Decision decide(
        Audience audience, boolean changes, Doorkeeper.Credentials credentials) {
      Duration wait = delay;
      return wait == null || credentials.waited()
          ? Doorkeeper.Decision.admit(caller)
          : Doorkeeper.Decision.after(wait);
    }

    @Override
    public Runnable watch(Caller watched, Presence presence) {
      presences.add(presence);
      return () -> presences.remove(presence);
    }
  }

  private void start() throws IOException {
    start(new AdminLimits(4, 2, BODY_BYTES, LONG, LONG, LONG));
  }

  private Answer block() {
    blocked.incrementAndGet();
    try {
      released.await();
    } catch (InterruptedException e) {
      return Answer.text(500, "interrupted");
    }
    return Answer.text(200, "released");
  }

  private void stream(OutputStream out) throws IOException {
    try {
      out.write("begun\n".getBytes(UTF_8));
      out.flush();
      streamsBegun.incrementAndGet();
      if (!awaitRelease()) {
        byte[] piece = new byte[1 << 20];
        while (true) {
          out.write(piece);
        }
      }
    } finally {
      streamsEnded.incrementAndGet();
    }
  }

  /** A stream of a test that never releases sends without an end. */
  private boolean awaitRelease() {
    return endless.getCount() > 0 && block().status() == 200;
  }

  private Socket connect() throws IOException {
    Socket socket = HttpCalls.connect(server.address());
    sockets.add(socket);
    return socket;
  }

  private Socket send(String text) throws IOException {
    Socket socket = connect();
    socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
    return socket;
  }

  private HttpCalls.Reply get(String path) throws IOException {
    return HttpCalls.get(server.address(), path);
  }

  private static void assertNotServed(Socket socket) throws IOException {
    try {
      String answer = new String(socket.getInputStream().readNBytes(16), UTF_8);
      assertFalse(answer.contains(" 200"), answer);
    } catch (SocketTimeoutException e) {
      throw new AssertionError("neither an answer nor the end of the connection", e);
    } catch (IOException reset) {
      // no answer is enough
    }
  }

  private static void awaitEnd(Socket socket) throws IOException {
    try {
      while (socket.getInputStream().read() >= 0) {
        // what comes before the end is not of interest
      }
    } catch (SocketTimeoutException e) {
      throw new AssertionError("the connection is still open", e);
    } catch (IOException reset) {
      // an end too
    }
  }

  @Test
  void pageIsSentWithHeadersThatKeepItPrivate() throws Exception {
    start();
    HttpCalls.Reply page = get("/page");
    assertEquals(200, page.status());
    assertEquals("a page\n", page.body());
    assertEquals("no-store", page.headers().get("cache-control"));
    assertEquals("nosniff", page.headers().get("x-content-type-options"));
    assertTrue(page.headers().get("content-security-policy").contains("default-src 'none'"));
  }

  /** More than there are threads, and one of them is for others all the time. */
  @Test
  void loginsThatWaitTakeNoThreads() throws Exception {
    start(new AdminLimits(1, 0, BODY_BYTES, LONG, LONG, LONG));
    delay = LONG;
    for (int i = 0; i < 8; i++) {
      send("GET /page HTTP/1.1\r\nHost: a\r\n\r\n");
    }
    delay = null;
    assertEquals(200, get("/page").status());
    delay = Duration.ofMillis(1);
    assertEquals(200, get("/page").status());
  }

  @Test
  void connectionsOfLoginsThatWaitMakeRoom() throws Exception {
    start(new AdminLimits(4, 2, BODY_BYTES, LONG, LONG, LONG));
    delay = LONG;
    for (int i = 0; i < AdminLimits.CONNECTIONS; i++) {
      send("GET /page HTTP/1.1\r\nHost: a\r\n\r\n");
    }
    delay = null;
    await().atMost(LONG).ignoreExceptions().until(() -> get("/page").status() == 200);
  }

  /** Strangers may ask for the health of a node, and hold no thread by a body that never comes. */
  @Test
  void bodyOfARequestThatOnlyReadsIsNotWaitedFor() throws Exception {
    start(new AdminLimits(1, 0, BODY_BYTES, LONG, LONG, LONG));
    for (String body : List.of("Content-Length: 1000", "Transfer-Encoding: chunked")) {
      for (int i = 0; i < AdminLimits.CONNECTIONS; i++) {
        send("GET /page HTTP/1.1\r\nHost: a\r\n" + body + "\r\n\r\n");
      }
      Socket last = send("HEAD /page HTTP/1.1\r\nHost: a\r\n" + body + "\r\n\r\n");
      last.setSoTimeout((int) LONG.dividedBy(2).toMillis());
      String head = new String(last.getInputStream().readNBytes(12), UTF_8);
      assertEquals("HTTP/1.1 400", head);
      assertEquals(200, get("/page").status());
    }
  }

  @Test
  void connectionsWhoseBodyDoesNotComeMakeRoom() throws Exception {
    start(new AdminLimits(2 * AdminLimits.CONNECTIONS, 2, BODY_BYTES, LONG, LONG, LONG));
    for (int i = 0; i < AdminLimits.CONNECTIONS; i++) {
      send("POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n");
    }
    await().atMost(LONG).until(() -> presences.size() == AdminLimits.CONNECTIONS);
    assertEquals(200, get("/page").status());
  }

  @Test
  void loginIsWatchedAsLongAsItsRequestLasts() throws Exception {
    start();
    send("GET /blocked HTTP/1.1\r\nHost: a\r\n\r\n");
    await().atMost(LONG).until(() -> blocked.get() == 1);
    assertEquals(1, presences.size());
    released.countDown();
    await().atMost(LONG).until(presences::isEmpty);
  }

  @Test
  void restOfThePathAndTheQueryReachThePage() throws Exception {
    start();
    assertEquals("a%2Fb x=1&y=%20\n", get("/echo/a%2Fb?x=1&y=%20").body());
  }

  @Test
  void headHasNoBody() throws Exception {
    start();
    Socket socket = send("HEAD /page HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    String all = new String(socket.getInputStream().readAllBytes(), UTF_8);
    assertTrue(all.startsWith("HTTP/1.1 200"), all);
    assertTrue(all.endsWith("\r\n\r\n"), all);
  }

  /** A 100 is not the answer to a request: with it, the next HEAD would take the body away. */
  @Test
  void answerBeforeAHeadHasItsBodyWhateverTheClientExpects() throws Exception {
    start();
    Socket socket =
        send(
            String.join(
                "\r\n",
                "GET /page HTTP/1.1",
                "Host: h",
                "Expect: 100-continue",
                "",
                "HEAD /page HTTP/1.1",
                "Host: h",
                "Connection: close",
                "",
                ""));
    String all = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
    assertTrue(all.startsWith("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"), all);
    assertTrue(all.contains("\r\n\r\na page\nHTTP/1.1 200 OK\r\n"), all);
    assertTrue(all.endsWith("connection: close\r\ncontent-length: 7\r\n\r\n"), all);
  }

  @Test
  void unknownPathIs404AndUnknownMethodIs405() throws Exception {
    start();
    assertEquals(404, get("/").status());
    assertEquals(404, get("/pages").status());
    HttpCalls.Reply wrong = HttpCalls.call(server.address(), "PUT", "/body", "x");
    assertEquals(405, wrong.status());
    assertEquals("POST", wrong.headers().get("allow"));
    assertEquals(
        "GET, HEAD", HttpCalls.call(server.address(), "TRACE", "/page", "").headers().get("allow"));
  }

  @Test
  void bodyHasALimit() throws Exception {
    start();
    assertEquals(
        "1000 bytes\n",
        HttpCalls.call(server.address(), "POST", "/body", "x".repeat(BODY_BYTES)).body());
    HttpCalls.Reply refused =
        HttpCalls.call(server.address(), "POST", "/body", "x".repeat(BODY_BYTES + 1));
    assertEquals(413, refused.status());
    assertTrue(refused.body().contains("more than 1000 bytes"), refused.body());
  }

  @Test
  void headHasALimit() throws Exception {
    start();
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i <= AdminLimits.HEADERS; i++) {
      lines.append("x").append(i).append(": y\r\n");
    }
    assertNotServed(send("GET /page HTTP/1.1\r\n" + lines + "\r\n"));
    String bytes = "x: " + "y".repeat(AdminLimits.HEAD_BYTES + 1) + "\r\n\r\n";
    assertNotServed(send("GET /page HTTP/1.1\r\n" + bytes));
    assertEquals(200, get("/page").status());
  }

  @Test
  void bodyThatComesSlowlyIsCutOff() throws Exception {
    start(new AdminLimits(4, 2, BODY_BYTES, SHORT, LONG, LONG));
    Socket slow = send("POST /body HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc");
    long begin = System.nanoTime();
    awaitEnd(slow);
    Duration took = Duration.ofNanos(System.nanoTime() - begin);
    assertTrue(took.toSeconds() < AdminLimits.SILENCE_SECONDS / 2, took.toString());
    assertEquals(200, get("/page").status());
  }

  @Test
  void answerThatIsNotReadIsCutOff() throws Exception {
    start(new AdminLimits(1, 0, BODY_BYTES, LONG, SHORT, LONG));
    send("GET /large HTTP/1.1\r\nHost: h\r\n\r\n");
    assertEquals(200, get("/page").status(), "the only thread is free again");
  }

  @Test
  void streamIsCutOffOnceAPieceIsNotRead() throws Exception {
    start(new AdminLimits(4, 1, BODY_BYTES, LONG, LONG, SHORT));
    endless.countDown();
    send("GET /stream HTTP/1.1\r\nHost: h\r\n\r\n");
    await().atMost(LONG).until(() -> streamsEnded.get() == 1);
  }

  /** Only reads and writes are timed: an event may come after an hour. */
  @Test
  void streamThatHasNothingToSendStaysOpen() throws Exception {
    start(new AdminLimits(4, 1, BODY_BYTES, SHORT, SHORT, SHORT));
    Socket stream = send("GET /stream HTTP/1.1\r\nHost: h\r\n\r\n");
    await().atMost(LONG).until(() -> blocked.get() == 1);
    stream.setSoTimeout((int) SHORT.multipliedBy(3).toMillis());
    assertThrows(SocketTimeoutException.class, () -> stream.getInputStream().readAllBytes());
    assertEquals(0, streamsEnded.get());
  }

  @Test
  void furtherStreamIsRefusedAndOtherPagesAreServed() throws Exception {
    start(new AdminLimits(2, 1, BODY_BYTES, LONG, LONG, LONG));
    send("GET /stream HTTP/1.1\r\nHost: h\r\n\r\n");
    await().atMost(LONG).until(() -> blocked.get() == 1);
    HttpCalls.Reply refused = get("/stream");
    assertEquals(503, refused.status());
    assertTrue(refused.body().contains("1 answers without an end"), refused.body());
    assertEquals(200, get("/page").status());
  }

  /** A client that sends or reads slowly counts as long as it takes a thread. */
  @Test
  void requestCountsFromItsHeadToTheEndOfItsAnswer() throws Exception {
    start();
    Socket slow = send("POST /counted HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nab");
    await().atMost(LONG).until(() -> gate.inside.get() == 1);
    assertEquals(503, get("/counted").status());
    slow.getOutputStream().write('c');
    assertEquals("counted\n", HttpCalls.read(slow).body());
    await().atMost(LONG).until(() -> gate.inside.get() == 0);
    Socket unread = send("GET /counted HTTP/1.1\r\nHost: h\r\n\r\n");
    unread.getInputStream().readNBytes(1_000);
    assertEquals(1, gate.inside.get(), "most of the answer is not read");
    assertEquals(503, get("/counted").status());
    unread.close();
    await().atMost(LONG).until(() -> gate.inside.get() == 0);
  }

  /** What a refused client still has to send is not waited for as long as an answer is. */
  @Test
  void refusedClientThatSendsSlowlyIsCutOff() throws Exception {
    start(new AdminLimits(1, 0, BODY_BYTES, LONG, LONG, LONG));
    assertNull(
        gate.enter(
            new Caller(true, new LoginProof("JO", 1, LoginMethod.SCRAM, null), Duties.NONE)));
    Socket slow = send("POST /counted HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nab");
    assertEquals("full\n", HttpCalls.read(slow).body());
    long begin = System.nanoTime();
    assertEquals(200, get("/page").status(), "the only thread is free again");
    Duration took = Duration.ofNanos(System.nanoTime() - begin);
    assertTrue(took.toSeconds() < AdminLimits.SILENCE_SECONDS / 2, took.toString());
  }

  @Test
  void requestsBeyondTheThreadsWait() throws Exception {
    start(new AdminLimits(2, 0, BODY_BYTES, LONG, LONG, LONG));
    Socket first = send("GET /blocked HTTP/1.1\r\nHost: h\r\n\r\n");
    send("GET /blocked HTTP/1.1\r\nHost: h\r\n\r\n");
    await().atMost(LONG).until(() -> blocked.get() == 2);
    Socket waiting = send("GET /page HTTP/1.1\r\nHost: h\r\n\r\n");
    waiting.setSoTimeout((int) SHORT.toMillis());
    assertThrows(SocketTimeoutException.class, () -> waiting.getInputStream().read());
    released.countDown();
    waiting.setSoTimeout((int) LONG.toMillis());
    assertEquals("a page\n", HttpCalls.read(waiting).body());
    assertEquals("released\n", HttpCalls.read(first).body());
  }

  @Test
  void silentConnectionsKeepNobodyOut() throws Exception {
    start();
    for (int i = 0; i < 2 * AdminLimits.CONNECTIONS; i++) {
      if (i % 2 == 0) {
        connect();
      } else {
        send("G");
      }
      if (i % 16 == 0) {
        assertEquals(200, get("/page").status());
      }
    }
    assertEquals(200, get("/page").status());
    Socket oldest = sockets.get(0);
    oldest.setSoTimeout((int) SHORT.toMillis());
    awaitEnd(oldest);
  }

  @Test
  void clientsThatSayNothingOrStopInTheHeadAreCutOff() throws Exception {
    start(new AdminLimits(1, 0, BODY_BYTES, LONG, LONG, LONG));
    Socket silent = connect();
    Socket stopped = send("GET /page HT");
    silent.setSoTimeout((int) LONG.toMillis());
    stopped.setSoTimeout((int) LONG.toMillis());
    long begin = System.nanoTime();
    awaitEnd(stopped);
    awaitEnd(silent);
    Duration took = Duration.ofNanos(System.nanoTime() - begin);
    assertTrue(took.toSeconds() < 3L * AdminLimits.SILENCE_SECONDS, took.toString());
    assertEquals(200, get("/page").status());
  }

  @Test
  void pageThatFailsIs500AndTheNodeIsAskedWhetherItIsBroken() throws Exception {
    start();
    HttpCalls.Reply failed = get("/bug");
    assertEquals(500, failed.status());
    assertFalse(failed.body().contains("on purpose"), "only the log has the message");
    assertEquals(1, broken.size());
  }

  @Test
  void bytesThatAreNoRequestEndTheirConnection() throws Exception {
    start();
    awaitEnd(send("\u0016\u0003\u0001 no HTTP\r\n\r\n"));
    awaitEnd(send("GET http://[ HTTP/1.1\r\n\r\n"));
    awaitEnd(send("GET * HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"));
    assertEquals(200, get("/page").status());
  }

  /** A proxy in front of the node might have read another host, or another end of the body. */
  @Test
  void requestThatCanBeReadInTwoWaysIsRefused() throws Exception {
    start();
    for (String head :
        List.of(
            "Host: a\r\nHost: b\r\n",
            "",
            "Host: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n",
            "Host: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n",
            "Host: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n")) {
      Socket socket = send("GET /page HTTP/1.1\r\n" + head + "\r\n0\r\n\r\n");
      String answer = new String(socket.getInputStream().readAllBytes(), UTF_8);
      assertTrue(answer.startsWith("HTTP/1.1 400 "), () -> head + " gives " + answer);
    }
    assertEquals(200, get("/page").status());
  }

  @Test
  void closeEndsStreams() throws Exception {
    start(new AdminLimits(4, 1, BODY_BYTES, LONG, LONG, LONG));
    endless.countDown();
    send("GET /stream HTTP/1.1\r\nHost: h\r\n\r\n");
    await().atMost(LONG).until(() -> streamsBegun.get() == 1);
    server.close();
    await().atMost(LONG).until(() -> streamsEnded.get() == 1);
    assertThrows(IOException.class, () -> get("/page"));
  }

  @Test
  void takenPortIsNamed() throws Exception {
    start();
    IOException refused =
        assertThrows(
            IOException.class,
            () ->
                new AdminServer(
                    "n2",
                    server.address(),
                    null,
                    AdminLimits.STANDARD,
                    List.of(),
                    new Door(Caller.STRANGER),
                    error -> false,
                    new Supervision("n2", failures::add)));
    assertTrue(
        String.valueOf(refused.getMessage()).startsWith("cannot listen on the admin address"),
        refused.getMessage());
  }
}
