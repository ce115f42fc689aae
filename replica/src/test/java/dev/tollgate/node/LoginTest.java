package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.Capacity;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.lock.HeldLock;
import dev.tollgate.lock.LockClient;
import dev.tollgate.node.client.AuthenticationListener;
import dev.tollgate.node.client.ClientAccess;
import dev.tollgate.node.client.ClientConnection;
import dev.tollgate.node.client.ClientLimits;
import dev.tollgate.store.SqlDatabase;
import dev.tollgate.wire.BearerMessage;
import dev.tollgate.wire.Frame;
import dev.tollgate.wire.KeyRequest;
import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.ScramBinding;
import dev.tollgate.wire.ScramClient;
import dev.tollgate.wire.ScramException;
import dev.tollgate.wire.TransactionMode;
import dev.tollgate.wire.WireWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A node that requires logins, over sockets and on connections whose TLS is made up. */
@Timeout(120)
class LoginTest {
  private static final Request.SessionOptions OPTIONS =
      new Request.SessionOptions(ReadConsistency.LINEARIZABLE, 1_000);
  private static final Request.Hello HELLO =
      new Request.Hello(1, Protocol.VERSION, "app", "host", "1");
  private static final byte[] CERTIFICATE = {4, 5, 6};
  private static final int CHANGED_LOGINS = Integer.getInteger("tollgate.logins", 100);

  private final TestUsers users = new TestUsers().with("jo", "secret").with("mo", "old", "new");
  private final Map<SessionId, String> owners = new ConcurrentHashMap<>();
  private final List<String> audit = new CopyOnWriteArrayList<>();
  private final AtomicLong nanos = new AtomicLong();
  private Node node;

  private final class Audit implements AuthenticationListener {
    @Override
    public void loggedIn(Attempt attempt) {
      audit.add(attempt.user() + " by " + attempt.mechanism());
    }

    @Override
    public void refused(Attempt attempt, Reason reason) {
      audit.add(attempt.user() + " " + reason);
    }
  }

  @BeforeEach
  void start() throws Exception {
    node =
        new Node(
            LoopbackSettings.of("n1", null),
            new SqlDatabase(),
            ClientLimits.STANDARD,
            Capacity.STANDARD,
            TestUsers.administrator("jo"),
            new ClientAccess(
                users,
                (user, session) -> owners.getOrDefault(session, "").equals(user),
                new Audit(),
                nanos::get));
    node.start();
    assertTrue(node.awaitLeadership(Duration.ofSeconds(30)));
  }

  @AfterEach
  void stop() {
    node.close();
  }

  /** A connection whose frames a test sends, with the TLS that a test makes up. */
  private final class Local implements ClientConnection.Link {
    private final byte @Nullable [] binding;
    private final @Nullable String certified;
    private final ClientConnection connection;
    private final List<Reply> replies = new ArrayList<>();
    private final List<Duration> delays = new ArrayList<>();
    private @Nullable Runnable delayed;
    private boolean closed;
    private boolean trusted;
    private String address = "10.0.0.1";

    Local(byte @Nullable [] binding, @Nullable String certified) {
      this.binding = binding;
      this.certified = certified;
      this.connection = node.service().connect(this);
    }

    @Override
    public void send(Frame frame) {
      replies.add(Reply.read(frame));
    }

    @Override
    public void close() {
      closed = true;
    }

    @Override
    public String client() {
      return "local";
    }

    @Override
    public String address() {
      return address;
    }

    @Override
    public byte @Nullable [] channelBinding() {
      return binding;
    }

    @Override
    public @Nullable String certificateUser() {
      return certified;
    }

    @Override
    public void trust() {
      trusted = true;
    }

    @Override
    public void later(Duration delay, Runnable work) {
      delays.add(delay);
      delayed = work;
    }

    Reply call(Request request) {
      int before = replies.size();
      WireWriter body = new WireWriter();
      request.write(body);
      connection.receive(new Frame(request.type(), 1, 0, body.toByteArray()));
      return replies.size() == before ? new Reply.Ok() : replies.get(before);
    }

    Reply logIn(String user, String password) {
      return logIn(user, password, offered());
    }

