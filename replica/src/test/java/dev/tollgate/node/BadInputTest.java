package dev.tollgate.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.wire.KeyRequest;
import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.TransactionMode;
import dev.tollgate.wire.WireWriter;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever comes in gets an error of its own, loses nothing, and leaves the node up. */
class BadInputTest {
  private static Node node;
  private static InetSocketAddress address;
  private static String url;

  @BeforeAll
  static void startNode() throws Exception {
    node = new Node(LoopbackSettings.of("n1", null));
    node.start();
    address = node.listenAddress();
    url = "jdbc:tollgate://127.0.0.1:" + address.getPort() + "/";
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE T(ID INT PRIMARY KEY)");
      statement.execute("INSERT INTO T VALUES(1)");
    }
  }

  @AfterAll
  static void stopNode() {
    node.close();
  }

  @AfterEach
  void nodeIsUpAndHasLostNothing() throws SQLException {
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT COUNT(*) FROM T")) {
      row.next();
      assertEquals(1, row.getInt(1));
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "SELECT acquire_lock('x', 999) | 55T01 | lease 999 was never created",
        "SELECT acquire_lock(?) | 22023 | lock name is NULL",
        "SELECT acquire_lock('x', NULL) | 22023 | lease is NULL",
        "SELECT acquire_lock('x', 0, NULL) | 22023 | wait is NULL",
        "SELECT acquire_lock('x', 0, -1) | 22023 | wait is -1 ms",
        "SELECT acquire_lock('x', 0, 3600001) | 22023 | wait is 3600001 ms",
        "SELECT acquire_lock('x', 0, INTERVAL '61' MINUTE) | 22023 | wait is 3660000 ms",
        "SELECT acquire_lock(17) | 22023 | lock name is of type",
        "SELECT acquire_lock('x', 'y') | 22023 | lease is of type",
        "SELECT acquire_locks(ARRAY['x', 5]) | 22023 | an array has elements of the types",
        "SELECT create_lease(-1) | 22023 | ttl is -1 ms",
        "SELECT create_lease(0) | 22023 | ttl is 0 ms",
        "SELECT create_lease(INTERVAL '25' HOUR) | 22023 | ttl is 90000000 ms",
        "SELECT create_lease(NULL) | 22023 | ttl is NULL",
        "SELECT create_lease('long') | 22023 | ttl in milliseconds is of type",
        "SELECT renew_lease(999) | 55T01 | lease 999 was never created",
        "SELECT renew_lease(NULL) | 22023 | lease is NULL",
        "SELECT revoke_lease(999) | 55T01 | lease 999 was never created",
        "SELECT release_lock('x', 999) | 55T01 | lease 999 was never created",
        "SELECT holds_lock('x', 'y') | 22023 | token is of type",
        "UPDATE T SET ID = 1 FENCED BY LOCK 'x' TOKEN 99 | 23T01 | write refused: token 99 of lock 'x'",
        "ALTER TABLE NOWHERE FENCED BY LOCK 'x' | 42S02 | Table \"NOWHERE\" not found",
        "ALTER TABLE T NOT FENCED | 55T03 | table PUBLIC.T is not fenced",
        "SET FENCING TOKEN ? FOR LOCK 'x' | 00000 | ",
        "SET FENCED BY LOCK 'x' TOKEN ? | 22023 | token is NULL",
        "SET FENCED BY LOCK ? TOKEN 1 | 22023 | lock name is NULL",
        "INSERT INTO T VALUES(1) | 23505 | Unique index or primary key violation",
        "SELECT * FROM NOWHERE | 42S02 | Table \"NOWHERE\" not found",
        "ROLLBACK TO SAVEPOINT S | 90063 | Savepoint is invalid: \"S\"",
        "SET TIME ZONE 'Asia/Edo' | 90008 | Invalid value \"'Asia/Edo'\" for parameter \"TIME ZONE\"",
        "SET SCHEMA TOLLGATE | 42T01 | line 1",
        "SET SCHEMA NOWHERE | 90079 | Schema \"NOWHERE\" not found"
      })
  void statementIsRefusedWithItsOwnErrorAndState(String sql, String state, String message)
      throws SQLException {
    try (Connection connection = DriverManager.getConnection(url);
        PreparedStatement statement = connection.prepareStatement(sql)) {
      if (sql.contains("?")) {
        statement.setString(1, null);
      }
      if (state.equals("00000")) {
        statement.execute();
        return;
      }
      SQLException refused = assertThrows(SQLException.class, statement::execute);
      assertEquals(state, refused.getSQLState(), refused.getMessage());
      assertTrue(refused.getMessage().startsWith(message), refused.getMessage());
    } catch (SQLException atPrepare) {
      assertEquals(state, atPrepare.getSQLState(), atPrepare.getMessage());
      assertTrue(atPrepare.getMessage().startsWith(message), atPrepare.getMessage());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 256, 100_000})
  void lockNameOfTheWrongLengthIsRefused(int length) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url);
        PreparedStatement statement = connection.prepareStatement("SELECT acquire_lock(?)")) {
      statement.setString(1, "x".repeat(length));
      SQLException refused = assertThrows(SQLException.class, statement::executeQuery);
      assertEquals("22023", refused.getSQLState());
      assertTrue(refused.getMessage().startsWith("the lock name"), refused.getMessage());
    }
  }

  @Test
  void lockNameOfTheLargestLengthIsAccepted() throws SQLException {
    try (Connection connection = DriverManager.getConnection(url);
        PreparedStatement statement = connection.prepareStatement("SELECT acquire_lock(?)")) {
      statement.setString(1, "x".repeat(255));
      assertTrue(statement.executeQuery().next());
    }
  }

  @Test
  void statementOfMoreThanAMebibyteIsRefused() throws SQLException {
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      String sql = "SELECT '" + "x".repeat(1 << 20) + "'";
      SQLException refused = assertThrows(SQLException.class, () -> statement.executeQuery(sql));
      assertEquals("54000", refused.getSQLState(), refused.getMessage());
    }
  }

  @Test
  void wrongNumberOfParametersIsRefused() throws Exception {
    try (RawClient client = new RawClient(address)) {
      client.hello();
      client.call(
          new Request.OpenSession(
              60_000, 15_000, new Request.SessionOptions(ReadConsistency.LINEARIZABLE, 10_000)));
      Reply.Failure failure = (Reply.Failure) client.call(execute(1, new byte[] {0, 0}));
      assertEquals("90012", failure.sqlState(), failure.message());
      failure = (Reply.Failure) client.call(execute(2, new byte[] {0, 1, 99}));
      assertEquals("08004", failure.sqlState(), failure.message());
    }
  }

  private static Request execute(long sequence, byte[] parameters) {
    return new Request.Execute(
        sequence,
        true,
        TransactionMode.AUTOCOMMIT,
        false,
        "DELETE FROM T WHERE ID = ?",
        new KeyRequest.None(),
        0,
        0,
        List.of(parameters));
  }

  @Test
  void foreignProtocolIsToldSoAndDisconnected() throws IOException {
    try (RawClient client = new RawClient(address)) {
      client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      Reply.Failure failure = (Reply.Failure) client.receive();
      assertEquals("08004", failure.sqlState());
      assertTrue(failure.message().contains("speaks the Tollgate protocol"), failure.message());
      assertTrue(client.isClosedByNode());
    }
  }

  @Test
  void requestBeforeTheHelloIsRefused() throws IOException {
    try (RawClient client = new RawClient(address)) {
      Reply.Failure failure = (Reply.Failure) client.call(new Request.Ping());
      assertTrue(failure.message().contains("the first request has to be a hello"));
      assertTrue(client.isClosedByNode());
    }
  }

  @Test
  void helloOfALaterVersionIsRefusedWithBothVersions() throws IOException {
    try (RawClient client = new RawClient(address)) {
      Reply.Failure failure =
          (Reply.Failure)
              client.call(
                  new Request.Hello(
                      Protocol.VERSION + 1, Protocol.VERSION + 3, "app", "host", "1"));
      String versions = "the client " + (Protocol.VERSION + 1) + " to " + (Protocol.VERSION + 3);
      assertTrue(failure.message().contains(versions), failure.message());
      assertTrue(client.isClosedByNode());
    }
  }

  @Test
  void hugeFrameIsRefusedBeforeItIsRead() throws IOException {
    try (RawClient client = new RawClient(address)) {
      client.send(new WireWriter().i32(Integer.MAX_VALUE).u8(1).toByteArray());
      Reply.Failure failure = (Reply.Failure) client.receive();
      assertTrue(failure.message().contains("2147483647 bytes"), failure.message());
      assertTrue(client.isClosedByNode());
    }
  }

  @Test
  void randomBytesNeverStopTheNode() throws IOException {
    Random random = new Random(5);
    for (int i = 0; i < 300; i++) {
      try (RawClient client = new RawClient(address)) {
        if (i % 2 == 0) {
          client.hello();
        }
        byte[] noise = new byte[random.nextInt(200)];
        random.nextBytes(noise);
        if (i % 3 == 0) {
          client.sendFrame(random.nextInt(32), noise);
        } else {
          client.send(noise);
        }
      }
    }
  }

  @Test
  void connectionBeyondTheLimitIsToldSo() throws Exception {
    try (Node small =
        new Node(
            new NodeSettings(
                "small",
                null,
                null,
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                2,
                Duration.ZERO))) {
      small.start();
      try (RawClient first = new RawClient(small.listenAddress());
          RawClient second = new RawClient(small.listenAddress());
          RawClient third = new RawClient(small.listenAddress())) {
        first.hello();
        second.hello();
        Reply.Failure failure = (Reply.Failure) third.greet();
        assertEquals("53300", failure.sqlState(), failure.message());
        assertTrue(third.isClosedByNode());
      }
    }
  }
}
