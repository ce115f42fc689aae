package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TimeZone;
import java.util.UUID;
import org.h2.util.DateTimeUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A session has one time zone, wherever and however its statements run. */
@Timeout(120)
@ResourceLock(Resources.TIME_ZONE)
class TimeZonesTest {
  private static final List<String> ZONES = List.of("UTC", "America/New_York", "Europe/Berlin");

  private static final String NOON = "TIMESTAMP '2026-07-15 12:00:00'";

  /** What H2 computes from the zone of the session that defines it, or of the one that uses it. */
  private static final List<String> RULES =
      List.of(
          "V TIMESTAMP WITH TIME ZONE DEFAULT " + NOON,
          "V TIMESTAMP WITH TIME ZONE DEFAULT CAST(" + NOON + " AS TIMESTAMP WITH TIME ZONE)",
          "V TIMESTAMP DEFAULT CAST(TIMESTAMP WITH TIME ZONE '2026-07-15 12:00:00+00' AS TIMESTAMP)",
          "V VARCHAR DEFAULT 'at ' || CAST(" + NOON + " AS TIMESTAMP WITH TIME ZONE)",
          "V INT DEFAULT EXTRACT(TIMEZONE_HOUR FROM " + NOON + ")",
          "V TIMESTAMP WITH TIME ZONE DEFAULT " + NOON + " AT LOCAL",
          "V TIMESTAMP WITH TIME ZONE DEFAULT CAST('2026-07-15 12:00:00' AS TIMESTAMP WITH TIME ZONE)",
          "V TIMESTAMP WITH TIME ZONE DEFAULT '2026-07-15 12:00:00'",
          "W TIMESTAMP DEFAULT " + NOON + ", V TIMESTAMP WITH TIME ZONE GENERATED ALWAYS AS (W)",
          "W DATE DEFAULT DATE '2026-07-15', V VARCHAR GENERATED ALWAYS AS (CAST(CAST(W AS TIMESTAMP"
              + " WITH TIME ZONE) AS VARCHAR))",
          at(
              "V VARCHAR GENERATED ALWAYS AS (CASE WHEN W >= "
                  + NOON
                  + " THEN 'late' ELSE 'early' END)"),
          at("V INT DEFAULT 1, CHECK (W > " + NOON + ")"),
          at("V INT DEFAULT 1, CHECK (W >= " + NOON + ")"),
          at("V INT DEFAULT 1, CHECK (W > CAST(" + NOON + " AS TIMESTAMP WITH TIME ZONE))"),
          at("V INT DEFAULT 1, CHECK (W IN (" + NOON + ", TIMESTAMP '2026-07-15 13:00:00'))"),
          at("V INT DEFAULT 1, CHECK (W NOT IN (" + NOON + ", TIMESTAMP '2026-07-15 13:00:00'))"),
          at("V INT DEFAULT 1, CHECK (W IN (" + NOON + ", TIMESTAMP '2026-07-15 10:00:00', NULL))"),
          at(
              "V VARCHAR DEFAULT CASE CAST("
                  + NOON
                  + " AS TIMESTAMP WITH TIME ZONE) WHEN IN ("
                  + "TIMESTAMP '2026-07-15 12:00:00', TIMESTAMP WITH TIME ZONE '2020-01-01 00:00:00+00')"
                  + " THEN 'in' ELSE 'out' END"),
          at("V INT DEFAULT 1, CHECK (W BETWEEN " + NOON + " AND TIMESTAMP '2026-07-15 13:00:00')"),
          "V VARCHAR DEFAULT (SELECT CAST(" + NOON + " AS TIMESTAMP WITH TIME ZONE))",
          "V VARCHAR DEFAULT (SELECT MAX(CAST(AT AS TIMESTAMP WITH TIME ZONE)) FROM MOMENTS)",
          "V BIGINT DEFAULT EXTRACT(EPOCH FROM " + NOON + ")",
          "V TIMESTAMP DEFAULT "
              + NOON
              + " ON UPDATE CAST(TIMESTAMP WITH TIME ZONE '2026-07-15"
              + " 12:00:00+00' AS TIMESTAMP)",
          "V MOMENT");

