package dev.tollgate.node;

import static dev.tollgate.node.TestSql.one;
import static dev.tollgate.node.TestSql.run;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A view, a DEFAULT, an ON UPDATE, a GENERATED column and a CHECK run with the rights of the owner
 * of their schema, at each use (ADR 0119).
 */
@Timeout(300)
class StoredExpressionRightsTest {
  private static final String OBJECT = "90096";

  private static Node node;
  private static Connection admin;
  private static Connection owner;
  private static Connection reader;

  @BeforeAll
  static void start() throws Exception {
    node = TestUsers.node("ROOT", "root-password");
    admin = connect("ROOT", "root-password");
    for (String user : List.of("OWNER", "READER")) {
      run(admin, "CREATE USER " + user + " PASSWORD '" + user + "-password'");
    }
    owner = connect("OWNER", "OWNER-password");
    reader = connect("READER", "READER-password");
    run(admin, "CREATE TABLE SECRET (ID INT PRIMARY KEY, A INT)");
    run(admin, "INSERT INTO SECRET VALUES (1, 42)");
    run(admin, "CREATE SEQUENCE NUMBERS");
  }

  @AfterAll
  static void stop() throws Exception {
    reader.close();
    owner.close();
    admin.close();
    node.close();
  }

  private static Connection connect(String user, String password) throws SQLException {
    Properties properties = new Properties();
    properties.put("user", user);
    properties.put("password", password);
    return DriverManager.getConnection(
        "jdbc:tollgate://127.0.0.1:" + node.listenAddress().getPort() + "/", properties);
  }

  private static @Nullable String refusal(Connection connection, String sql) {
    try {
      run(connection, sql);
      return null;
    } catch (SQLException e) {
      return e.getSQLState();
    }
  }

  /** Makes a schema of OWNER, in which READER may do everything with tables. */
  private static void schema(String name) throws SQLException {
    run(admin, "CREATE SCHEMA " + name + " AUTHORIZATION OWNER");
    run(admin, "GRANT ALL ON SCHEMA " + name + " TO READER");
  }

  private static void owners(String sql) throws SQLException {
    run(owner, sql);
  }

  @Test
  void sequenceInAStoredExpressionNeedsUsageWhenItIsDefined() throws Exception {
    schema("S1");
    owners("CREATE TABLE S1.T (ID INT)");
    owners("CREATE DOMAIN S1.E AS INT");
    for (String sql :
        List.of(
            "CREATE TABLE S1.U (ID INT, N INT DEFAULT NEXT VALUE FOR PUBLIC.NUMBERS)",
            "CREATE TABLE S1.U (ID INT, N INT ON UPDATE NEXT VALUE FOR PUBLIC.NUMBERS)",
            "CREATE TABLE S1.U (ID INT, N INT GENERATED ALWAYS AS (NEXT VALUE FOR PUBLIC.NUMBERS))",
            "CREATE TABLE S1.U (ID INT, CHECK (NEXT VALUE FOR PUBLIC.NUMBERS > ID))",
            "CREATE TABLE S1.U (ID INT, N INT DEFAULT (SELECT NEXT VALUE FOR PUBLIC.NUMBERS))",
            "ALTER TABLE S1.T ADD COLUMN N INT DEFAULT NEXT VALUE FOR PUBLIC.NUMBERS",
            "ALTER TABLE S1.T ADD COLUMN N INT ON UPDATE NEXT VALUE FOR PUBLIC.NUMBERS",
            "ALTER TABLE S1.T ALTER COLUMN ID SET DEFAULT NEXT VALUE FOR PUBLIC.NUMBERS",
            "ALTER TABLE S1.T ALTER COLUMN ID SET ON UPDATE NEXT VALUE FOR PUBLIC.NUMBERS",
            "ALTER TABLE S1.T ALTER COLUMN ID BIGINT DEFAULT NEXT VALUE FOR PUBLIC.NUMBERS",
            "ALTER TABLE S1.T ADD CHECK (NEXT VALUE FOR PUBLIC.NUMBERS > ID)",
            "CREATE DOMAIN S1.D AS INT DEFAULT NEXT VALUE FOR PUBLIC.NUMBERS",
            "ALTER DOMAIN S1.E SET DEFAULT NEXT VALUE FOR PUBLIC.NUMBERS",
            "CREATE DOMAIN S1.D AS INT ON UPDATE NEXT VALUE FOR PUBLIC.NUMBERS")) {
      assertEquals(OBJECT, refusal(owner, sql), sql);
    }
    assertEquals("1", one(admin, "SELECT BASE_VALUE FROM INFORMATION_SCHEMA.SEQUENCES"));
  }