    List<String> offered() {
      return assertInstanceOf(Reply.LoginRequired.class, call(HELLO)).mechanisms();
    }

    /** Returns the last reply; checks the node's proof. */
    Reply logIn(String user, String password, List<String> offered) {
      ScramClient scram = new ScramClient(user, ScramBinding.choose(binding, offered));
      String mechanism = ScramBinding.choose(binding, offered).mechanism();
      Reply challenge = call(new Request.BeginLogin(mechanism, scram.first()));
      if (!(challenge instanceof Reply.LoginChallenge asked)) {
        return challenge;
      }
      try {
        Reply last = call(new Request.ContinueLogin(proof(scram, asked, password)));
        if (last instanceof Reply.LoggedIn done) {
          scram.requireSigned(done.data());
        }
        return last;
      } catch (Exception e) {
        throw new AssertionError(e);
      }
    }
  }

  private static byte[] proof(ScramClient scram, Reply.LoginChallenge challenge, String password)
      throws Exception {
    return scram.last(challenge.data(), TestUsers.salted(password));
  }

  private Local local() {
    return new Local(null, null);
  }

  private Reply logIn(String user, String password) {
    return local().logIn(user, password);
  }

  private static String stateOf(Reply reply) {
    return assertInstanceOf(Reply.Failure.class, reply).sqlState();
  }

  private String url(String properties) {
    return "jdbc:tollgate://127.0.0.1:" + node.listenAddress().getPort() + "/?" + properties;
  }

  @Test
  void driverLogsInAndWorks() throws Exception {
    try (Connection connection = DriverManager.getConnection(url(""), "jo", "secret");
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE T(ID INT)");
      // more than a stranger may send
      statement.execute("SELECT '" + "x".repeat(100_000) + "'");
      statement.execute("SELECT acquire_lock('job')");
      statement.execute("CREATE USER MO");
    }
    assertTrue(audit.stream().allMatch("JO by SCRAM-SHA-256"::equals), audit.toString());
    assertTrue(audit.size() >= 2, audit.toString());
    for (String password : new String[] {"old", "new"}) {
      DriverManager.getConnection(url("user=mo&password=" + password)).close();
    }
  }

  @Test
  void tokenWithoutTlsIsRefusedUnread() {
    Local link = local();
    assertFalse(link.offered().contains(Protocol.OAUTHBEARER));
    byte[] message = new BearerMessage("jo", "abc").toBytes();
    Reply refused = link.call(new Request.BeginLogin(Protocol.OAUTHBEARER, message));
    assertEquals("28000", stateOf(refused));
    assertTrue(link.closed);
  }

  @Test
  void driverIsRefusedWithAWrongPassword() {
    SQLException wrong =
        assertThrows(SQLException.class, () -> DriverManager.getConnection(url(""), "jo", "wrong"));
    SQLException unknown =
        assertThrows(
            SQLException.class, () -> DriverManager.getConnection(url(""), "nobody", "wrong"));
    SQLException none =
        assertThrows(SQLException.class, () -> DriverManager.getConnection(url("")));
    assertEquals("28000", wrong.getSQLState());
    assertEquals(wrong.getMessage(), unknown.getMessage());
    assertEquals("28000", none.getSQLState());
    assertEquals(List.of("JO WRONG_PASSWORD", "NOBODY NO_SUCH_USER"), audit);
  }

  @Test
  void unknownUserLooksLikeAWrongPassword() {
    users.with("certified");
    List<String> texts = new ArrayList<>();
    for (String user : new String[] {"jo", "nobody", "certified"}) {
      Local local = local();
      Reply.Failure failure = (Reply.Failure) local.logIn(user, "wrong");
      texts.add(failure.sqlState() + failure.vendorCode() + failure.message());
      assertEquals(3, local.replies.size());
      assertTrue(local.closed);
      assertFalse(local.trusted);
    }
    assertEquals(texts.get(0), texts.get(1));
    assertEquals(texts.get(0), texts.get(2));
  }

