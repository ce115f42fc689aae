package dev.tollgate.node;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.node.admin.HttpCalls;
import dev.tollgate.node.client.CertificateLogin;
import dev.tollgate.node.client.LoginRules;
import dev.tollgate.node.client.PasswordRules;
import dev.tollgate.node.login.LoginMethods;
import dev.tollgate.node.login.LoginRuleFile;
import dev.tollgate.node.login.TokenCheck;
import dev.tollgate.node.login.TokenSettings;
import dev.tollgate.node.login.WatchedFile;
import dev.tollgate.tls.CertificateDemand;
import dev.tollgate.tls.TestCertificates;
import dev.tollgate.tls.TlsCredentials;
import dev.tollgate.tls.TlsVersion;
import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.WireWriter;
import io.netty.util.ResourceLeakDetector;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Clock;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * What strangers may say at the port for clients before they are known, with TLS and without:
 * frames, hellos, logins by password and by token, in every wrong form; and what they may put into
 * the header Authorization at the admin address. Nobody gets in whom {@link FuzzedScram} or {@link
 * FuzzedTokens} does not believe; right logins get in at once, as the right user; all others are
 * refused with a documented state and the end of the connection; and after each round the node has
 * no connection or session more than before, and has logged no error.
 *
 * <p>Failures are counted by address, so each conversation comes from an address of its own. {@link
 * FuzzRun} says how to repeat a run.
 */
@Timeout(2 * 3_600)
class LoginFuzzTest {
  private static final Duration PROMPT = Duration.ofSeconds(30);
  private static final Duration DEADLINE = Duration.ofSeconds(60);
  private static final int CONVERSATIONS = 100;
  private static final Request.SessionOptions OPTIONS =
      new Request.SessionOptions(ReadConsistency.LINEARIZABLE, 1_000);
  private static final Request.Hello HELLO =
      new Request.Hello(1, Protocol.VERSION, "app", "host", "1");
  private static final String BASIC = HttpCalls.basic("root", "top secret");

  /** Addresses from 127.64.0.0 on are others. */
  private static final int OTHER = 64;

  private static final String RULES =
      """
      all root    127.0.0.1     scram
      all root    all           reject
      all mo      127.0.0.0/8   scram
      all billing 127.64.0.0/10 scram
      all all     127.0.0.0/8   oidc
      """;

  private static final Map<String, String> PASSWORDS =
      Map.of("MO", "long enough", "BILLING", "even longer");

  /** A node closes a connection that says nothing, or stops within a request, after 10 s. */
  private static final long CLOSED_NANOS = TimeUnit.SECONDS.toNanos(20);

  private static final List<String> HELD = List.of("connections", "new_connections", "sessions");

  private static final String NOTHING = "{connections=0, new_connections=0, sessions=0}";

  private record Silent(Socket socket, long sinceNanos) {}

  /** Who may be logged in after a conversation, and whether somebody has to be. */
  private record Verdict(Set<String> users, boolean isRight) {
    static final Verdict NOBODY = new Verdict(Set.of(), false);
  }

  @TempDir private Path directory;
  private final ConcurrentLinkedQueue<Silent> silent = new ConcurrentLinkedQueue<>();
  private final AtomicLong believed = new AtomicLong();
  private ResourceLeakDetector.Level detection;
  private TestCertificates certificates;
  private FuzzedTokens.Keys keys;
  private SSLContext context;
  private Node encrypted;
  private Node plain;

