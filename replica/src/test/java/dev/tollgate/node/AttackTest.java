package dev.tollgate.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.store.Scripts;
import dev.tollgate.store.SqlDatabase;
import dev.tollgate.wire.Protocol;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.BatchUpdateException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.h2.command.dml.SetTypes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What should not work does not: each statement of attacks.sql, and some that are made here, is
 * refused or harmless, and all the while another connection is served.
 */
@Tag("alone") // it measures how long others wait
class AttackTest {
  /** By steps, by memory, or because no value is as large or as deep. */
  private static final Set<String> ENDED = Set.of("54001", "53200", "22018");

  private static final long WORST_STALL_SECONDS = 2;
  private static final Path FORBIDDEN_FILE = Path.of("/tmp/tollgate-attack");

  private static final List<String> BATCHES =
      List.of(
          "INSERT INTO T SELECT ? + 10, COUNT(*) FROM SYSTEM_RANGE(1, 100000) WHERE MOD(X, 7) = 8",
          "UPDATE T SET V = REPEAT('x', 1000000 + ?)",
          "DELETE FROM T WHERE ID = ? + (SELECT SUM(MOD(X, 7)) FROM SYSTEM_RANGE(1, 100000))");

  private final SqlDatabase database = new SqlDatabase();
  private final List<String> wrong = new ArrayList<>();
  private final Object looking = new Object();
  private volatile long worstStallNanos;
  private volatile String running = "";
  private volatile String worstAttack = "";
  private volatile boolean attacking = true;
  private Node node;
  private Connection attacker;
  private Connection bystander;

  @BeforeEach
  void startNode() throws Exception {
    node = new Node(LoopbackSettings.of("attacked", null), database);
    node.start();
    String url = "jdbc:tollgate://127.0.0.1:" + node.listenAddress().getPort() + "/";
    attacker = DriverManager.getConnection(url);
    bystander = DriverManager.getConnection(url);
    try (Statement statement = attacker.createStatement()) {
      statement.execute("CREATE TABLE T(ID INT PRIMARY KEY, V VARCHAR)");
      statement.execute("CREATE TABLE BEAT(N BIGINT)");
      statement.execute("INSERT INTO BEAT VALUES(0)");
      statement.execute("INSERT INTO T VALUES(1, 'one'), (2, 'two')");
    }
  }

  @AfterEach
  void close() throws SQLException {
    attacker.close();
    bystander.close();
    node.close();
  }

  @Test
  void attacksAreRefusedOrHarmlessAndNobodyElseWaits() throws Exception {
    Thread heart = new Thread(this::beat);
    heart.start();
    String expected = "";
    int attacks = 0;
    for (String line : lines()) {
      if (line.startsWith("-- ") && line.indexOf(' ', 3) < 0) {
        expected = line.substring(3);
      } else if (!line.startsWith("--")) {
        attack(expected, line);
        attacks++;
      }
    }
    for (String sql : generated()) {
      attack("harmless", sql);
      attacks++;
    }
    for (String sql : BATCHES) {
      attackByBatch(sql);
      attacks++;
    }
    attacking = false;
    heart.join();
    long millis = TimeUnit.NANOSECONDS.toMillis(worstStallNanos);
    System.out.println(
        "AttackTest: "
            + attacks
            + " attacks, worst stall of a bystander "
            + millis
            + " ms, during "
            + worstAttack);
    assertEquals(List.of(), wrong);
    assertFalse(Files.exists(FORBIDDEN_FILE));
    assertTrue(millis < TimeUnit.SECONDS.toMillis(WORST_STALL_SECONDS), millis + " ms");
  }