  private String challenge(String user) {
    Local local = local();
    local.offered();
    ScramClient scram = new ScramClient(user, ScramBinding.choose(null, List.of()));
    Reply.LoginChallenge challenge =
        (Reply.LoginChallenge)
            local.call(new Request.BeginLogin(ScramBinding.PLAIN, scram.first()));
    String text = new String(challenge.data(), StandardCharsets.UTF_8);
    return text.substring(text.indexOf(",s="));
  }

  @Test
  void saltOfAnUnknownUserIsItsOwnAndStays() {
    assertEquals(challenge("nobody"), challenge("nobody"));
    assertEquals(challenge("nobody"), challenge("NoBody"));
    assertNotEquals(challenge("nobody"), challenge("anybody"));
    assertNotEquals(challenge("nobody"), challenge("jo"));
  }

  static List<Request> anything() {
    byte[] noParameters = {0, 0};
    return List.of(
        HELLO,
        new Request.OpenSession(60_000, 15_000, OPTIONS),
        new Request.AttachSession(1, 2, false, OPTIONS),
        new Request.CloseSession(),
        new Request.Prepare("SELECT 1"),
        new Request.Execute(
            1,
            true,
            TransactionMode.AUTOCOMMIT,
            false,
            "SELECT 1",
            new KeyRequest.None(),
            0,
            0,
            List.of(noParameters)),
        new Request.Fetch(1, 1),
        new Request.CloseCursor(1),
        new Request.Metadata(0, noParameters),
        new Request.Heartbeat(List.of(1L), List.of()),
        new Request.Cancel(1, 2, 3),
        new Request.ReleaseOwnLease(),
        new Request.OpenSnapshot(false),
        new Request.ReadSnapshot(0, 1),
        new Request.AskNodeStatus(),
        new Request.AwaitHolder("job", -1),
        new Request.AwaitLeader(0),
        new Request.WatchLocks(List.of(1L), List.of(1L)),
        new Request.ContinueLogin(new byte[0]));
  }

  @ParameterizedTest
  @MethodSource("anything")
  void nothingIsServedBeforeTheLogin(Request request) throws Exception {
    try (RawClient client = new RawClient(node.listenAddress())) {
      assertInstanceOf(Reply.LoginRequired.class, client.call(HELLO));
      assertEquals("28000", stateOf(client.call(request)));
      assertTrue(client.isClosedByNode());
    }
    assertEquals(List.of("null NO_LOGIN"), audit);
  }

  @ParameterizedTest
  @MethodSource("anything")
  void nothingIsServedBetweenTheStepsOfALogin(Request request) {
    Local local = local();
    local.offered();
    ScramClient scram = new ScramClient("jo", ScramBinding.choose(null, List.of()));
    local.call(new Request.BeginLogin(ScramBinding.PLAIN, scram.first()));
    assertEquals("28000", stateOf(local.call(request)));
    assertTrue(local.closed);
    int said = local.replies.size();
    local.call(new Request.BeginLogin(ScramBinding.PLAIN, scram.first()));
    local.call(HELLO);
    assertEquals(said, local.replies.size());
  }

  @Test
  void pingIsNotAnsweredBeforeTheLogin() throws Exception {
    try (RawClient client = new RawClient(node.listenAddress())) {
      client.write(HELLO);
      client.write(new Request.Ping());
      assertInstanceOf(Reply.LoginRequired.class, client.receive());
      client.write(new Request.Ping());
      assertInstanceOf(Reply.LoginChallenge.class, client.call(beginOf("jo")));
    }
    Local local = local();
    local.offered();
    local.call(new Request.Ping());
    assertInstanceOf(Reply.LoggedIn.class, local.logIn("jo", "secret", List.of()));
    assertEquals(2, local.replies.stream().filter(r -> !(r instanceof Reply.LoggedIn)).count());
    assertInstanceOf(Reply.Ok.class, local.call(new Request.Ping()));
    assertEquals(4, local.replies.size());
  }

  private static Request beginOf(String user) {
    ScramClient scram = new ScramClient(user, ScramBinding.choose(null, List.of()));
    return new Request.BeginLogin(ScramBinding.PLAIN, scram.first());
  }

