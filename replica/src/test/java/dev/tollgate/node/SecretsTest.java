package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.AppenderBase;
import dev.tollgate.log.WholeFile;
import dev.tollgate.log.peer.NodeIdentity;
import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Properties;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.slf4j.LoggerFactory;

/** Values of statements and secrets of sessions do not get out of a node by the way. */
@Isolated
@Timeout(120)
class SecretsTest {
  private static final String CANARY = "canary-4711";
  private static final Request.SessionOptions OPTIONS =
      new Request.SessionOptions(ReadConsistency.LINEARIZABLE, 1_000);

  @TempDir Path directory;

  private static final class Recorder extends AppenderBase<ILoggingEvent> {
    private final Queue<String> lines = new ConcurrentLinkedQueue<>();

    @Override
    protected void append(ILoggingEvent event) {
      lines.add(
          event.getFormattedMessage()
              + (event.getThrowableProxy() == null
                  ? ""
                  : ThrowableProxyUtil.asString(event.getThrowableProxy())));
    }
  }

  private static Recorder record(Logger logger) {
    Recorder recorder = new Recorder();
    recorder.start();
    logger.addAppender(recorder);
    logger.setLevel(Level.INFO);
    logger.setAdditive(false);
    return recorder;
  }

  private static void assertClean(String where, Iterable<String> lines, List<String> secrets) {
    for (String line : lines) {
      for (String secret : secrets) {
        assertFalse(line.contains(secret), () -> where + ": " + line);
      }
    }
  }

  @Test
  void canariesAreInNoLogViewAuditLineOrThreadName() throws Exception {
    Logger logger = (Logger) LoggerFactory.getLogger("dev.tollgate");
    Level before = logger.getLevel();
    Recorder recorder = record(logger);
    Path audit = Files.createDirectory(directory.resolve("audit"));
    LocalCluster cluster = new LocalCluster(directory.resolve("nodes"), 1, Duration.ZERO, 1 << 20);
    cluster.audit(audit);
    cluster.startAll();
    try (cluster) {
      List<String> secrets = new ArrayList<>(List.of(CANARY));
      secrets.addAll(key(cluster.data(cluster.leader())));
      try (Connection connection = cluster.connect();
          Statement statement = connection.createStatement();
          RawClient client = new RawClient(cluster.clientAddress(cluster.leader()))) {
        client.hello();
        secrets.addAll(useSession(client));
        statement.execute("CREATE TABLE T(ID INT PRIMARY KEY, V VARCHAR UNIQUE CHECK (V <> 'x'))");
        statement.execute("SELECT acquire_lock('job')");
        failInEveryWay(connection, statement);
        assertClean("views", views(statement), secrets);
      }
      assertClean("threads", threads(), secrets);
      cluster.stopAll();
      assertTrue(recorder.lines.size() > 2, "the log was seen: " + recorder.lines);
      assertClean("log", recorder.lines, secrets);
      List<String> lines = new ArrayList<>(Files.readAllLines(audit.resolve("n1")));
      lines.addAll(Files.readAllLines(audit.resolve("n1.activity")));
      assertTrue(lines.stream().anyMatch(line -> line.contains("\"write_refused\"")), "" + lines);
      assertClean("audit", lines, secrets);
    } finally {
      logger.detachAppender(recorder);
      logger.setLevel(before);
      logger.setAdditive(true);
    }
  }

  /** Returns how the key of the cluster may be written. */
  private static List<String> key(Path data) throws Exception {
    Path file = data.resolve(NodeIdentity.FILE);
    await().until(() -> Files.readString(file).contains("cluster-key="));
    Properties identity = new Properties();
    identity.load(new StringReader(WholeFile.read(file)));
    String hex = identity.getProperty("cluster-key");
    byte[] bytes = HexFormat.of().parseHex(hex);
    return List.of(
        hex,
        Base64.getEncoder().encodeToString(bytes),
        Arrays.toString(bytes),
        new String(bytes, StandardCharsets.ISO_8859_1));
  }

  /** Opens a session, and shows a wrong secret for it; returns how the right one may be written. */
  private static List<String> useSession(RawClient client) throws Exception {
    Reply.SessionReady session =
        assertInstanceOf(
            Reply.SessionReady.class,
            client.call(new Request.OpenSession(600_000, 15_000, OPTIONS)));
    assertInstanceOf(
        Reply.Failure.class,
        client.call(
            new Request.AttachSession(session.sessionId(), session.secret() + 1, true, OPTIONS)));
    return List.of(
        Long.toString(session.secret()),
        Long.toHexString(session.secret()),
        Long.toUnsignedString(session.secret()));
  }

  private static void failInEveryWay(Connection connection, Statement statement)
      throws SQLException {
    try (PreparedStatement insert = connection.prepareStatement("INSERT INTO T VALUES(?, ?)")) {
      insert.setInt(1, 1);
      insert.setString(2, CANARY);
      insert.execute();
      insert.setInt(1, 2);
      SQLException duplicate = assertThrows(SQLException.class, insert::execute);
      assertTrue(duplicate.getMessage().contains(CANARY), "the client sees its value");
      insert.addBatch();
      assertThrows(SQLException.class, insert::executeBatch);
    }
    for (String sql :
        List.of(
            "INSERT INTO T VALUES(1, '" + CANARY + "')",
            "INSERT INTO T VALUES('" + CANARY + "', 'y')",
            "UPDATE T SET ID = CAST(V AS INT)",
            "SELECT CAST('" + CANARY + "' AS DATE)",
            "SELECT CAST(V AS INT) FROM T",
            "SELEKT '" + CANARY + "'",
            "SELECT '" + CANARY,
            "SELECT " + "\"" + CANARY + "\" FROM T",
            "SELECT REGEXP_REPLACE(V, '(" + CANARY + "', '') FROM T",
            "SELECT acquire_lock('job', '" + CANARY + "')",
            "INSERT INTO T VALUES(9, '" + CANARY + "9') FENCED BY LOCK 'job' TOKEN 77")) {
      assertThrows(SQLException.class, () -> statement.execute(sql), sql);
    }
  }

  private static List<String> views(Statement statement) throws SQLException {
    List<String> names = new ArrayList<>();
    try (ResultSet found =
        statement.executeQuery(
            "SELECT TABLE_NAME FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = 'TOLLGATE'")) {
      while (found.next()) {
        names.add(found.getString(1));
      }
    }
    assertTrue(names.contains("SESSIONS"), names.toString());
    List<String> cells = new ArrayList<>();
    for (String name : names) {
      try (ResultSet rows = statement.executeQuery("SELECT * FROM TOLLGATE." + name)) {
        while (rows.next()) {
          for (int column = 1; column <= rows.getMetaData().getColumnCount(); column++) {
            cells.add(name + ": " + rows.getString(column));
          }
        }
      }
    }
    assertEquals(1, cells.stream().filter(cell -> cell.equals("LOCKS: job")).count());
    return cells;
  }

  private static List<String> threads() {
    return Thread.getAllStackTraces().keySet().stream().map(Thread::getName).toList();
  }
}