  @BeforeEach
  void start() throws Exception {
    detection = ResourceLeakDetector.getLevel();
    ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.PARANOID);
    certificates = new TestCertificates(directory.resolve("ca"));
    certificates.node("n1");
    keys = new FuzzedTokens.Keys();
    context = SSLContext.getInstance("TLS");
    context.init(null, new TrustManager[] {new Trusting()}, new SecureRandom());
    Path rules = Files.writeString(directory.resolve("rules"), RULES);
    TlsCredentials.Listener log = NodeTls.logged("n1");
    NodeTls tls =
        new NodeTls(
                new TlsCredentials(certificates.files("n1"), TlsVersion.TLS_1_2, log),
                CertificateDemand.WANTED,
                /* peers= */ false)
            .withLogins(CertificateLogin.OFF);
    LoginRules logins =
        new LoginRules(
            /* bindingRequired= */ false,
            PasswordRules.STANDARD,
            new LoginMethods(
                new WatchedFile<>("the rules of logins", rules, LoginRuleFile::read, log),
                tokens(log)));
    encrypted =
        new Node(
            AdminNode.settings().withTls(tls),
            AdminNode.CONNECTIONS,
            new UserSettings(true, AdminNode.root().firstAdministrator(), logins));
    plain = new Node(AdminNode.settings(), AdminNode.CONNECTIONS, AdminNode.root());
    for (Node node : List.of(encrypted, plain)) {
      node.start();
      await()
          .atMost(DEADLINE)
          .ignoreExceptions()
          .untilAsserted(() -> assertEquals("ROOT", user(node, "user=root&password=top secret")));
      createUsers(node);
    }
  }

  private TokenCheck tokens(TlsCredentials.Listener log) throws IOException {
    return new TokenSettings(
            FuzzedTokens.ISSUER,
            FuzzedTokens.AUDIENCE,
            Files.writeString(directory.resolve("jwks"), keys.jwks()).toUri(),
            null,
            TokenSettings.SUBJECT,
            null,
            Duration.ZERO,
            /* endsConnections= */ true)
        .open(Clock.systemUTC(), System::nanoTime, log);
  }

  private void createUsers(Node node) throws Exception {
    try (Connection root = connect(node, "user=root&password=top secret");
        Statement statement = root.createStatement()) {
      statement.execute("CREATE USER MO PASSWORD 'long enough'");
      statement.execute("CREATE USER BILLING PASSWORD 'even longer'");
      statement.execute("CREATE USER ADA PASSWORD 'never used'");
      statement.execute("CREATE USER CLOSED PASSWORD 'never used'");
      statement.execute("ALTER USER CLOSED ACCOUNT LOCK");
    }
  }

  @AfterEach
  void stop() throws Exception {
    ResourceLeakDetector.setLevel(detection);
    for (Node node : new Node[] {encrypted, plain}) {
      if (node != null) {
        node.closeAtOnce();
      }
    }
    for (Silent each : silent) {
      each.socket().close();
    }
  }

  private static final class Trusting implements X509TrustManager {
    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) {}

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }

  private Connection connect(Node node, String properties) throws Exception {
    String url = "jdbc:tollgate://127.0.0.1:" + node.listenAddress().getPort() + "/?";
    String tls = node == encrypted ? "sslRootCert=" + certificates.trust() + "&" : "";
    return DriverManager.getConnection(url + tls + properties);
  }

  private String user(Node node, String properties) throws Exception {
    try (Connection connection = connect(node, properties);
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT CURRENT_USER")) {
      rows.next();
      return rows.getString(1);
    }
  }

  @Test
  void strangersGetNowhere() throws Exception {
    try (FuzzRun run = FuzzRun.inTheBuild("LoginFuzzTest", 12, 5)) {
      run(run);
    }
  }

  @Tag("nightly")
  @Test
  void strangersGetNowhereForAnHour() throws Exception {
    try (FuzzRun run = FuzzRun.atNight("LoginFuzzTest")) {
      run(run);
    }
  }

  /** Each of the forgeries, whatever the seed. */
  @Test
  void everyForgeryIsRefused() throws Exception {
    try (TokenCheck check = tokens(NodeTls.logged("n1"))) {
      for (FuzzedTokens.Token token : new FuzzedTokens(new Random(1), keys).forgeries()) {
        CompletableFuture<TokenCheck.Verdict> verdict = new CompletableFuture<>();
        check.check(token.text(), () -> true, verdict::complete);
        String user = verdict.get(PROMPT.toSeconds(), TimeUnit.SECONDS).user();
        assertNull(user, token.kind() + ": " + token.text());
      }
    }
  }

  private void run(FuzzRun run) throws Exception {
    while (run.next()) {
      long done = done();
      believed.set(0);
      List<String> complaints = run.hold(CONVERSATIONS, (number, random) -> hold(run, random));
      assertEquals(List.of(), complaints, run.where());
      long more = done() - done;
      assertTrue(more <= believed.get(), run.where() + ": " + more + " logins, " + believed);
      requireService(run);
      endSilent();
      await()
          .alias(run.where())
          .atMost(DEADLINE)
          .untilAsserted(
              () -> assertEquals(NOTHING + " " + NOTHING, state(encrypted) + " " + state(plain)));
      run.requireNoErrors();
      System.gc();
    }
    if (run.counted("conversations") > 2 * CONVERSATIONS) {
      assertTrue(run.counted("right token") > 0, "no token was right");
      assertTrue(run.counted("right password") > 0, "no password was right");
    }
  }

  private long done() {
    return encrypted.service().logins().done() + plain.service().logins().done();
  }

  private void requireService(FuzzRun run) throws Exception {
    long begun = System.nanoTime();
    assertEquals("ROOT", user(encrypted, "user=root&password=top secret"), run.where());
    assertEquals("MO", user(plain, "user=mo&password=long enough"), run.where());
    FuzzedTokens.Token token = new FuzzedTokens(new Random(), keys).right();
    assertEquals(token.users(), Set.of(user(encrypted, "token=" + token.text())), run.where());
    assertTrue(System.nanoTime() - begun < PROMPT.toNanos(), run.where() + ": late");
  }

  private void endSilent() throws IOException {
    for (Silent each : silent) {
      if (System.nanoTime() - each.sinceNanos() > CLOSED_NANOS) {
        // whatever the node has said before its end
        each.socket().getInputStream().readAllBytes();
        each.socket().close();
        silent.remove(each);
      }
    }
  }

  private Map<String, String> state(Node node) throws IOException {
    HttpCalls.Reply reply;
    try (Socket socket = HttpCalls.connect(node.adminAddress())) {
      Socket open =
          node == plain
              ? socket
              : context.getSocketFactory().createSocket(socket, "127.0.0.1", 1, true);
      reply =
          HttpCalls.call(
              open.getInputStream(),
              open.getOutputStream(),
              node.adminAddress(),
              "GET",
              "/debug/state",
              "",
              "Authorization",
              BASIC);
    }
    assertEquals(200, reply.status(), reply.toString());
    Map<String, String> state = new TreeMap<>();
    int strangers = silentAt(node);
    reply
        .body()
        .lines()
        .map(line -> line.split(": ", 2))
        .filter(line -> HELD.contains(line[0]))
        .forEach(line -> state.put(line[0], line[1]));
    int more = Integer.parseInt(state.getOrDefault("new_connections", "0"));
    state.put("new_connections", more <= strangers ? "0" : more + " and not " + strangers);
    return state;
  }

  private int silentAt(Node node) {
    int port = node.listenAddress().getPort();
    return (int) silent.stream().filter(each -> each.socket().getPort() == port).count();
  }

  private void hold(FuzzRun run, Random random) throws Exception {
    byte[] address = {127, (byte) (1 + random.nextInt(126)), 0, (byte) (1 + random.nextInt(250))};
    address[2] = (byte) random.nextInt(256);
    InetAddress from = InetAddress.getByAddress(address);
    Node node = random.nextInt(4) == 0 ? plain : encrypted;
    int kind = random.nextInt(16);
    FuzzedMessages messages = new FuzzedMessages(random);
    if (kind == 0) {
      run.count("kind: below TLS");
      below(random, messages, from);
      return;
    }
    if (kind >= 14) {
      overHttp(run, random, messages, from, node);
      return;
    }
    try (LoginTalk talk =
        node == plain
            ? LoginTalk.plain(node.listenAddress(), from)
            : LoginTalk.encrypted(node.listenAddress(), from, context)) {
      switch (kind) {
        case 1, 2 -> frames(run, random, messages, talk);
        case 3 -> order(run, random, messages, talk);
        case 4, 5, 6, 7 -> scram(run, random, from, node, talk);
        case 8 -> mutated(run, random, messages, talk);
        default -> token(run, random, messages, from, node, talk);
      }
    }
    if (random.nextInt(60) == 0) {
      Socket stays = LoginTalk.connect(node.listenAddress(), from);
      byte[] hello = LoginTalk.frame(HELLO);
      stays.getOutputStream().write(hello, 0, random.nextInt(hello.length));
      silent.add(new Silent(stays, System.nanoTime()));
    }
  }

  /** Whether a rule lets a user log in by this way: what {@link #RULES} say, in other words. */
  private static boolean isAllowed(boolean token, String user, InetAddress from) {
    boolean other = Byte.toUnsignedInt(from.getAddress()[1]) >= OTHER;
    return switch (user) {
      case "ROOT" -> false;
      case "MO" -> !token;
      case "BILLING" -> token != other;
      case "CLOSED" -> false;
      default -> token;
    };
  }

  /** Bytes that are no TLS, or end it. */
  private void below(Random random, FuzzedMessages messages, InetAddress from) throws Exception {
    InetSocketAddress to = encrypted.listenAddress();
    byte[] noise = new byte[1 + random.nextInt(3_000)];
    random.nextBytes(noise);
    byte[] alert = {21, 3, 3, 0, 2, 2, (byte) random.nextInt(120)};
    if (random.nextInt(3) == 0) {
      try (LoginTalk talk = LoginTalk.encrypted(to, from, context)) {
        if (random.nextBoolean()) {
          assertInstanceOf(Reply.LoginRequired.class, talk.call(HELLO));
        }
        talk.sendBelow(random.nextBoolean() ? alert : noise);
        if (random.nextBoolean()) {
          talk.send(LoginTalk.frame(HELLO));
        }
      }
      return;
    }
    byte[] hello = clientHello();
    byte[] sent =
        switch (random.nextInt(6)) {
          case 0 -> noise;
          case 1 -> alert;
          case 2 -> LoginTalk.frame(HELLO);
          case 3 -> Arrays.copyOf(hello, random.nextInt(hello.length));
          case 4 -> "GET / HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(ISO_8859_1);
          default -> messages.mutated(hello);
        };
    try (Socket socket =
        LoginTalk.connect(random.nextInt(3) == 0 ? encrypted.adminAddress() : to, from)) {
      socket.getOutputStream().write(sent);
      socket.shutdownOutput();
      byte[] answer = socket.getInputStream().readAllBytes();
      assertTrue(answer.length < 20_000, answer.length + " bytes to a stranger");
    } catch (SocketException e) {
      // an end too
    }
  }

  private byte[] clientHello() throws Exception {
    SSLEngine engine = context.createSSLEngine("127.0.0.1", 1);
    engine.setUseClientMode(true);
    ByteBuffer hello = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
    engine.wrap(ByteBuffer.allocate(0), hello);
    return Arrays.copyOf(hello.array(), hello.position());
  }

  /** Frames and hellos that are none. */
  private void frames(FuzzRun run, Random random, FuzzedMessages messages, LoginTalk talk)
      throws IOException {
    run.count("kind: frames");
    talk.expectsAnyId();
    byte[] hello = LoginTalk.frame(HELLO);
    int length =
        List.of(
                0,
                1,
                13,
                14,
                4_096,
                4_097,
                16 << 10,
                (16 << 10) + 1,
                16 << 20,
                Integer.MAX_VALUE,
                -1,
                0x16030100)
            .get(random.nextInt(12));
    String text = random.nextBoolean() ? "x".repeat(random.nextInt(3_000)) : "\u0000\u0007\u202e\n";
    byte[] sent =
        switch (random.nextInt(7)) {
          case 0 -> new WireWriter().i32(length).toByteArray();
          case 1 -> {
            System.arraycopy(new WireWriter().i32(length).toByteArray(), 0, hello, 0, 4);
            yield hello;
          }
          case 2 -> Arrays.copyOf(hello, random.nextInt(hello.length));
          case 3 ->
              LoginTalk.frame(
                  new Request.Hello(random.nextInt(12), random.nextInt(12), text, text, text));
          case 4 -> LoginTalk.frame(random.nextInt(256), messages.mutated(new byte[40]));
          case 5 -> {
            hello[10 + random.nextInt(8)] = (byte) random.nextInt(256); // id, deadline, magic
            yield hello;
          }
          default -> messages.mutated(hello);
        };
    talk.send(sent);
    talk.send(LoginTalk.frame(new Request.OpenSession(1_000, 1_000, OPTIONS)));
    readRefusals(talk, random);
  }

  /** Reads what a client may be told whose last message makes no sense, if anything. */
  private static void readRefusals(LoginTalk talk, Random random) throws IOException {
    if (random.nextInt(4) == 0) {
      return;
    }
    // what was cut is not answered: the end of this side has the node end the other one
    talk.send(new byte[0]);
    talk.sayNoMore();
    for (Reply reply = talk.next(); reply != null; reply = talk.next()) {
      assertTrue(
          reply instanceof Reply.Failure || reply instanceof Reply.LoginRequired, "" + reply);
    }
  }

  /** Requests in a wrong order, without waiting. */
  private void order(FuzzRun run, Random random, FuzzedMessages messages, LoginTalk talk)
      throws IOException {
    run.count("kind: order");
    WireWriter all = new WireWriter();
    for (int i = 1 + random.nextInt(6); i > 0; i--) {
      Request request =
          switch (random.nextInt(10)) {
            case 0, 1, 2 -> HELLO;
            case 3 -> new Request.OpenSession(60_000, 15_000, OPTIONS);
            case 4 -> new Request.Ping();
            case 5 -> RawClient.execute(1, "CREATE TABLE EVIL(ID INT)");
            case 6 -> new Request.AskNodeStatus();
            case 7 -> new Request.OpenSnapshot(true);
            default -> messages.login();
          };
      byte[] frame = LoginTalk.frame(request);
      all.raw(frame, 0, frame.length);
    }
    // nobody may close a session before a login: the refusal of that is the last reply
    byte[] last = LoginTalk.frame(new Request.CloseSession());
    all.raw(last, 0, last.length);
    talk.send(all.toByteArray());
    for (Reply reply = talk.next(); reply != null; reply = talk.next()) {
      run.count("answer " + reply.getClass().getSimpleName());
      assertTrue(!(reply instanceof Reply.LoggedIn), "" + reply);
    }
  }

  private static @Nullable Reply hello(LoginTalk talk) {
    Reply required = talk.call(HELLO);
    assertInstanceOf(Reply.LoginRequired.class, required);
    return required;
  }

  private void scram(FuzzRun run, Random random, InetAddress from, Node node, LoginTalk talk)
      throws Exception {
    run.count("kind: scram");
    hello(talk);
    boolean changes = random.nextInt(4) != 0;
    FuzzedScram scram = new FuzzedScram(random, talk.binding(), PASSWORDS, changes);
    Reply reply = talk.call(new Request.BeginLogin(scram.mechanism(), scram.first()));
    Verdict verdict = Verdict.NOBODY;
    String said = scram.mechanism() + " " + new String(scram.first(), UTF_8);
    if (reply instanceof Reply.LoginChallenge challenge) {
      String last = scram.last(challenge.data(), changes);
      said += " | " + new String(challenge.data(), UTF_8) + " | " + last;
      String proven = scram.proven(challenge.data(), last);
      boolean allowed = proven != null && (node == plain || isAllowed(false, proven, from));
      verdict = allowed ? new Verdict(Set.of(proven), scram.isRight()) : Verdict.NOBODY;
      if (allowed) {
        believed.incrementAndGet();
      }
      reply = talk.call(new Request.ContinueLogin(last.getBytes(UTF_8)));
    } else {
      assertTrue(!scram.isRight(), "refused at once: " + reply + " after " + said);
    }
    judge(run, "password", talk, reply, verdict, said + " from " + from);
  }

  private void token(
      FuzzRun run,
      Random random,
      FuzzedMessages messages,
      InetAddress from,
      Node node,
      LoginTalk talk)
      throws Exception {
    hello(talk);
    FuzzedTokens.Token token = new FuzzedTokens(random, keys).next();
    run.count("token: " + token.kind());
    boolean itself = random.nextInt(3) == 0 && !token.users().isEmpty();
    String name = itself ? token.users().iterator().next() : "";
    String right =
        "n," + (itself ? "a=" + name : "") + ",\u0001auth=Bearer " + token.text() + "\u0001\u0001";
    String message = right;
    boolean bad = false;
    boolean changed = random.nextInt(4) == 0;
    if (changed) {
      // those before are no messages of OAUTHBEARER, or of another user; those behind may be some
      int form = random.nextInt(24);
      bad = form < 18;
      String t = token.text();
      message =
          switch (form) {
            case 0 -> "n,a=mo,\u0001auth=Bearer " + t + "\u0001\u0001";
            case 1 -> "n,a=nobody,\u0001auth=Bearer " + t + "\u0001\u0001";
            case 2 -> "p=tls-server-end-point,,\u0001auth=Bearer " + t + "\u0001\u0001";
            case 3 -> "\u0001auth=Bearer " + t + "\u0001\u0001";
            case 4 -> "n,,\u0001auth=Bearer " + t + "\u0001";
            case 5 -> "n,,auth=Bearer " + t + "\u0001\u0001";
            case 6 -> "n,,\u0001auth=Basic " + t + "\u0001\u0001";
            case 7 -> "n,,\u0001auth=" + t + "\u0001\u0001";
            case 8 -> "n,,\u0001AUTH=Bearer " + t + "\u0001\u0001";
            case 9 -> "n,,\u0001host=h\u0001\u0001";
            case 10 -> "n,a=root,\u0001auth=Bearer " + t + "\u0001\u0001";
            case 11 -> "n,,\u0001auth=Bearer " + t + "\u0001auth=Bearer x\u0001\u0001";
            case 12 -> "n,,\u0001auth=Bearer x " + t + "\u0001\u0001";
            case 13 -> "n,,\u0001auth=Bearer " + t + "\u0000\u0001\u0001";
            case 14 -> "n,,auth=Bearer " + t;
            case 15 -> "";
            case 16 -> "n,,";
            case 17 -> "\u0001";
            case 18 -> "n,,\u0001host=h\u0001port=1\u0001auth=Bearer " + t + "\u0001\u0001";
            case 19 -> "y,,\u0001auth=Bearer " + t + "\u0001\u0001";
            case 20 -> "n,,\u0001auth=bearer   " + t + "\u0001\u0001";
            case 21 -> "n,,\u0001\u0001auth=Bearer " + t + "\u0001\u0001";
            case 22 -> "n,,\u0001auth=Bearer " + t + "\u0001x=\u0001\u0001";
            default -> new String(messages.mutated(right.getBytes(UTF_8)), ISO_8859_1);
          };
    }
    String mechanism = random.nextInt(12) == 0 ? "OAUTHBEARER2" : Protocol.OAUTHBEARER;
    boolean offered = node == encrypted && mechanism.equals(Protocol.OAUTHBEARER) && !bad;
    Verdict verdict = Verdict.NOBODY;
    if (offered && message.contains(token.signed() + ".")) {
      List<String> users =
          token.users().stream().filter(user -> isAllowed(true, user, from)).toList();
      verdict = new Verdict(Set.copyOf(users), token.isRight() && !changed && !users.isEmpty());
    }
    if (!verdict.users().isEmpty()) {
      believed.incrementAndGet();
    }
    byte[] bytes = message.getBytes(changed ? ISO_8859_1 : UTF_8);
    Reply reply = talk.call(new Request.BeginLogin(mechanism, bytes));
    judge(
        run,
        "token",
        talk,
        reply,
        verdict,
        token.kind() + ", " + mechanism + " " + message + " from " + from);
  }

  /** Checks what became of a login. */
  private void judge(
      FuzzRun run,
      String way,
      LoginTalk talk,
      @Nullable Reply reply,
      Verdict verdict,
      String said) {
    try {
      if (reply instanceof Reply.LoggedIn) {
        assertTrue(!verdict.users().isEmpty(), "a stranger is logged in");
        run.count((verdict.isRight() ? "right " : "odd ") + way);
        talk.isKnown();
        requireUser(talk, verdict.users());
      } else {
        // a connection that takes too long to log in is closed without a word
        boolean late = reply == null && talk.isLate();
        assertTrue(late || !verdict.isRight(), "a right login is refused: " + reply);
        run.count("refused " + way);
        // a frame that is too long is refused without a word
        assertTrue(reply == null || reply instanceof Reply.Failure, "" + reply);
        talk.send(LoginTalk.frame(new Request.OpenSession(1_000, 1_000, OPTIONS)));
        talk.awaitEnd();
      }
    } catch (AssertionError e) {
      String shown = said.substring(0, Math.min(said.length(), 6_000));
      throw new AssertionError(e.getMessage() + "\nafter " + shown.replace('\u0001', '|'), e);
    }
  }

  /** The header Authorization of a request for a statement that says who runs it. */
  private void overHttp(
      FuzzRun run, Random random, FuzzedMessages messages, InetAddress from, Node node)
      throws Exception {
    boolean byToken = random.nextInt(3) != 0;
    String authorization;
    Set<String> users;
    boolean right;
    if (byToken) {
      FuzzedTokens.Token token = new FuzzedTokens(random, keys).next();
      run.count("http token: " + token.kind());
      boolean odd = random.nextInt(6) == 0;
      String scheme =
          odd
              ? List.of("bearer", "BEARER ", "Bearer\t", "Bearer Bearer", "Basic", "", "DPoP")
                  .get(random.nextInt(7))
              : "Bearer";
      authorization = scheme + " " + token.text();
      users = node == plain ? Set.of() : token.users();
      right = token.isRight() && !odd && !users.isEmpty();
    } else {
      run.count("http password");
      String name = List.of("mo", "MO", "billing", "ada", "nobody", "root").get(random.nextInt(6));
      String password =
          List.of(
                  "long enough",
                  "even longer",
                  "never used",
                  "",
                  "a:b",
                  "\u0000",
                  "x".repeat(2_000))
              .get(random.nextInt(7));
      byte[] pair = (name + ":" + password).getBytes(UTF_8);
      boolean odd = random.nextInt(4) == 0;
      authorization =
          "Basic " + Base64.getEncoder().encodeToString(odd ? messages.mutated(pair) : pair);
      String user = name.toUpperCase(Locale.ROOT);
      // a change of the pair that leaves it right changes capitals at most
      boolean known =
          password.equals(PASSWORDS.getOrDefault(user, "never used"))
              && !user.equals("ROOT")
              && !user.equals("NOBODY");
      users = known ? Set.of(user) : Set.of();
      right = known && !odd;
    }
    List<String> allowed =
        users.stream().filter(user -> node == plain || isAllowed(byToken, user, from)).toList();
    if (!allowed.isEmpty()) {
      believed.incrementAndGet();
    }
    try (Socket socket = LoginTalk.connect(node.adminAddress(), from)) {
      Socket open =
          node == plain
              ? socket
              : context.getSocketFactory().createSocket(socket, "127.0.0.1", 1, true);
      HttpTalk talk = new HttpTalk(open.getInputStream(), open.getOutputStream());
      String body = "{\"sql\":\"SELECT 'it is ' || CURRENT_USER\"}";
      talk.send(
          ("POST /v1/sql HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                  + "Connection: close\r\nContent-Length: "
                  + body.length()
                  + "\r\nAuthorization: "
                  + authorization
                  + "\r\n\r\n"
                  + body)
              .getBytes(ISO_8859_1));
      HttpTalk.Answer answer = talk.answer("POST");
      String said = answer + " to " + authorization + " from " + from;
      assertTrue(answer != null, said);
      if (answer != null) {
        run.count("http " + answer.status());
        String complaint = FuzzedHttp.common(answer);
        assertTrue(complaint == null, complaint + ": " + said);
        boolean served = answer.status() == 200;
        assertTrue(
            !served || allowed.stream().anyMatch(user -> answer.body().contains("it is " + user)),
            "a stranger is served: " + said);
        assertTrue(served || !right || allowed.isEmpty(), "a right login is refused: " + said);
        assertTrue(
            served || Set.of(400, 401, 403, 431).contains(answer.status()),
            "refused in another way: " + said);
      }
      talk.requireEnd();
    }
  }

  private static void requireUser(LoginTalk talk, Set<String> users) {
    assertInstanceOf(
        Reply.SessionReady.class, talk.call(new Request.OpenSession(60_000, 15_000, OPTIONS)));
    Reply rows = talk.call(RawClient.execute(1, "SELECT 'it is ' || CURRENT_USER"));
    String text = new String(assertInstanceOf(Reply.Result.class, rows).body(), ISO_8859_1);
    assertTrue(
        users.stream().anyMatch(user -> text.contains("it is " + user)), users + ": " + text);
    assertInstanceOf(Reply.Ok.class, talk.call(new Request.CloseSession()));
  }

  /** Hello and a login at once, of which some bytes are changed. */
  private void mutated(FuzzRun run, Random random, FuzzedMessages messages, LoginTalk talk)
      throws IOException {
    run.count("kind: mutated");
    talk.expectsAnyId();
    FuzzedTokens.Token token = new FuzzedTokens(random, keys).right();
    byte[] hello = LoginTalk.frame(HELLO);
    byte[] login =
        LoginTalk.frame(
            new Request.BeginLogin(
                Protocol.OAUTHBEARER,
                ("n,,\u0001auth=Bearer " + token.text() + "\u0001\u0001").getBytes(UTF_8)));
    byte[] both = Arrays.copyOf(hello, hello.length + login.length);
    System.arraycopy(login, 0, both, hello.length, login.length);
    byte[] changed = messages.mutated(both);
    boolean signed = new String(changed, ISO_8859_1).contains(token.signed() + ".");
    if (signed) {
      believed.incrementAndGet();
    }
    talk.send(changed);
    talk.sayNoMore();
    for (Reply reply = talk.next(); reply != null; reply = talk.next()) {
      assertTrue(!(reply instanceof Reply.LoggedIn) || signed, "a stranger is logged in");
    }
  }
}