  @Test
  void strangerMaySendOnlySmallFrames() throws Exception {
    try (RawClient client = new RawClient(node.listenAddress())) {
      client.call(HELLO);
      client.send(new byte[] {0, 1, 0, 0, 0x14});
      assertEquals("08004", stateOf(client.receive()));
      assertTrue(client.isClosedByNode());
    }
  }

  @Test
  void requestSentBehindAWrongProofIsNotServed() throws Exception {
    try (RawClient client = new RawClient(node.listenAddress())) {
      client.call(HELLO);
      ScramClient scram = new ScramClient("jo", ScramBinding.choose(null, List.of()));
      Reply challenge = client.call(new Request.BeginLogin(ScramBinding.PLAIN, scram.first()));
      client.write(
          new Request.ContinueLogin(proof(scram, (Reply.LoginChallenge) challenge, "wrong")));
      client.write(new Request.AskNodeStatus());
      assertEquals("28000", stateOf(client.receive()));
      assertTrue(client.isClosedByNode());
    }
  }

  @Test
  void oldDriverIsToldWhatToDo() {
    for (int version = 1; version < Protocol.LOGIN_VERSION; version++) {
      Local local = local();
      Reply.Failure failure =
          (Reply.Failure) local.call(new Request.Hello(1, version, "app", "host", "1"));
      assertEquals("28000", failure.sqlState());
      assertTrue(failure.message().contains("use a driver of the version of this node"));
      assertTrue(local.closed);
    }
    assertEquals("null OLD_CLIENT", audit.get(0));
  }

  @Test
  void nodeThatDoesNotKnowItsUsersSaysSo() {
    users.known = false;
    assertEquals("08001", stateOf(local().call(HELLO)));
    users.known = true;
    assertInstanceOf(Reply.LoggedIn.class, logIn("jo", "secret"));
    assertEquals(List.of("JO by SCRAM-SHA-256"), audit);
  }

  @Test
  void nodeThatRequiresNoLoginServesAtOnce() {
    users.required = false;
    assertInstanceOf(Reply.Welcome.class, local().call(HELLO));
    assertInstanceOf(
        Reply.Welcome.class, local().call(new Request.Hello(1, 4, "app", "host", "1")));
  }

  @Test
  void clusterIsToldAfterTheLogin() {
    Reply.LoggedIn done = assertInstanceOf(Reply.LoggedIn.class, logIn("Jo", "secret"));
    assertEquals("n1", done.welcome().nodeId());
    assertEquals(Protocol.VERSION, done.welcome().version());
    await().until(() -> ((Reply.LoggedIn) logIn("jo", "secret")).welcome().clusterId() != null);
  }

  @Test
  void sessionOfAnotherUserIsNotAttached() throws Exception {
    Local jo = local();
    jo.logIn("jo", "secret");
    jo.call(new Request.OpenSession(60_000, 15_000, OPTIONS));
    await().until(() -> jo.replies.get(jo.replies.size() - 1) instanceof Reply.SessionReady);
    Reply.SessionReady ready = (Reply.SessionReady) jo.replies.get(jo.replies.size() - 1);
    owners.put(new SessionId(ready.sessionId()), "JO");
    Request.AttachSession attach =
        new Request.AttachSession(ready.sessionId(), ready.secret(), false, OPTIONS);
    Request.Cancel cancel = new Request.Cancel(ready.sessionId(), ready.secret(), 1);
    Local mo = local();
    mo.logIn("mo", "new");
    assertEquals("28000", stateOf(mo.call(attach)));
    assertEquals("08006", stateOf(mo.call(cancel)));
    Local again = local();
    again.logIn("jo", "secret");
    assertInstanceOf(Reply.SessionReady.class, again.call(attach));
  }

  @Test
  void userHasAShareOfTheRequestsThatWaitForAHolder() {
    Local jo = local();
    assertInstanceOf(Reply.LoggedIn.class, jo.logIn("jo", "secret"));
    Request waits = new Request.AwaitHolder("free", 0);
    for (int i = 0; i < Limits.HOLDER_WATCHES_PER_USER; i++) {
      assertInstanceOf(Reply.Ok.class, jo.call(waits), "no answer yet");
    }
    Reply.Failure refused = assertInstanceOf(Reply.Failure.class, jo.call(waits));
    assertEquals("53300", refused.sqlState());
    assertTrue(refused.message().contains("holder watches of user JO is 5000"), refused.message());
    Local mo = local();
    assertInstanceOf(Reply.LoggedIn.class, mo.logIn("mo", "old"));
    assertEquals("42501", stateOf(mo.call(waits)), "others have room, if not the right");
  }

