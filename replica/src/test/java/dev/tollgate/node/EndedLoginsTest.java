package dev.tollgate.node;

import static dev.tollgate.node.TestSql.run;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.node.admin.HttpCalls;
import dev.tollgate.node.audit.AuditSettings;
import dev.tollgate.node.client.ClientConnection;
import dev.tollgate.wire.Frame;
import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.ScramBinding;
import dev.tollgate.wire.ScramClient;
import dev.tollgate.wire.WireWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What goes on at the doors of a node ends with the login by which it began. */
@Timeout(300)
class EndedLoginsTest {
  private static final String PASSWORD = "first-password";
  private static final Duration DEADLINE = Duration.ofSeconds(30);

  @TempDir private static Path directory;
  private static Node node;
  private static Connection admin;

  @BeforeAll
  static void start() throws Exception {
    node =
        new Node(
            LoopbackSettings.of("n1", null)
                .withAdmin(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .withAudit(new AuditSettings(audit(), AuditSettings.MAX_BYTES, 2, 2)),
            AdminNode.CONNECTIONS,
            TestUsers.administrator("ROOT", PASSWORD));
    node.start();
    await()
        .atMost(DEADLINE)
        .ignoreExceptions()
        .until(
            () -> {
              admin = connect("ROOT");
              return true;
            });
    run(admin, "CREATE TABLE T (ID INT PRIMARY KEY)");
    run(admin, "INSERT INTO T SELECT X FROM SYSTEM_RANGE(1, 1000)");
  }

  private static Path audit() {
    return directory.resolve("audit");
  }

  @AfterAll
  static void stop() throws Exception {
    admin.close();
    node.close();
  }

  @BeforeEach
  void newUser() throws SQLException {
    run(admin, "DROP USER IF EXISTS ANN");
    run(admin, "CREATE USER ANN PASSWORD '" + PASSWORD + "'");
    run(admin, "GRANT SELECT ON T TO ANN");
    run(admin, "GRANT LOCK ON '%' TO ANN");
  }

  private static Connection connect(String user) throws SQLException {
    return DriverManager.getConnection(
        "jdbc:tollgate://127.0.0.1:" + node.listenAddress().getPort() + "/?failoverTimeout=10s",
        user,
        PASSWORD);
  }

  /** A connection within the process that logs in by password. */
  private static final class Client implements ClientConnection.Link {
    private final ClientConnection connection = node.service().connect(this);
    private final List<Frame> replies = new CopyOnWriteArrayList<>();
    private long requests;
    private volatile boolean closed;

    static Client ann() throws Exception {
      Client client = new Client();
      Reply.LoginRequired required =
          assertInstanceOf(
              Reply.LoginRequired.class,
              client.call(new Request.Hello(1, Protocol.VERSION, "app", "host", "1")));
      ScramBinding binding = ScramBinding.choose(null, required.mechanisms());
      ScramClient scram = new ScramClient("ANN", binding);
      Reply.LoginChallenge challenge =
          assertInstanceOf(
              Reply.LoginChallenge.class,
              client.call(new Request.BeginLogin(binding.mechanism(), scram.first())));
      byte[] proof = scram.last(challenge.data(), TestUsers.salted(PASSWORD));
      assertInstanceOf(Reply.LoggedIn.class, client.call(new Request.ContinueLogin(proof)));
      return client;
    }

    @Override
    public void send(Frame frame) {
      if (!closed) {
        replies.add(frame);
      }
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
    public void later(Duration delay, Runnable work) {
      work.run();
    }

    long write(Request request) {
      WireWriter body = new WireWriter();
      request.write(body);
      connection.receive(new Frame(request.type(), ++requests, 0, body.toByteArray()));
      return requests;
    }

    Reply call(Request request) {
      long id = write(request);
      return await()
          .atMost(DEADLINE)
          .until(
              () ->
                  replies.stream()
                      .filter(frame -> frame.requestId() == id)
                      .map(Reply::read)
                      .findFirst()
                      .orElse(null),
              reply -> reply != null);
    }

    String stateAfter(Request request) {
      return assertInstanceOf(Reply.Failure.class, call(request)).sqlState();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ALTER USER ANN ACCOUNT LOCK",
        "DROP USER ANN",
        "ALTER USER ANN SET PASSWORD 'second-password' END SESSIONS"
      })
  void connectionThatOnlyWaitsEndsAtOnce(String sql) throws Exception {
    Client ann = Client.ann();
    run(admin, "SELECT acquire_lock('job')");
    try {
      Reply.Holder holder =
          assertInstanceOf(Reply.Holder.class, ann.call(new Request.AwaitHolder("job", -1)));
      long waits = ann.write(new Request.AwaitHolder("job", holder.token()));
      run(admin, sql);
      await().atMost(DEADLINE).until(() -> ann.closed);
      Frame last = ann.replies.get(ann.replies.size() - 1);
      Reply.Failure why = assertInstanceOf(Reply.Failure.class, Reply.read(last));
      assertEquals("28000", why.sqlState());
      assertEquals(0, last.requestId(), "nobody asked");
      assertTrue(ann.replies.stream().noneMatch(frame -> frame.requestId() == waits));
    } finally {
      ann.connection.disconnected();
      run(admin, "SELECT release_lock('job')");
    }
  }

  /** The entry that locks the account takes the lock away too, which others learn of. */
  @Test
  void lockedUserDoesNotLearnWhoHasItsLocks() throws Exception {
    Client ann = Client.ann();
    try (Connection holder = connect("ANN");
        Statement statement = holder.createStatement()) {
      statement.execute("SELECT acquire_lock('own')");
      Reply.Holder held =
          assertInstanceOf(Reply.Holder.class, ann.call(new Request.AwaitHolder("own", -1)));
      long waits = ann.write(new Request.AwaitHolder("own", held.token()));
      run(admin, "ALTER USER ANN ACCOUNT LOCK");
      await().atMost(DEADLINE).until(() -> ann.closed);
      assertTrue(ann.replies.stream().noneMatch(frame -> frame.requestId() == waits));
    } finally {
      ann.connection.disconnected();
    }
  }

  /** Each part is checked: a download takes minutes. */
  @Test
  void formerAdministratorReadsNoFurtherPartOfASnapshot() throws Exception {
    run(admin, "ALTER USER ANN ADMIN TRUE");
    Client ann = Client.ann();
    Request part = new Request.ReadSnapshot(0, 16);
    assertEquals("40001", ann.stateAfter(part), "there is none, and it may ask");
    run(admin, "ALTER USER ANN ADMIN FALSE");
    assertEquals("42501", ann.stateAfter(part));
    ann.connection.disconnected();
  }

  @Test
  void lockedUserFetchesNoFurtherRows() throws Exception {
    try (Connection ann = connect("ANN");
        Statement statement = ann.createStatement()) {
      statement.setFetchSize(10);
      try (ResultSet rows = statement.executeQuery("SELECT ID FROM T ORDER BY ID")) {
        assertTrue(rows.next());
        run(admin, "ALTER USER ANN ACCOUNT LOCK");
        int read = 1;
        SQLException ended = null;
        while (ended == null && read < 1_000) {
          try {
            assertTrue(rows.next());
            read++;
          } catch (SQLException e) {
            ended = e;
          }
        }
        assertTrue(ended != null && read <= 20, "rows were read: " + read);
      }
    }
  }

  @Test
  void auditHasTheSnapshotsThatAnExpiredAdministratorIsRefused() throws Exception {
    run(admin, "ALTER USER ANN ADMIN TRUE");
    Client ann = Client.ann();
    run(admin, "ALTER USER ANN VALID UNTIL '2000-01-01'");
    assertEquals("28000", ann.stateAfter(new Request.OpenSnapshot(false)));
    assertEquals("28000", ann.stateAfter(new Request.ReadSnapshot(0, 10)));
    await()
        .atMost(DEADLINE)
        .until(
            () ->
                Files.readAllLines(audit()).stream()
                        .filter(
                            line ->
                                line.contains("\"event\":\"access_refused\"")
                                    && line.contains("\"user\":\"ANN\"")
                                    && line.contains("no snapshot is fetched"))
                        .count()
                    == 2);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ALTER USER ANN ACCOUNT LOCK",
        "DROP USER ANN",
        "ALTER USER ANN VALID UNTIL '2000-01-01'",
        "ALTER USER ANN SET PASSWORD 'second-password' END SESSIONS"
      })
  void eventsOfTheConsoleEndAtOnce(String sql) throws Exception {
    CompletableFuture<HttpCalls.Reply> events =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return HttpCalls.get(
                    node.adminAddress(),
                    "/console/events",
                    "Authorization",
                    HttpCalls.basic("ANN", PASSWORD));
              } catch (Exception e) {
                throw new AssertionError(e);
              }
            });
    await().atMost(DEADLINE).until(() -> node.service().liveLogins().requests("ANN") == 1);
    run(admin, sql);
    HttpCalls.Reply ended = events.get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
    assertEquals(200, ended.status(), ended.body());
    assertTrue(ended.body().contains("event: end"), ended.body());
  }
}