  /** Replicas must name the same one, and where objects are in memory differs between them. */
  @Test
  void firstOfManyMissingRightsIsNamed() throws Exception {
    schema("S9");
    run(admin, "CREATE TABLE MANY (A INT)");
    run(admin, "GRANT SELECT ON MANY TO OWNER");
    owners("CREATE TABLE S9.T (A INT)");
    for (int group = 0; group < 4; group++) {
      List<String> views = new ArrayList<>();
      for (int view = 0; view < 8; view++) {
        views.add("S9.V" + (7 - view) + group);
        owners("CREATE VIEW " + views.get(view) + " AS SELECT A FROM PUBLIC.MANY");
      }
      Collections.sort(views);
      String sql =
          "INSERT INTO S9.T SELECT A FROM " + String.join(" UNION ALL SELECT A FROM ", views);
      assertNull(refusal(owner, sql));
      run(admin, "REVOKE SELECT ON MANY FROM OWNER");
      try (Statement statement = owner.createStatement()) {
        SQLException refused = assertThrows(SQLException.class, () -> statement.execute(sql));
        assertTrue(
            refused.getMessage().contains("which view S9.V7" + group + " reads"),
            refused.getMessage());
      }
      run(admin, "GRANT SELECT ON MANY TO OWNER");
    }
  }

  /** H2 writes such names with escapes. */
  @Test
  void rightsOfTheOwnerHoldForNamesThatAreNotAscii() throws Exception {
    schema("S10");
    run(admin, "CREATE TABLE \"GEHÄLTER\" (A INT)");
    run(admin, "CREATE SEQUENCE \"Z\\ÄHLER\uD83D\uDD12\"");
    run(admin, "GRANT SELECT ON \"GEHÄLTER\" TO OWNER");
    run(admin, "GRANT USAGE ON SEQUENCE \"Z\\ÄHLER\uD83D\uDD12\" TO OWNER");
    owners("CREATE VIEW S10.\"ÜBERSICHT\" AS SELECT A FROM PUBLIC.\"GEHÄLTER\"");
    owners("CREATE VIEW S10.V AS SELECT A FROM S10.\"ÜBERSICHT\"");
    owners(
        "CREATE TABLE S10.T (ID INT, N INT DEFAULT NEXT VALUE FOR"
            + " PUBLIC.\"Z\\ÄHLER\uD83D\uDD12\")");
    owners("CREATE TABLE S10.U (ID INT, N INT DEFAULT (SELECT MAX(A) FROM PUBLIC.\"GEHÄLTER\"))");
    assertNull(refusal(owner, "SELECT A FROM S10.V"));
    assertNull(refusal(owner, "INSERT INTO S10.T (ID) VALUES (1)"));
    assertNull(refusal(owner, "INSERT INTO S10.U (ID) VALUES (1)"));
    run(admin, "REVOKE SELECT ON \"GEHÄLTER\" FROM OWNER");
    run(admin, "REVOKE USAGE ON SEQUENCE \"Z\\ÄHLER\uD83D\uDD12\" FROM OWNER");
    assertEquals("90096", refusal(owner, "SELECT A FROM S10.V"));
    assertEquals("90096", refusal(owner, "SELECT A FROM S10.\"ÜBERSICHT\""));
    assertEquals("90096", refusal(owner, "INSERT INTO S10.T (ID) VALUES (2)"));
    assertEquals("90096", refusal(owner, "INSERT INTO S10.U (ID) VALUES (2)"));
  }