  /** With it, a user could keep the locks of a program that has died. */
  @Test
  void heartbeatOfAnotherUserRenewsNothing() throws Exception {
    try (Connection connection = DriverManager.getConnection(url(""), "jo", "secret");
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE USER MO");
      long lease;
      try (ResultSet created = statement.executeQuery("SELECT create_lease(60000)")) {
        created.next();
        lease = created.getLong(1);
      }
      long session;
      try (ResultSet own = statement.executeQuery("SELECT SESSION_ID FROM TOLLGATE.SESSIONS")) {
        own.next();
        session = own.getLong(1);
      }
      Request.Heartbeat heartbeat = new Request.Heartbeat(List.of(session), List.of(lease));
      Reply.HeartbeatAck refused = acknowledged("mo", "new", heartbeat);
      assertEquals(List.of(session), refused.lostSessions());
      assertEquals(List.of(lease), refused.lostLeases());
      Reply.HeartbeatAck renewed = acknowledged("jo", "secret", heartbeat);
      assertEquals(List.of(), renewed.lostSessions());
      assertEquals(List.of(), renewed.lostLeases());
    }
  }

  private Reply.HeartbeatAck acknowledged(
      String user, String password, Request.Heartbeat heartbeat) {
    Local client = local();
    assertInstanceOf(Reply.LoggedIn.class, client.logIn(user, password));
    client.call(heartbeat);
    await()
        .until(() -> client.replies.get(client.replies.size() - 1) instanceof Reply.HeartbeatAck);
    return (Reply.HeartbeatAck) client.replies.get(client.replies.size() - 1);
  }

  @Test
  void connectionOfADroppedUserEndsWithItsNextRequest() {
    Local jo = local();
    jo.logIn("jo", "secret");
    assertInstanceOf(Reply.Ok.class, jo.call(new Request.Ping()));
    users.drop("jo");
    assertEquals("28000", stateOf(jo.call(new Request.Heartbeat(List.of(), List.of()))));
    assertTrue(jo.closed);
  }

  @Test
  void connectionOfADroppedUserIsNotTheNextUserOfItsName() {
    Local jo = local();
    jo.logIn("jo", "secret");
    users.drop("jo");
    users.with("jo", "another");
    assertEquals("28000", stateOf(jo.call(new Request.OpenSession(60_000, 15_000, OPTIONS))));
    assertTrue(jo.closed);
    assertInstanceOf(Reply.LoggedIn.class, logIn("jo", "another"));
  }

  @Test
  void closedUserIsToldOnceItHasProvenWhoItIs() {
    Local jo = local();
    jo.logIn("jo", "secret");
    audit.clear();
    users.close("jo", "user JO is locked");
    Reply.Failure ended = assertInstanceOf(Reply.Failure.class, jo.call(new Request.Ping()));
    assertEquals("28000", ended.sqlState());
    assertEquals("user JO is locked", ended.message());
    assertTrue(jo.closed);
    Reply.Failure refused = assertInstanceOf(Reply.Failure.class, logIn("jo", "secret"));
    assertEquals("28000", refused.sqlState());
    assertEquals("user JO is locked", refused.message());
    Reply.Failure wrong = assertInstanceOf(Reply.Failure.class, logIn("jo", "wrong"));
    assertTrue(wrong.message().startsWith("the user, the password"), wrong.message());
    assertEquals(List.of("JO CLOSED", "JO WRONG_PASSWORD"), audit);
  }

  @Test
  void lockClientLogsIn() throws Exception {
    Properties properties = new Properties();
    properties.setProperty("user", "jo");
    properties.setProperty("password", "secret");
    try (LockClient client = LockClient.connect(url(""), properties);
        HeldLock lock = client.acquire("job")) {
      assertEquals("job", lock.name());
    }
  }

