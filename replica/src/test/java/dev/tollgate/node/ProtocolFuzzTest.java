package dev.tollgate.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.tollgate.wire.Frame;
import dev.tollgate.wire.KeyRequest;
import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SqlState;
import dev.tollgate.wire.TransactionMode;
import dev.tollgate.wire.WireWriter;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/**
 * Clients that keep the format of the protocol and none of its rules: numbers repeated and skipped,
 * sessions of others, requests in any order, values at their bounds, and bytes that were changed.
 * Each request is answered or ends its connection, no node meets a bug, all replicas stay equal,
 * and one that begins with its log again becomes equal too.
 *
 * <p>{@code -Dtollgate.fuzz.seed} chooses another run, {@code -Dtollgate.fuzz.rounds} its length,
 * and {@code -Dtollgate.fuzz.seconds} a time after which no further round begins. The messages
 * follow from the seed, not the moments at which nodes get them.
 */
@Timeout(2 * 3_600)
class ProtocolFuzzTest {
  private static final long SEED = Long.getLong("tollgate.fuzz.seed", 1);
  private static final int ROUNDS = Integer.getInteger("tollgate.fuzz.rounds", 5);
  private static final int CLIENTS = 6;
  private static final int MESSAGES_PER_ROUND = 60;

  /** They wait for as long as a parameter says, or for a moment without transactions. */
  private static final Set<String> MAY_TAKE_LONG =
      Set.of("SELECT acquire_lock(?, ?, ?)", "CALL take_snapshot()");

  private static final Map<String, String> ALL_EQUAL =
      Map.of("n1", "EQUAL", "n2", "EQUAL", "n3", "EQUAL");

  @TempDir Path directory;

  /** Connections in each round that end within the bytes of their requests, each at another one. */
  private static final int CUTS_PER_ROUND = 15;

  private long seed = SEED;
  private Random random = new Random(seed);
  private FuzzedMessages messages = new FuzzedMessages(random);
  private int sent;
  private int changed;
  private int cuts;
  private int opened;
  private final List<Session> sessions = new ArrayList<>();
  private final List<Client> clients = new ArrayList<>();
  private LocalCluster cluster;

  /** What a client was told of a session, and the last that was sent in it. */
  private static final class Session {
    final long id;
    final long secret;
    long sequence;
    Request last;
    long lastSequence;

    Session(long id, long secret) {
      this.id = id;
      this.secret = secret;
    }
  }

  /** A connection, and the session that it should have. */
  private static final class Client {
    final FuzzedClient connection;
    Session session;

    Client(FuzzedClient connection) {
      this.connection = connection;
    }
  }

  @Test
  void strangeRequestsDoNoHarm() throws Exception {
    run(ROUNDS, Long.getLong("tollgate.fuzz.seconds", Long.MAX_VALUE));
  }

  @Tag("nightly")
  @Test
  void strangeRequestsDoNoHarmForAnHour() throws Exception {
    seed = System.nanoTime();
    random = new Random(seed);
    messages = new FuzzedMessages(random);
    run(Integer.MAX_VALUE, Long.getLong("tollgate.fuzz.seconds", 3_600));
  }

  private void run(int rounds, long seconds) throws Exception {
    System.out.println("ProtocolFuzzTest: -Dtollgate.fuzz.seed=" + seed);
    long begun = System.nanoTime();
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    Logger root = (Logger) LoggerFactory.getLogger("dev.tollgate");
    root.addAppender(log);
    try (LocalCluster started = LocalCluster.started(directory, 3);
        Connection bystander = started.connect()) {
      cluster = started;
      prepare(bystander);
      for (int round = 0; round < rounds && secondsSince(begun) < seconds; round++) {
        cutConnections();
        for (int i = 0; i < MESSAGES_PER_ROUND; i++) {
          act();
        }
        settle(round, bystander);
      }
      clients.forEach(ProtocolFuzzTest::disconnect);
      requireEqual(bystander, log, "");
      String again = cluster.follower();
      cluster.stop(again);
      cluster.start(again);
      requireEqual(bystander, log, ", " + again + " from its log");
    } finally {
      root.detachAppender(log);
    }
    assertTrue(opened > 0, "no client came further than its hello");
    System.out.println(
        "ProtocolFuzzTest: "
            + sent
            + " messages, "
            + changed
            + " with changed bytes, "
            + opened
            + " sessions, "
            + cuts
            + " connections cut within a message, in "
            + secondsSince(begun)
            + " s");
  }