  private static final List<String> VIEWS =
      List.of(
          "SELECT CAST(" + NOON + " AS TIMESTAMP WITH TIME ZONE) AS X",
          "SELECT W > "
              + NOON
              + " AS X FROM (VALUES (TIMESTAMP WITH TIME ZONE '2026-07-15"
              + " 11:00:00+00')) T(W)",
          "SELECT COUNT(*) AS X FROM MOMENTS WHERE TZ IN ("
              + NOON
              + ", TIMESTAMP '2026-07-15"
              + " 14:00:00')",
          "SELECT EXTRACT(TIMEZONE_HOUR FROM " + NOON + ") AS X",
          "SELECT " + NOON + " AT LOCAL AS X",
          "SELECT CAST(TZ AS TIMESTAMP) AS X FROM MOMENTS");

  private final TimeZone before = TimeZone.getDefault();

  @TempDir private Path directory;

  private static String at(String rest) {
    return "W TIMESTAMP WITH TIME ZONE DEFAULT TIMESTAMP WITH TIME ZONE '2026-07-15 10:00:00+00', "
        + rest;
  }

  @AfterEach
  void restoreDefault() {
    use(before.getID());
  }

  private static void use(String zone) {
    TimeZone.setDefault(TimeZone.getTimeZone(zone));
    DateTimeUtils.resetCalendar();
  }

  private static Connection open(String url, String zone) throws SQLException {
    Properties properties = new Properties();
    properties.setProperty("timeZone", zone);
    return DriverManager.getConnection(url, properties);
  }