  private void attack(String expected, String sql) throws SQLException {
    String before = fingerprint();
    String outcome = "ran";
    running = shortened(sql);
    try (Statement statement = attacker.createStatement()) {
      statement.setMaxRows(10);
      statement.execute(sql);
    } catch (SQLException e) {
      outcome = e.getSQLState();
      String message = e.getMessage();
      if (outcome == null
          || outcome.startsWith("08")
          || outcome.equals("XX000")
          || message == null) {
        wrong.add(outcome + " " + message + ": " + shortened(sql));
      }
    }
    if (expected.equals("refused") && outcome.equals("ran")) {
      wrong.add("ran: " + shortened(sql));
    }
    if (expected.equals("ended") && !ENDED.contains(outcome)) {
      wrong.add(outcome + " instead of one of " + ENDED + ": " + shortened(sql));
    }
    try (Statement statement = attacker.createStatement()) {
      // one of the attacks sets it, and would keep those after it from doing anything
      statement.execute("SET QUERY_TIMEOUT 0");
    }
    String after = fingerprint();
    if (expected.equals("changes")) {
      assertNotEquals(before, after);
    } else if (!before.equals(after)) {
      wrong.add("changed: " + shortened(sql));
    }
  }

  /** Each set is harmless by itself. */
  private void attackByBatch(String sql) throws SQLException {
    try (PreparedStatement statement = attacker.prepareStatement(sql)) {
      for (int i = 0; i < Protocol.MAX_BATCH_SETS; i++) {
        statement.setInt(1, i);
        statement.addBatch();
      }
      running = "batch of " + sql;
      BatchUpdateException failure =
          assertThrows(BatchUpdateException.class, statement::executeBatch);
      assertEquals("54001", failure.getSQLState(), failure.getMessage());
    }
    try (Statement statement = attacker.createStatement()) {
      statement.executeUpdate("DELETE FROM T WHERE ID > 2");
    }
  }

  private static String shortened(String sql) {
    return sql.length() < 200 ? sql : sql.substring(0, 100) + "... of " + sql.length();
  }

  /** The whole database, but for what the bystander does, and the settings. */
  private String fingerprint() throws SQLException {
    synchronized (looking) {
      return lookAtAll();
    }
  }

  private String lookAtAll() throws SQLException {
    StringBuilder seen = new StringBuilder();
    for (String line : Scripts.of(database)) {
      if (!line.startsWith("INSERT INTO \"PUBLIC\".\"BEAT\"")) {
        seen.append(line).append('\n');
      }
    }
    try (Statement statement = attacker.createStatement();
        ResultSet rows =
            statement.executeQuery(
                "SELECT SETTING_NAME, SETTING_VALUE FROM INFORMATION_SCHEMA.SETTINGS WHERE"
                    + " SETTING_NAME NOT LIKE 'property.%' AND SETTING_NAME NOT LIKE 'info.%' ORDER"
                    + " BY 1")) {
      while (rows.next()) {
        seen.append(rows.getString(1)).append(' ').append(rows.getString(2)).append('\n');
      }
    }
    return seen.toString();
  }

  /** Another client, which writes and reads all the time but while this test looks at all data. */
  private void beat() {
    while (attacking) {
      synchronized (looking) {
        long begun = System.nanoTime();
        try (Statement statement = bystander.createStatement()) {
          statement.executeUpdate("UPDATE BEAT SET N = N + 1");
          statement.executeQuery("SELECT N FROM BEAT").close();
        } catch (SQLException e) {
          synchronized (wrong) {
            wrong.add("bystander: " + e);
          }
          return;
        }
        long nanos = System.nanoTime() - begun;
        if (nanos > worstStallNanos) {
          worstStallNanos = nanos;
          worstAttack = running;
        }
      }
    }
  }

  private static List<String> lines() throws IOException {
    try (InputStream in = AttackTest.class.getResourceAsStream("/attacks.sql")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
    }
  }