  private static long secondsSince(long begun) {
    return TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begun);
  }

  /** The first requests of a client, each time cut one byte later than before. */
  private void cutConnections() throws IOException {
    WireWriter all = new WireWriter();
    for (Request request :
        List.of(
            new Request.Hello(1, Protocol.VERSION, "cut", "h", "1"),
            new Request.OpenSession(2_000, 2_000, messages.options()),
            messages.execute(1, messages.statement()))) {
      byte[] body = bodyOf(request);
      new Frame(request.type(), 1, 0, body).writeHeader(all);
      all.raw(body, 0, body.length);
    }
    for (int i = 0; i < CUTS_PER_ROUND; i++) {
      try (FuzzedClient client = new FuzzedClient(cluster.clientAddress(cluster.leader()))) {
        client.send(Arrays.copyOf(all.array(), cuts++ % all.size()));
      }
    }
  }

  private void requireEqual(Connection bystander, ListAppender<ILoggingEvent> log, String when)
      throws SQLException {
    Map<String, String> verdicts = LocalCluster.verify(bystander);
    assertEquals(List.of(), errors(log), "seed " + seed + when);
    assertEquals(ALL_EQUAL, verdicts, "seed " + seed + when);
  }

  private static List<String> errors(ListAppender<ILoggingEvent> log) {
    return List.copyOf(log.list).stream()
        .filter(event -> event.getLevel().isGreaterOrEqual(Level.ERROR))
        .map(ILoggingEvent::toString)
        .toList();
  }

  private static void prepare(Connection bystander) throws SQLException {
    try (Statement statement = bystander.createStatement()) {
      statement.execute(
          "CREATE TABLE F(ID INT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, S VARCHAR, N INT"
              + " DEFAULT 0, AT TIMESTAMP DEFAULT CURRENT_TIMESTAMP)");
      statement.execute("CREATE TABLE G(K VARCHAR PRIMARY KEY, A INT ARRAY, J JSON)");
      statement.execute("CREATE TABLE P(V VARCHAR) FENCED BY LOCK 'job'");
      statement.execute("INSERT INTO F(S) VALUES('1'), ('2'), ('3')");
    }
  }

  /** All that was asked is answered, no node has failed, and others are served. */
  private void settle(int round, Connection bystander) throws SQLException {
    for (Client client : clients) {
      if (client.session != null && !client.connection.hasEnded()) {
        rollBack(client);
      }
    }
    String where = "seed " + seed + ", round " + round;
    for (Client client : clients) {
      client.connection.settle();
      assertEquals(List.of(), client.connection.violations(), where);
    }
    clients.removeIf(client -> client.connection.hasEnded());
    cluster.nodes().forEach((id, node) -> assertNull(node.failure(), where + ", node " + id));
    try {
      requireService(bystander, where);
    } catch (SQLException e) {
      // a client may transfer a lock to this lease, and revoke the lease: that is told once
      assertEquals(SqlState.LEASE_GONE.state(), e.getSQLState(), where + ": " + e);
      requireService(bystander, where);
    }
  }

  private static void requireService(Connection bystander, String where) throws SQLException {
    try (Statement statement = bystander.createStatement();
        ResultSet token = statement.executeQuery("SELECT acquire_lock('bystander')")) {
      assertTrue(token.next() && token.getLong(1) > 0, where);
      statement.execute("SELECT release_lock('bystander')");
    }
  }

  private void rollBack(Client client) {
    Session session = client.session;
    session.sequence += 2;
    session.lastSequence = session.sequence;
    session.last =
        new Request.Execute(
            session.sequence,
            true,
            TransactionMode.READ_COMMITTED,
            false,
            "ROLLBACK",
            new KeyRequest.None(),
            0,
            0,
            List.of(new byte[] {0, 0}));
    send(client, session.last);
  }

  private void act() throws IOException {
    if (clients.size() < CLIENTS) {
      connect();
      return;
    }
    int chosen = random.nextInt(clients.size());
    Client client = clients.get(chosen);
    if (client.connection.hasEnded() || random.nextInt(60) == 0) {
      disconnect(clients.remove(chosen));
      return;
    }
    int action = random.nextInt(41);
    if (client.session == null || action == 0) {
      openSession(client);
    } else if (action == 1) {
      attach(client);
    } else if (action < 22) {
      execute(client);
    } else if (action < 25) {
      repeat(client);
    } else {
      send(client, other(client, action));
    }
  }

  private void connect() throws IOException {
    String node = random.nextInt(4) == 0 ? "n" + (1 + random.nextInt(3)) : cluster.leader();
    Client client = new Client(new FuzzedClient(cluster.clientAddress(node)));
    clients.add(client);
    if (random.nextInt(20) != 0) {
      String host = random.nextInt(20) == 0 ? "h\uD83D" : "h"; // half a character is refused
      send(client, new Request.Hello(1, Protocol.VERSION, "fuzz", host, "1"));
    }
  }

  private static void disconnect(Client client) {
    try {
      client.connection.close();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private void openSession(Client client) {
    long ttl = random.nextInt(6) == 0 ? messages.number() : 2_000 + random.nextInt(20_000);
    long id = send(client, new Request.OpenSession(ttl, 5_000, messages.options()));
    if (id > 0 && client.connection.awaitReply(id) instanceof Reply.SessionReady ready) {
      client.session = new Session(ready.sessionId(), ready.secret());
      sessions.add(client.session);
      opened++;
    }
  }

  /** Takes a session, of which another connection may be in the middle of something. */
  private void attach(Client client) {
    Session session = sessions.get(random.nextInt(sessions.size()));
    boolean forged = random.nextInt(6) == 0;
    long id =
        send(
            client,
            new Request.AttachSession(
                forged ? messages.number() : session.id,
                forged ? messages.number() : session.secret,
                random.nextBoolean(),
                messages.options()));
    if (id > 0 && client.connection.awaitReply(id) instanceof Reply.SessionReady) {
      client.session = session;
    }
  }

  private void execute(Client client) {
    Session session = client.session;
    session.sequence += random.nextInt(15) == 0 ? 1 + random.nextInt(1_000) : 1;
    session.lastSequence = session.sequence;
    sent++;
    session.last =
        random.nextInt(5) == 0
            ? messages.series(session.sequence)
            : messages.execute(session.sequence, messages.statement());
    boolean mayTakeLong =
        session.last instanceof Request.Execute one && MAY_TAKE_LONG.contains(one.sql());
    if (mayTakeLong || random.nextInt(6) == 0) {
      client.connection.unanswered(session.last.type(), bodyOf(session.last));
    } else {
      long id = send(client, session.last);
      if (id > 0) {
        client.connection.awaitReply(id);
      }
    }
  }

  /** Sends something under a number that was used before. */
  private void repeat(Client client) {
    Session session = client.session;
    if (session.last == null) {
      return;
    }
    Request again =
        switch (random.nextInt(4)) {
          case 0 -> session.last;
          case 1 -> messages.execute(session.lastSequence, messages.statement());
          case 2 -> messages.series(session.lastSequence);
          default -> messages.execute(1 + random.nextInt(3), messages.statement());
        };
    client.connection.unanswered(again.type(), bodyOf(again));
  }

  private Request other(Client client, int action) {
    return switch (action) {
      case 25 -> new Request.Ping();
      case 26, 27 -> new Request.Prepare(messages.statement());
      case 28 -> new Request.Fetch(messages.number(), (int) messages.number());
      case 29 -> new Request.CloseCursor(messages.number());
      case 30, 31 -> new Request.Metadata(random.nextInt(40), messages.metadataArguments());
      case 32, 33 -> new Request.Heartbeat(ids(), ids());
      case 34 -> cancel();
      case 35 -> new Request.ReleaseOwnLease();
      case 36 -> closing(client);
      case 37 -> new Request.OpenSnapshot(random.nextBoolean());
      case 38 -> new Request.ReadSnapshot(messages.number(), (int) messages.number());
      case 39 -> messages.login();
      default -> new Request.Hello((int) messages.number() & 3, 1, "", "", "");
    };
  }

  private Request closing(Client client) {
    sessions.remove(client.session);
    client.session = null;
    return new Request.CloseSession();
  }

  private Request cancel() {
    Session session = sessions.get(random.nextInt(sessions.size()));
    return random.nextInt(4) == 0
        ? new Request.Cancel(messages.number(), messages.number(), messages.number())
        : new Request.Cancel(session.id, session.secret, Math.max(1, session.sequence));
  }

  private List<Long> ids() {
    List<Long> ids = new ArrayList<>();
    for (int i = random.nextInt(3); i > 0; i--) {
      ids.add(random.nextInt(8) == 0 ? messages.number() : 1L + random.nextInt(50));
    }
    return ids;
  }

  /**
   * Sends a request, or what became of it; its number, or 0 if the node need not answer it because
   * its bytes were changed.
   */
  private long send(Client client, Request request) {
    byte[] body = bodyOf(request);
    sent++;
    if (random.nextInt(12) == 0) {
      byte[] other = messages.mutated(body);
      changed++;
      switch (random.nextInt(8)) {
        case 0 -> {
          // the node may take all that would follow for the rest of a frame
          client.connection.send(other);
          disconnect(client);
        }
        case 1 -> client.connection.unanswered(random.nextInt(256), other);
        default -> client.connection.unanswered(request.type(), other);
      }
      return 0;
    }
    if (request instanceof Request.CloseCursor || request instanceof Request.OpenSnapshot) {
      client.connection.unanswered(request.type(), body);
      return 0;
    }
    return client.connection.request(request.type(), body, request.toString());
  }

  private static byte[] bodyOf(Request request) {
    WireWriter out = new WireWriter();
    request.write(out);
    return out.toByteArray();
  }
}