  private static void run(Connection connection, String... statements) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        statement.execute(sql);
      }
    }
  }

  private static String value(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getString(1);
    }
  }

  /** The zone that the node has for the session. */
  private static String zoneOf(Connection connection) throws SQLException {
    return value(
        connection,
        "SELECT SETTING_VALUE FROM INFORMATION_SCHEMA.SETTINGS WHERE SETTING_NAME = 'TIME ZONE'");
  }

  /** The zone in which the driver computes: of an instant, the hour that it sends. */
  private static int hourOfDriver(Connection connection) throws SQLException {
    try (PreparedStatement hour =
        connection.prepareStatement("SELECT EXTRACT(HOUR FROM CAST(? AS TIMESTAMP))")) {
      hour.setTimestamp(1, Timestamp.from(Instant.parse("2026-07-15T12:00:00Z")));
      try (ResultSet row = hour.executeQuery()) {
        row.next();
        return row.getInt(1);
      }
    }
  }

  private static void assertZone(String name, int hour, Connection connection) throws SQLException {
    assertEquals(name, zoneOf(connection));
    assertEquals(hour, hourOfDriver(connection));
    assertEquals(
        hour - 12,
        Integer.parseInt(value(connection, "SELECT EXTRACT(TIMEZONE_HOUR FROM " + NOON + ")")));
  }

  @Test
  void setTimeZoneChangesDriverAndNode() throws Exception {
    use("Asia/Tokyo");
    String url = "jdbc:tollgate:mem:" + UUID.randomUUID();
    try (Connection connection = DriverManager.getConnection(url)) {
      assertZone("Asia/Tokyo", 21, connection);
      run(connection, "SET TIME ZONE 'Europe/Berlin'");
      assertZone("Europe/Berlin", 14, connection);
      run(connection, "set /* to */ time zone '-04:00';");
      assertEquals(8, hourOfDriver(connection));
      try (PreparedStatement set = connection.prepareStatement("SET TIME ZONE ?")) {
        set.setString(1, "UTC+3");
        assertEquals(0, set.executeUpdate());
        assertEquals(15, hourOfDriver(connection));
        set.setObject(1, Duration.ofHours(-2));
        set.execute();
        assertEquals(10, hourOfDriver(connection));
      }
      run(connection, "SET TIME ZONE LOCAL");
      assertZone("Asia/Tokyo", 21, connection);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"'Berlin'", "''", "'+25'", "'Europe/Berlin '"})
  void zoneThatDoesNotExistIsRefusedAsInH2(String zone) throws Exception {
    String url = "jdbc:tollgate:mem:" + UUID.randomUUID();
    try (Connection connection = open(url, "Europe/Berlin");
        Connection h2 = DriverManager.getConnection("jdbc:h2:mem:")) {
      SQLException expected =
          assertThrows(SQLException.class, () -> run(h2, "SET TIME ZONE " + zone));
      SQLException refused =
          assertThrows(SQLException.class, () -> run(connection, "SET TIME ZONE " + zone));
      assertEquals(expected.getErrorCode(), refused.getErrorCode(), refused.getMessage());
      assertEquals(expected.getSQLState(), refused.getSQLState());
      assertZone("Europe/Berlin", 14, connection);
    }
  }

  @Test
  void namesThatNobodyHasAreRefusedWithoutTheLog() throws Exception {
    String url = "jdbc:tollgate:mem:" + UUID.randomUUID();
    try (Connection connection = open(url, "UTC")) {
      String longName = "'" + "x".repeat(100_000) + "'";
      SQLException refused =
          assertThrows(SQLException.class, () -> run(connection, "SET TIME ZONE " + longName));
      assertEquals(90008, refused.getErrorCode());
      assertTrue(refused.getMessage().contains("a name of 100000 characters"));
    }
    SQLException refused = assertThrows(SQLException.class, () -> open(url, "Mars/Olympus"));
    assertEquals("22023", refused.getSQLState());
    assertTrue(refused.getMessage().contains("timeZone=Mars/Olympus is no time zone"));
  }

  /** A pool gives connections back with the zone that they have got, as with H2. */
  @Test
  void aPoolDoesNotResetTheZone() throws Exception {
    use("Europe/Berlin");
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl("jdbc:tollgate:mem:" + UUID.randomUUID());
    config.setMaximumPoolSize(1);
    try (HikariDataSource pool = new HikariDataSource(config)) {
      try (Connection connection = pool.getConnection()) {
        assertZone("Europe/Berlin", 14, connection);
        run(connection, "SET TIME ZONE 'America/New_York'");
      }
      try (Connection connection = pool.getConnection()) {
        assertZone("America/New_York", 8, connection);
        run(connection, "SET TIME ZONE LOCAL");
        assertZone("Europe/Berlin", 14, connection);
      }
    }
  }

  /** In transactions, in batches, under a lock, with a query of the own transaction. */
  @Test
  void everyWayOfRunningAStatementIsInTheZone() throws Exception {
    use("Pacific/Auckland");
    String url = "jdbc:tollgate:mem:" + UUID.randomUUID();
    try (Connection connection = open(url, "Europe/Berlin")) {
      run(connection, "CREATE TABLE T(ID INT PRIMARY KEY, AT TIMESTAMP WITH TIME ZONE)");
      String insert = "INSERT INTO T VALUES(%d, " + NOON + ")";
      run(connection, insert.formatted(1));
      connection.setAutoCommit(false);
      run(connection, insert.formatted(2));
      assertEquals("2", value(connection, "SELECT COUNT(*) FROM T WHERE AT = " + NOON));
      connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
      connection.commit();
      connection.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
      run(connection, insert.formatted(3));
      // it ends with its transaction no more than in H2
      run(connection, "SET TIME ZONE 'America/New_York'");
      assertEquals("0", value(connection, "SELECT COUNT(*) FROM T WHERE AT = " + NOON));
      connection.rollback();
      assertZone("America/New_York", 8, connection);
      connection.setAutoCommit(true);
      run(connection, "SET TIME ZONE 'Europe/Berlin'");
      try (Statement batch = connection.createStatement()) {
        batch.addBatch(insert.formatted(4));
        batch.addBatch(insert.formatted(5));
        batch.executeBatch();
      }
      try (PreparedStatement prepared = connection.prepareStatement("INSERT INTO T VALUES(?, ?)")) {
        for (int id = 6; id < 8; id++) {
          prepared.setInt(1, id);
          prepared.setTimestamp(2, Timestamp.from(Instant.parse("2026-07-15T10:00:00Z")));
          prepared.addBatch();
        }
        prepared.executeBatch();
      }
      run(connection, insert.formatted(8) + " LOCKED BY 'l'");
      assertEquals(
          "7",
          value(
              connection,
              "SELECT COUNT(*) FROM T WHERE AT = TIMESTAMP WITH TIME ZONE '2026-07-15"
                  + " 10:00:00+00'"));
      assertEquals(
          "1",
          value(
              connection,
              "SELECT COUNT(*) FROM FINAL TABLE (UPDATE T SET AT = "
                  + NOON
                  + " WHERE AT = "
                  + NOON
                  + " AND ID = 1)"));
      run(
          connection,
          "CREATE TABLE U AS SELECT CAST(" + NOON + " AS TIMESTAMP WITH TIME ZONE) AS AT",
          "CREATE TABLE W(AT TIMESTAMP)",
          "INSERT INTO W VALUES(" + NOON + ")",
          "ALTER TABLE W ALTER COLUMN AT SET DATA TYPE TIMESTAMP WITH TIME ZONE",
          "ALTER TABLE W ADD COLUMN B TIMESTAMP WITH TIME ZONE DEFAULT " + NOON + " NOT NULL");
      for (String sql : List.of("SELECT AT FROM U", "SELECT AT FROM W", "SELECT B FROM W")) {
        assertEquals("2026-07-15 12:00:00+02", value(connection, sql), sql);
      }
    }
  }

  private static final Request.SessionOptions OPTIONS =
      new Request.SessionOptions(ReadConsistency.ANY, 10_000);

  /** At followers, at the next leader, and at a node that has restored a snapshot. */
  @Test
  void sessionKeepsItsZoneWhereverItGoes() throws Exception {
    try (LocalCluster cluster = LocalCluster.started(directory, 3)) {
      String follower = cluster.follower();
      String url =
          "jdbc:tollgate://127.0.0.1:"
              + cluster.clientAddress(follower).getPort()
              + "/?readConsistency=any&failoverTimeout=60s&timeZone=Asia/Tokyo";
      try (Connection reader = DriverManager.getConnection(url);
          Connection writer = open(cluster.url() + "?failoverTimeout=60s", "UTC")) {
        assertZone("Asia/Tokyo", 21, reader);
        run(writer, "SET TIME ZONE 'Europe/Berlin'");
        run(writer, "CREATE TABLE T(ID INT PRIMARY KEY, AT TIMESTAMP WITH TIME ZONE)");
        run(writer, "INSERT INTO T VALUES(1, " + NOON + ")");
        String first = cluster.leader();
        cluster.stop(first);
        assertZone("Europe/Berlin", 14, writer);
        run(writer, "INSERT INTO T VALUES(2, " + NOON + ")");
        run(reader, "SET TIME ZONE 'America/New_York'");
        assertZone("America/New_York", 8, reader);
        run(reader, "INSERT INTO T VALUES(3, " + NOON + ")");
        run(writer, "CALL take_snapshot()");
        cluster.start(first);
        String second = cluster.leader();
        cluster.stop(second);
        assertZone("Europe/Berlin", 14, writer);
        // what H2 would take for a session if nobody told it
        use("Pacific/Auckland");
        cluster.start(second);
        await()
            .atMost(Duration.ofSeconds(60))
            .untilAsserted(
                () -> {
                  Map<String, String> verdicts = LocalCluster.verify(writer);
                  assertEquals(3, verdicts.size());
                  assertEquals(Set.of("EQUAL"), Set.copyOf(verdicts.values()));
                });
        assertZone("Europe/Berlin", 14, writer);
        assertEquals(
            "2026-07-15 12:00:00+02,2026-07-15 12:00:00+02,2026-07-15 12:00:00-04",
            value(reader, "SELECT LISTAGG(CAST(AT AS VARCHAR)) WITHIN GROUP (ORDER BY ID) FROM T"));
      }
    }
  }

  /** A node that lags behind would read in the former zone. */
  @Test
  void nodeThatLagsBehindTheSettingsOfASessionDoesNotTakeIt() throws Exception {
    try (LocalCluster cluster = LocalCluster.started(directory, 3)) {
      String follower = cluster.follower();
      try (RawClient leader = cluster.client(cluster.leader());
          RawClient other = cluster.client(follower)) {
        Reply.SessionReady session =
            (Reply.SessionReady) leader.call(new Request.OpenSession(60_000, 15_000, OPTIONS));
        await()
            .atMost(Duration.ofSeconds(60))
            .untilAsserted(
                () ->
                    assertInstanceOf(
                        Reply.SessionReady.class, other.call(attach(session, /* setting= */ 0))));
        assertInstanceOf(Reply.NotLeader.class, other.call(attach(session, /* setting= */ 1)));
        assertInstanceOf(Reply.Failure.class, leader.call(attach(session, /* setting= */ 1)));
      }
    }
  }

  private static Request.AttachSession attach(Reply.SessionReady session, long setting) {
    return new Request.AttachSession(
        session.sessionId(), session.secret(), /* leaderOnly= */ false, OPTIONS, setting);
  }

  /** Rows have locks that do not depend on who asks. */
  @Test
  void locksOfRowsAreNamedInUtc() throws Exception {
    use("Asia/Tokyo");
    String url = "jdbc:tollgate:mem:" + UUID.randomUUID();
    try (Connection connection = open(url, "Europe/Berlin")) {
      run(
          connection,
          "CREATE TABLE T(AT TIMESTAMP WITH TIME ZONE PRIMARY KEY, V INT) FENCED BY LOCK"
              + " (CAST(CAST(AT AS TIMESTAMP) AS VARCHAR))");
      String token = value(connection, "CALL acquire_lock('2026-07-15 10:00:00')");
      run(
          connection,
          "INSERT INTO T VALUES("
              + NOON
              + ", 1) FENCED BY LOCK '2026-07-15 10:00:00' TOKEN "
              + token);
      assertEquals("1", value(connection, "SELECT COUNT(*) FROM T"));
    }
  }

  /** As in H2, before and after a restore at a node whose process is in another zone. */
  @Test
  void rulesAndViewsAreWhatTheyAreInH2() throws Exception {
    use("Asia/Tokyo");
    String url = "jdbc:tollgate:embedded:" + directory;
    // H2 would go on with the result that the subquery of a rule had in the first zone
    String h2 = "jdbc:h2:mem:" + UUID.randomUUID() + ";OPTIMIZE_REUSE_RESULTS=FALSE";
    List<String> expected = new ArrayList<>();
    List<String> defined = new ArrayList<>();
    // H2 goes on with the session that has evaluated a rule with a subquery first, and a session
    // of H2 with its first plan of a view
    try (Connection connection = open(url, "Europe/Berlin");
        Connection plain = DriverManager.getConnection(h2)) {
      run(plain, "SET TIME ZONE 'Europe/Berlin'");
      define(plain);
      define(connection);
      for (String zone : ZONES) {
        defined.addAll(used(connection, connection, zone));
        try (Connection views = DriverManager.getConnection(h2)) {
          expected.addAll(used(plain, views, zone));
        }
      }
    }
    assertEquals(String.join("\n", expected), String.join("\n", defined));
    use("Pacific/Auckland");
    List<String> restored = new ArrayList<>();
    try (Connection connection = open(url, "UTC")) {
      for (String zone : ZONES) {
        restored.addAll(used(connection, connection, zone));
      }
    }
    assertEquals(String.join("\n", expected), String.join("\n", restored));
  }

  private static void define(Connection connection) throws SQLException {
    run(
        connection,
        "CREATE DOMAIN MOMENT AS TIMESTAMP WITH TIME ZONE DEFAULT "
            + NOON
            + " CHECK (VALUE IN ("
            + NOON
            + ", TIMESTAMP '2026-07-15 18:00:00'))",
        "CREATE TABLE MOMENTS(AT TIMESTAMP, TZ TIMESTAMP WITH TIME ZONE)",
        "INSERT INTO MOMENTS VALUES(" + NOON + ", " + NOON + ")");
    for (int i = 0; i < RULES.size(); i++) {
      run(connection, "CREATE TABLE T" + i + "(ID INT PRIMARY KEY, " + RULES.get(i) + ")");
    }
    for (int i = 0; i < VIEWS.size(); i++) {
      run(connection, "CREATE VIEW V" + i + " AS " + VIEWS.get(i));
    }
  }

  private static List<String> used(Connection connection, Connection views, String zone)
      throws SQLException {
    run(connection, "SET TIME ZONE '" + zone + "'");
    run(views, "SET TIME ZONE '" + zone + "'");
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < RULES.size(); i++) {
      String name = zone + ": " + RULES.get(i) + " = ";
      try {
        run(connection, "DELETE FROM T" + i, "INSERT INTO T" + i + "(ID) VALUES(1)");
        String inserted = value(connection, "SELECT CAST(V AS VARCHAR) FROM T" + i);
        run(connection, "UPDATE T" + i + " SET ID = 2");
        lines.add(
            name + inserted + ", " + value(connection, "SELECT CAST(V AS VARCHAR) FROM T" + i));
      } catch (SQLException e) {
        lines.add(name + "SQLState " + e.getSQLState());
      }
    }
    for (int i = 0; i < VIEWS.size(); i++) {
      lines.add(
          zone
              + ": "
              + VIEWS.get(i)
              + " = "
              + value(views, "SELECT CAST(X AS VARCHAR) FROM V" + i));
    }
    return lines;
  }
}