  @Test
  void boundLoginNeedsTheCertificateOfThisNode() {
    Local bound = new Local(CERTIFICATE, null);
    List<String> offered = bound.offered();
    assertEquals(List.of(ScramBinding.PLUS, ScramBinding.PLAIN), offered);
    assertInstanceOf(Reply.LoggedIn.class, bound.logIn("jo", "secret", offered));
    assertEquals(List.of("JO by SCRAM-SHA-256-PLUS"), audit);
  }

  @Test
  void removedOfferOfPlusIsNoticed() {
    Local bound = new Local(CERTIFICATE, null);
    bound.offered();
    Reply reply = bound.logIn("jo", "secret", List.of(ScramBinding.PLAIN));
    assertEquals("28000", stateOf(reply));
    assertEquals(List.of("null MALFORMED"), audit);
  }

  @Test
  void certificateNamesTheUser() {
    users.with("host");
    byte[] nothing = {};
    Local certified = new Local(CERTIFICATE, "host");
    assertEquals(
        List.of(ScramBinding.PLUS, ScramBinding.PLAIN, Protocol.EXTERNAL), certified.offered());
    assertInstanceOf(
        Reply.LoggedIn.class, certified.call(new Request.BeginLogin(Protocol.EXTERNAL, nothing)));
    assertEquals(List.of("HOST by EXTERNAL"), audit);
    Local same = new Local(CERTIFICATE, "host");
    same.offered();
    assertInstanceOf(
        Reply.LoggedIn.class,
        same.call(new Request.BeginLogin(Protocol.EXTERNAL, new byte[] {'H', 'o', 's', 't'})));
  }

  @Test
  void certificateOfAnotherUserIsRefused() {
    byte[] jo = {'j', 'o'};
    Local other = new Local(CERTIFICATE, "mo");
    other.offered();
    String refused = ((Reply.Failure) other.call(begin(jo))).message();
    Local missing = new Local(CERTIFICATE, "nobody");
    missing.offered();
    assertEquals(refused, ((Reply.Failure) missing.call(begin(new byte[0]))).message());
    Local none = local();
    none.offered();
    assertEquals(refused, ((Reply.Failure) none.call(begin(jo))).message());
    assertEquals(refused, ((Reply.Failure) logIn("jo", "wrong")).message());
  }

  private static Request begin(byte[] data) {
    return new Request.BeginLogin(Protocol.EXTERNAL, data);
  }

  @Test
  void guessingIsSlowedAndOthersAreNot() {
    for (int i = 0; i < 4; i++) {
      assertEquals("28000", stateOf(logIn("jo", "guess" + i)));
    }
    Local held = local();
    assertInstanceOf(Reply.Ok.class, held.logIn("jo", "secret"));
    assertEquals(List.of(Duration.ofMillis(250)), held.delays);
    // other users at this address, and this user at other addresses
    assertInstanceOf(Reply.LoggedIn.class, logIn("mo", "new"));
    Local elsewhere = local();
    elsewhere.address = "10.0.0.2";
    assertInstanceOf(Reply.LoggedIn.class, elsewhere.logIn("jo", "secret"));
    nanos.addAndGet(Duration.ofMillis(250).toNanos());
    held.delayed.run();
    assertInstanceOf(Reply.LoggedIn.class, held.replies.get(held.replies.size() - 1));
    // a success forgets
    assertInstanceOf(Reply.LoggedIn.class, logIn("jo", "secret"));
  }