  @Test
  void defaultDrawsWhileTheOwnerMayUseTheSequence() throws Exception {
    schema("S2");
    run(admin, "CREATE SEQUENCE TICKETS");
    run(admin, "GRANT USAGE ON SEQUENCE TICKETS TO OWNER");
    owners("CREATE TABLE S2.T (ID INT, N INT DEFAULT NEXT VALUE FOR PUBLIC.TICKETS)");
    owners("CREATE TABLE S2.P (ID INT PRIMARY KEY)");
    owners("CREATE DOMAIN S2.D AS INT DEFAULT NEXT VALUE FOR PUBLIC.TICKETS");
    owners("CREATE TABLE S2.U (ID INT, N S2.D)");
    owners(
        "CREATE TABLE S2.C (ID INT DEFAULT NEXT VALUE FOR PUBLIC.TICKETS REFERENCES S2.P ON DELETE"
            + " SET DEFAULT)");
    assertNull(refusal(reader, "INSERT INTO S2.T (ID) VALUES (1)"), "needs no right of his own");
    assertNull(refusal(reader, "INSERT INTO S2.U (ID) VALUES (1)"));
    run(admin, "REVOKE USAGE ON SEQUENCE TICKETS FROM OWNER");
    for (String sql :
        List.of(
            "INSERT INTO S2.T (ID) VALUES (2)",
            "INSERT INTO S2.U (ID) VALUES (2)",
            "UPDATE S2.T SET N = DEFAULT",
            "MERGE INTO S2.T KEY (ID) VALUES (3, DEFAULT)",
            "SELECT * FROM FINAL TABLE (INSERT INTO S2.T (ID) VALUES (2))",
            "DELETE FROM S2.P")) {
      assertEquals(OBJECT, refusal(reader, sql), sql);
      assertEquals(OBJECT, refusal(owner, sql), sql);
      assertEquals(OBJECT, refusal(admin, sql), sql);
    }
    assertNull(refusal(reader, "DELETE FROM S2.T"), "evaluates nothing");
    run(admin, "CREATE SCHEMA OF_READER AUTHORIZATION READER");
    String own = "CREATE TABLE OF_READER.T (ID INT, N S2.D)";
    run(admin, "GRANT USAGE ON SEQUENCE TICKETS TO OWNER");
    assertEquals(OBJECT, refusal(reader, own), "a domain lends no right");
    run(admin, own);
    assertEquals(OBJECT, refusal(reader, "INSERT INTO OF_READER.T (ID) VALUES (1)"));
    run(admin, "GRANT USAGE ON SEQUENCE TICKETS TO PUBLIC");
    assertNull(refusal(reader, "INSERT INTO S2.T (ID) VALUES (2)"));
  }

  @Test
  void viewReadsWhileTheOwnerMayRead() throws Exception {
    schema("S3");
    run(admin, "GRANT SELECT ON SECRET TO OWNER");
    owners("CREATE VIEW S3.V AS SELECT A FROM PUBLIC.SECRET");
    owners("CREATE VIEW S3.W AS WITH Q AS (SELECT * FROM S3.V) SELECT * FROM Q WHERE A > 0");
    owners("CREATE VIEW S3.X AS SELECT 1 AS B WHERE EXISTS (SELECT 1 FROM PUBLIC.SECRET)");
    owners("CREATE VIEW S3.Y AS SELECT '\"a\".\"' AS C, A FROM PUBLIC.SECRET");
    owners("CREATE TABLE S3.T (ID INT)");
    assertEquals("42", one(reader, "SELECT A FROM S3.W"));
    List<String> uses =
        List.of(
            "SELECT * FROM S3.V",
            "SELECT * FROM S3.W",
            "SELECT * FROM S3.X",
            "SELECT * FROM S3.Y",
            "SELECT (SELECT MAX(A) FROM S3.V)",
            "SELECT * FROM (SELECT * FROM S3.V) Q",
            "WITH Q AS (SELECT * FROM S3.V) SELECT * FROM Q",
            "SELECT * FROM S3.T WHERE ID IN (SELECT A FROM S3.V)",
            "EXPLAIN SELECT * FROM S3.V",
            "EXPLAIN ANALYZE SELECT * FROM S3.V",
            "SELECT * FROM S3.V FOR UPDATE",
            "INSERT INTO S3.T SELECT A FROM S3.V",
            "INSERT INTO S3.T VALUES ((SELECT MAX(A) FROM S3.V))",
            "UPDATE S3.T SET ID = (SELECT MAX(A) FROM S3.V)",
            "DELETE FROM S3.T WHERE ID IN (SELECT A FROM S3.V)",
            "MERGE INTO S3.T USING S3.V ON T.ID = V.A WHEN NOT MATCHED THEN INSERT VALUES (V.A)");
    for (String sql : uses) {
      assertEquals(
          sql.contains("S3.V FOR") ? refusal(admin, sql) : null, refusal(reader, sql), sql);
    }
    try (PreparedStatement prepared = reader.prepareStatement("SELECT A FROM S3.V")) {
      try (ResultSet rows = prepared.executeQuery()) {
        rows.next();
        assertEquals(42, rows.getInt(1));
      }
      run(admin, "REVOKE SELECT ON SECRET FROM OWNER");
      assertEquals(OBJECT, state(prepared));
    }
    for (String sql : uses) {
      if (!sql.contains("S3.V FOR")) {
        assertEquals(OBJECT, refusal(reader, sql), sql);
        assertEquals(OBJECT, refusal(admin, sql), sql);
      }
    }
    assertEquals(OBJECT, refusal(owner, "CREATE TABLE S3.COPY AS SELECT * FROM S3.V"));
    run(admin, "GRANT SELECT ON SECRET TO PUBLIC");
    assertEquals("42", one(reader, "SELECT A FROM S3.W"));
    run(admin, "REVOKE SELECT ON SECRET FROM PUBLIC");
    assertNull(refusal(owner, "DROP VIEW S3.X"));
  }