  /** Every setting of H2, deep nesting, and long texts. */
  private static List<String> generated() {
    List<String> attacks = new ArrayList<>();
    for (String setting : SetTypes.getTypes()) {
      attacks.add("SET " + setting + " 1");
      attacks.add("SET " + setting + " 'x'");
      attacks.add("SET " + setting + " TRUE");
    }
    int deep = 10_000;
    attacks.add("SELECT " + "(".repeat(deep) + "1" + ")".repeat(deep));
    attacks.add("SELECT " + "(SELECT ".repeat(deep) + "1" + ")".repeat(deep));
    attacks.add("SELECT " + "NOT ".repeat(deep) + "TRUE");
    attacks.add("SELECT " + "- ".repeat(deep) + "1");
    attacks.add("SELECT " + "CASE WHEN TRUE THEN ".repeat(deep) + "1" + " END".repeat(deep));
    attacks.add("SELECT " + "ABS(".repeat(deep) + "1" + ")".repeat(deep));
    attacks.add("SELECT 1" + " + 1".repeat(deep));
    attacks.add("DELETE FROM T WHERE ID = 5" + " + 1".repeat(deep));
    attacks.add("DELETE FROM T WHERE ID = 5" + " OR ID = 6".repeat(deep));
    attacks.add("DELETE FROM T WHERE V = 'x'" + " || 'x'".repeat(deep));
    attacks.add("DELETE FROM T WHERE ID IN (5" + ", 5".repeat(deep) + ")");
    attacks.add("SELECT 1" + " UNION ALL SELECT 1".repeat(deep));
    attacks.add("DELETE FROM T WHERE ID = 5 AND V = '" + "x".repeat((1 << 20) - 100) + "'");
    attacks.add("SELECT '" + "x".repeat(1 << 20) + "'");
    attacks.add("SELECT " + "9".repeat(100_000));
    attacks.add("SELECT \"" + "x".repeat(100_000) + "\" FROM T");
    attacks.addAll(longToPrepare());
    return attacks;
  }

  /** H2 prepares a derived table again and again, the deeper the more often. */
  private static List<String> longToPrepare() {
    List<String> attacks = new ArrayList<>();
    String into = "INSERT INTO T(ID) ";
    for (int levels : new int[] {4, 5, 6, 9, 14}) {
      attacks.add(into + nested(levels, "SELECT -1 ID", "SELECT * FROM (", ") WHERE ID > 0"));
      attacks.add(
          into
              + nested(
                  levels, "SELECT -1 ID", "WITH C(ID) AS (", ") SELECT * FROM C WHERE ID > 0"));
      attacks.add(
          into
              + nested(
                  levels,
                  "SELECT ID FROM T",
                  "SELECT D.ID FROM T A, T B, T C, T E, (",
                  ") D WHERE D.ID = A.ID + 9 AND D.ID = B.ID AND D.ID = C.ID AND D.ID = E.ID"));
      attacks.add(
          "DELETE FROM T WHERE "
              + nested(levels, "ID = 9", "ID IN (SELECT ID FROM (SELECT ID FROM T WHERE ", "))"));
      attacks.add(
          "DELETE FROM T WHERE ID = 9 AND EXISTS ("
              + nested(
                  levels, "SELECT ID FROM T", "SELECT ID FROM (", ") UNION ALL SELECT ID FROM T")
              + ")");
      attacks.add(
          "CREATE OR REPLACE VIEW NESTED AS "
              + nested(levels, "SELECT ID FROM T", "SELECT ID FROM (", ") D JOIN T USING (ID)")
              + " WHERE ERROR");
      attacks.add(
          nested(
              levels,
              "SELECT ID FROM T",
              "SELECT D.ID FROM T A, T B, T C, T E, (",
              ") D WHERE D.ID = A.ID + 9 AND D.ID = B.ID AND D.ID = C.ID AND D.ID = E.ID"));
    }
    String list = " IN (1" + ", 1".repeat(20_000) + ")";
    attacks.add(into + nested(4, "SELECT ID FROM T", "SELECT ID FROM (", ") WHERE ID - 9" + list));
    attacks.add(
        "DELETE FROM T WHERE ID = COALESCE(9"
            + ", (SELECT ID FROM (SELECT ID FROM T))".repeat(2_000)
            + ")");
    attacks.add("DELETE FROM T WHERE ID - 9 IN (1" + ", 1".repeat(300_000) + ")");
    attacks.add(
        "DELETE FROM T WHERE ID = COALESCE(9" + ", (SELECT ID FROM T)".repeat(20_000) + ")");
    return attacks;
  }

  private static String nested(int levels, String inner, String before, String after) {
    return before.repeat(levels) + inner + after.repeat(levels);
  }
}