  @Test
  void unknownUsersAreSlowedAlike() {
    for (String user : new String[] {"jo", "nobody"}) {
      List<String> seen = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        Local local = local();
        Reply reply = local.logIn(user, "guess");
        while (local.delayed != null) {
          nanos.addAndGet(local.delays.get(0).toNanos());
          Runnable work = local.delayed;
          local.delayed = null;
          work.run();
          reply = local.replies.get(local.replies.size() - 1);
        }
        seen.add(stateOf(reply) + " " + local.delays);
      }
      assertEquals(
          List.of(
              "28000 []",
              "28000 []",
              "28000 []",
              "28000 []",
              "28000 [PT0.25S]",
              "28000 [PT0.5S]",
              "28000 [PT1S]",
              "28000 [PT2S]"),
          seen,
          user);
      assertEquals("53300", stateOf(logIn(user, "guess")));
      nanos.addAndGet(Duration.ofSeconds(4).toNanos());
      assertEquals("28000", stateOf(logIn(user, "guess")));
    }
  }

  @Test
  void refusedWhileWaitingIsNotCheckedLater() {
    for (int i = 0; i < 4; i++) {
      logIn("jo", "guess");
    }
    Local held = local();
    held.logIn("jo", "secret");
    assertEquals("28000", stateOf(held.call(new Request.AskNodeStatus())));
    int said = held.replies.size();
    held.delayed.run();
    assertEquals(said, held.replies.size());
    assertFalse(held.trusted);
  }

  @Test
  void delayIsKeptOnSocketsToo() throws Exception {
    // the clock of the node stands still, so every login waits in full
    for (int i = 0; i < 7; i++) {
      String url = url("password=wrong&user=jo");
      assertThrows(SQLException.class, () -> DriverManager.getConnection(url));
    }
    long start = System.nanoTime();
    DriverManager.getConnection(url("user=jo&password=secret")).close();
    assertTrue(System.nanoTime() - start >= TimeUnit.MILLISECONDS.toNanos(1_990));
  }

  /** Steps of logins in any order, with changed bytes: nobody gets in, and no step throws. */
  @Test
  void changedLoginsNeverSucceed() throws Exception {
    long seed = Long.getLong("tollgate.seed", 1);
    Random random = new Random(seed);
    FuzzedMessages messages = new FuzzedMessages(random);
    for (int i = 0; i < CHANGED_LOGINS; i++) {
      Local local = new Local(random.nextBoolean() ? CERTIFICATE : null, null);
      local.address = "a" + i;
      ScramBinding binding = ScramBinding.choose(local.binding, local.offered());
      ScramClient scram = new ScramClient("jo", binding);
      byte[] first = scram.first();
      byte[] begun = random.nextBoolean() ? first : messages.mutated(first);
      Reply reply = local.call(new Request.BeginLogin(binding.mechanism(), begun));
      if (reply instanceof Reply.LoginChallenge challenge) {
        try {
          byte[] proof = proof(scram, challenge, i % 50 == 0 ? "secret" : "wrong");
          byte[] sent = messages.mutated(proof);
          boolean same = Arrays.equals(sent, proof) && Arrays.equals(begun, first);
          reply = same ? reply : local.call(new Request.ContinueLogin(sent));
        } catch (ScramException e) {
          reply = local.call(messages.login());
        }
      }
      assertFalse(local.trusted, "seed " + seed + ", login " + i + ": " + reply);
      assertTrue(
          local.closed || reply instanceof Reply.LoginChallenge,
          "seed " + seed + ", login " + i + ": " + reply);
    }
    assertTrue(audit.stream().noneMatch(line -> line.contains(" by ")), audit.toString());
  }

  @Test
  void connectionsCutInTheMiddleLeaveNothing() throws Exception {
    ScramClient scram = new ScramClient("jo", ScramBinding.choose(null, List.of()));
    for (int step = 0; step < 3; step++) {
      try (RawClient client = new RawClient(node.listenAddress())) {
        if (step > 0) {
          client.call(HELLO);
        }
        if (step > 1) {
          client.call(new Request.BeginLogin(ScramBinding.PLAIN, scram.first()));
          client.send(new byte[] {0, 0, 0, 100, 0x15});
        }
      }
    }
    try (Connection connection = DriverManager.getConnection(url(""), "jo", "secret")) {
      assertTrue(connection.isValid(5));
    }
    assertArrayEquals(new Object[0], audit.stream().filter(s -> !s.startsWith("JO by")).toArray());
  }

  @Test
  void connectionThatDoesNotLogInIsClosed() throws IOException {
    try (RawClient silent = new RawClient(node.listenAddress());
        RawClient greeted = new RawClient(node.listenAddress())) {
      greeted.call(HELLO);
      assertTrue(silent.isClosedByNode());
      assertTrue(greeted.isClosedByNode());
    }
  }
}