  private static @Nullable String state(PreparedStatement prepared) {
    try {
      prepared.executeQuery().close();
      return null;
    } catch (SQLException e) {
      return e.getSQLState();
    }
  }

  @Test
  void roleThatOwnsASchemaHasItsOwnRights() throws Exception {
    run(admin, "CREATE ROLE TEAM");
    run(admin, "GRANT TEAM TO OWNER");
    run(admin, "CREATE ROLE READERS");
    run(admin, "GRANT READERS TO TEAM");
    run(admin, "CREATE SCHEMA S4 AUTHORIZATION TEAM");
    run(admin, "CREATE SEQUENCE OF_TEAM");
    run(admin, "GRANT SELECT ON SECRET TO READERS");
    run(admin, "GRANT USAGE ON SEQUENCE OF_TEAM TO READERS");
    owners("CREATE VIEW S4.V AS SELECT A FROM PUBLIC.SECRET");
    owners("CREATE TABLE S4.T (ID INT, N INT DEFAULT NEXT VALUE FOR PUBLIC.OF_TEAM)");
    assertEquals("42", one(owner, "SELECT A FROM S4.V"));
    owners("INSERT INTO S4.T (ID) VALUES (1)");
    run(admin, "REVOKE READERS FROM TEAM");
    assertEquals(OBJECT, refusal(owner, "SELECT A FROM S4.V"));
    assertEquals(OBJECT, refusal(owner, "INSERT INTO S4.T (ID) VALUES (1)"));
    run(admin, "DROP ROLE READERS");
  }

  @Test
  void ruleReadsATableWhileTheOwnerMayRead() throws Exception {
    schema("S5");
    run(admin, "CREATE TABLE RATES (ID INT PRIMARY KEY, A INT)");
    run(admin, "GRANT SELECT ON RATES TO OWNER");
    String query = "(SELECT MAX(A) FROM PUBLIC.RATES)";
    owners("CREATE TABLE S5.D (ID INT, N INT DEFAULT " + query + ")");
    owners("CREATE TABLE S5.O (ID INT, N INT ON UPDATE " + query + ")");
    owners("CREATE TABLE S5.G (ID INT, N INT GENERATED ALWAYS AS (ID + " + query + "))");
    owners("CREATE VIEW S5.V AS SELECT * FROM PUBLIC.RATES");
    owners("CREATE TABLE S5.E (ID INT, N INT DEFAULT (SELECT MAX(A) FROM S5.V))");
    owners("CREATE TABLE S5.C (ID INT, CHECK (ID > COALESCE(" + query + ", 0)))");
    owners("INSERT INTO S5.O (ID) VALUES (1)");
    List<String> uses =
        List.of(
            "INSERT INTO S5.D (ID) VALUES (1)",
            "INSERT INTO S5.E (ID) VALUES (1)",
            "UPDATE S5.O SET ID = 2",
            "INSERT INTO S5.G (ID) VALUES (1)",
            "INSERT INTO S5.C (ID) VALUES (1)");
    for (String sql : uses) {
      assertNull(refusal(reader, sql), sql);
    }
    run(admin, "REVOKE SELECT ON RATES FROM OWNER");
    for (String sql : uses) {
      assertEquals(OBJECT, refusal(reader, sql), sql);
    }
    assertEquals(OBJECT, refusal(owner, "ALTER TABLE S5.G ADD COLUMN M INT"));
    assertNull(refusal(owner, "ALTER TABLE S5.G DROP COLUMN N"));
    assertNull(refusal(owner, "ALTER TABLE S5.D ALTER COLUMN N DROP DEFAULT"));
    assertNull(refusal(reader, "INSERT INTO S5.D (ID) VALUES (1)"));
  }
}
