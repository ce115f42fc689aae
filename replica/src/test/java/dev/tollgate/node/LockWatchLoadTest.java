package dev.tollgate.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a client asks of locks with many holders keeps nobody else waiting. */
class LockWatchLoadTest {
  private static final int LEASES = Protocol.MAX_WATCHED_LOCKS;
  private static final int LOCKS = 8;
  private static final int FRAMES = 60;

  /** What examines all holders for each lease takes minutes for these frames. */
  private static final Duration BOUND = Duration.ofSeconds(30);

  private Node node;
  private Connection connection;

  @BeforeEach
  void start() throws Exception {
    node = new Node(LoopbackSettings.of("n1", null));
    node.start();
    connection =
        DriverManager.getConnection(
            "jdbc:tollgate://127.0.0.1:" + node.listenAddress().getPort() + "/");
  }

  @AfterEach
  void stop() throws Exception {
    connection.close();
    node.close();
  }

  private List<Long> numbers(String sql) throws SQLException {
    List<Long> numbers = new ArrayList<>();
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      while (rows.next()) {
        numbers.add(rows.getLong(1));
      }
    }
    return numbers;
  }

  /** The leases, which hold all locks in shared mode; the tokens are those of the last lock. */
  private List<Long> crowd(List<Long> leases) throws SQLException {
    while (leases.size() < LEASES) {
      leases.addAll(
          numbers("SELECT create_lease(INTERVAL '1' HOUR, 'x') FROM SYSTEM_RANGE(1, 1000)"));
    }
    List<Long> tokens = new ArrayList<>();
    for (int lock = 0; lock < LOCKS; lock++) {
      tokens.clear();
      for (int from = 0; from < LEASES; from += 1_000) {
        tokens.addAll(
            numbers(
                String.format(
                    "SELECT try_acquire_shared_lock('crowded%d', X) FROM SYSTEM_RANGE(%d, %d)",
                    lock, leases.get(from), leases.get(from + 999))));
      }
    }
    return tokens;
  }

  @Test
  void watchesOfCrowdedLocksHoldNobodyUp() throws Exception {
    List<Long> leases = new ArrayList<>();
    List<Long> tokens = crowd(leases);
    List<Long> wrong = tokens.stream().map(token -> token + 1_000_000).toList();
    try (RawClient client = new RawClient(node.listenAddress())) {
      client.hello();
      assertEquals(0, lost(client, new Request.WatchLocks(leases, tokens)).tokens().size());
      assertTrue(lost(client, new Request.WatchLocks(leases, wrong)).tokens().equals(wrong));
      for (int i = 0; i < FRAMES; i++) {
        client.write(new Request.WatchLocks(leases, tokens));
      }
      assertTimeoutPreemptively(
          BOUND,
          () -> {
            assertEquals(1, numbers("SELECT try_acquire_lock('other')").size());
            assertTrue(lostOrRefused(client) > 0);
          });
    }
  }

  /** Receives the answers to all frames, and returns how many were not refused. */
  private static int lostOrRefused(RawClient client) throws IOException {
    int answered = 0;
    for (int i = 0; i < FRAMES; i++) {
      Reply reply = client.receive();
      if (reply instanceof Reply.LocksLost) {
        answered++;
      } else {
        assertInstanceOf(Reply.Failure.class, reply, "more than a connection may watch");
      }
    }
    return answered;
  }

  private static Reply.LocksLost lost(RawClient client, Request request) throws IOException {
    return assertInstanceOf(Reply.LocksLost.class, client.call(request));
  }
}
