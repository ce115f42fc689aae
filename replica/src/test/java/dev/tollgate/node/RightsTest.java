package dev.tollgate.node;

import static dev.tollgate.node.TestSql.one;
import static dev.tollgate.node.TestSql.run;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.lock.LockClient;
import dev.tollgate.lock.LockException;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What users may do, case by case. {@link RightsMatrixTest} has every statement and every right.
 */
@Timeout(900)
class RightsTest {

  /** Not enough rights for an object, as H2 reports it. */
  private static final String OBJECT = "90096";

  /** Rights that H2 knows nothing of. */
  private static final String OWN = "42501";

  private static Node node;
  private static Connection admin;

  @BeforeAll
  static void start() throws Exception {
    node = TestUsers.node("ROOT", "root-password");
    admin = connect("root", "root");
    for (String user : List.of("VICTIM")) {
      run(admin, "CREATE USER " + user + " PASSWORD '" + user + "-password'");
    }
  }

  @AfterAll
  static void stop() throws Exception {
    admin.close();
    node.close();
  }

  private static Connection connect(@Nullable String user, @Nullable String password)
      throws SQLException {
    return DriverManager.getConnection(url(), properties(user, password));
  }

  private static String url() {
    return "jdbc:tollgate://127.0.0.1:" + node.listenAddress().getPort() + "/";
  }

  private static Properties properties(@Nullable String user, @Nullable String password) {
    Properties properties = new Properties();
    if (user != null && password != null) {
      properties.put("user", user);
      properties.put("password", password + "-password");
    }
    properties.put("lockWait", "10ms");
    return properties;
  }

  private static @Nullable String refusal(Connection connection, String sql) {
    try {
      run(connection, sql);
      return null;
    } catch (SQLException e) {
      return e.getSQLState();
    }
  }

  @Test
  void clientWithoutUserIsRefused() {
    SQLException e = assertThrows(SQLException.class, () -> connect(null, null).close());
    assertEquals("28000", e.getSQLState(), e.getMessage());
    SQLException wrong = assertThrows(SQLException.class, () -> connect("root", "toor").close());
    assertEquals("28000", wrong.getSQLState(), wrong.getMessage());
  }

  @Test
  void grantsAllowWhatTheySay() throws Exception {
    run(admin, "CREATE USER ANN PASSWORD 'ann-password'");
    run(admin, "CREATE SCHEMA G");
    run(admin, "CREATE TABLE G.T (ID INT PRIMARY KEY, A INT, W VARCHAR DEFAULT CURRENT_USER)");
    run(admin, "CREATE VIEW G.V AS SELECT A FROM G.T");
    run(admin, "CREATE SEQUENCE G.S");
    run(admin, "CREATE ROLE CLERK");
    run(admin, "GRANT CLERK TO ANN");
    try (Connection ann = connect("ann", "ann")) {
      assertEquals("ANN", one(ann, "SELECT CURRENT_USER"));
      assertEquals("ANN", ann.getMetaData().getUserName());
      assertEquals(OBJECT, refusal(ann, "SELECT * FROM G.T"));
      run(admin, "GRANT INSERT ON G.T TO ANN");
      run(ann, "INSERT INTO G.T (ID, A) VALUES (1, 1)");
      assertEquals("ANN", one(admin, "SELECT W FROM G.T WHERE ID = 1"));
      assertEquals(OBJECT, refusal(ann, "SELECT * FROM G.T"));
      run(admin, "GRANT SELECT ON G.V TO CLERK");
      assertEquals("1", one(ann, "SELECT A FROM G.V"));
      run(admin, "GRANT SELECT, UPDATE ON SCHEMA G TO CLERK");
      run(ann, "UPDATE G.T SET A = 2");
      assertEquals(OBJECT, refusal(ann, "DELETE FROM G.T"));
      assertEquals(OBJECT, refusal(ann, "SELECT NEXT VALUE FOR G.S"));
      run(admin, "GRANT USAGE ON SEQUENCE G.S TO CLERK");
      assertEquals("1", one(ann, "SELECT NEXT VALUE FOR G.S"));
      run(admin, "DROP SEQUENCE G.S");
      run(admin, "CREATE SEQUENCE G.S");
      assertEquals(OBJECT, refusal(ann, "SELECT NEXT VALUE FOR G.S"));
      run(admin, "GRANT INSERT ON SCHEMA G TO PUBLIC");
      assertEquals("1", one(ann, "SELECT NEXT VALUE FOR G.S"));
      run(admin, "REVOKE INSERT ON SCHEMA G FROM PUBLIC");
      run(admin, "DROP ROLE CLERK");
      assertEquals(OBJECT, refusal(ann, "UPDATE G.T SET A = 3"));
    }
  }

  /** One statement of a user that nobody has thought about does not keep everybody waiting. */
  @Test
  void userHasAWorkLimitFromTheBeginning() throws Exception {
    run(admin, "CREATE USER UNA PASSWORD 'una-password'");
    run(admin, "CREATE USER VIC PASSWORD 'vic-password' WORK LIMIT 100");
    String limit = "SELECT WORK_LIMIT FROM TOLLGATE.USERS WHERE USER_NAME = '%s'";
    assertEquals("10", one(admin, limit.formatted("UNA")));
    assertEquals("100", one(admin, limit.formatted("VIC")));
  }

  @Test
  void rightsOnLocksFollowPatterns() throws Exception {
    run(admin, "CREATE USER LEE PASSWORD 'lee-password'");
    run(admin, "CREATE ROLE BILLING");
    run(admin, "GRANT BILLING TO LEE");
    run(admin, "GRANT LOCK ON 'pay-%' TO BILLING");
    run(admin, "GRANT LOCK ON '100\\%' TO LEE");
    try (Connection lee = connect("lee", "lee");
        Connection other = connect("root", "root")) {
      assertTrue(one(lee, "SELECT acquire_lock('pay-1')") != null);
      assertTrue(one(lee, "SELECT acquire_lock('pay-')") != null);
      assertTrue(one(lee, "SELECT acquire_lock('100%')") != null);
      assertEquals(OWN, refusal(lee, "SELECT acquire_lock('100x')"));
      assertEquals(OWN, refusal(lee, "SELECT acquire_lock('paying')"));
      assertEquals(OWN, refusal(lee, "SELECT acquire_locks(ARRAY['pay-2', 'x'])"));
      one(other, "SELECT acquire_lock('secret')");
      assertEquals("3", one(lee, "SELECT COUNT(*) FROM TOLLGATE.LOCKS"));
      assertEquals("LEE", one(lee, "SELECT MAX(USER_NAME) FROM TOLLGATE.SESSIONS"));
      assertEquals("LEE", one(lee, "SELECT MAX(USER_NAME) FROM TOLLGATE.LEASES"));
      assertEquals("LEE", one(lee, "SELECT MAX(USER_NAME) FROM TOLLGATE.USERS"));
      assertEquals("2", one(lee, "SELECT COUNT(*) FROM TOLLGATE.RIGHTS"));
      assertEquals(OWN, refusal(lee, "SELECT force_release_lock('pay-1')"));
      run(admin, "GRANT FORCE ON 'pay-1' TO LEE");
      assertEquals("TRUE", one(lee, "SELECT force_release_lock('pay-1')"));
      run(admin, "REVOKE BILLING FROM LEE");
      assertEquals(OWN, refusal(lee, "SELECT acquire_lock('pay-3')"));
    }
  }

  /** INFORMATION_SCHEMA shows rights that concern the user, and no numbers of rows of others. */
  @Test
  void catalogShowsAUserWhatConcernsIt() throws Exception {
    run(admin, "CREATE USER MIA PASSWORD 'mia-password'");
    run(admin, "CREATE USER ZOE PASSWORD 'zoe-password'");
    run(admin, "CREATE ROLE SALES");
    run(admin, "CREATE ROLE TRADE");
    run(admin, "GRANT SALES TO TRADE");
    run(admin, "GRANT TRADE TO MIA");
    run(admin, "CREATE SCHEMA CAT");
    run(admin, "CREATE SCHEMA OF_MIA AUTHORIZATION MIA");
    run(admin, "CREATE SEQUENCE CAT.S START WITH 7");
    run(admin, "CREATE TABLE OF_MIA.T (ID INT PRIMARY KEY)");
    run(admin, "GRANT DELETE ON OF_MIA.T TO ZOE");
    for (String grant : List.of("A TO MIA", "B TO ZOE", "C TO PUBLIC", "D TO SALES")) {
      String table = "CAT." + grant.charAt(0);
      run(admin, "CREATE TABLE " + table + " (ID INT GENERATED ALWAYS AS IDENTITY PRIMARY KEY)");
      run(admin, "INSERT INTO " + table + " VALUES (DEFAULT), (DEFAULT)");
      run(admin, "GRANT SELECT ON " + table + grant.substring(1));
    }
    try (Connection mia = connect("mia", "mia")) {
      for (String view : List.of("TABLE_PRIVILEGES", "COLUMN_PRIVILEGES")) {
        String rights =
            "SELECT LISTAGG(TABLE_NAME || ' ' || GRANTEE, ', ') WITHIN GROUP (ORDER BY TABLE_NAME)"
                + " FROM INFORMATION_SCHEMA."
                + view
                + " WHERE TABLE_SCHEMA IN ('CAT', 'OF_MIA')";
        assertEquals("A MIA, C PUBLIC, D SALES, T ZOE", one(mia, rights));
        assertEquals("A MIA, B ZOE, C PUBLIC, D SALES, T ZOE", one(admin, rights));
      }
      DatabaseMetaData seen = mia.getMetaData();
      assertEquals(List.of("A", "C", "D"), tablesOf(seen.getTablePrivileges(null, "CAT", "%")));
      assertEquals(List.of("A"), tablesOf(seen.getColumnPrivileges(null, "CAT", "A", "%")));
      assertEquals(List.of(), tablesOf(seen.getColumnPrivileges(null, "CAT", "B", "%")));
      String estimates =
          "SELECT LISTAGG(TABLE_NAME || ' ' || ROW_COUNT_ESTIMATE, ', ') WITHIN GROUP"
              + " (ORDER BY TABLE_NAME) FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = 'CAT'"
              + " AND LAST_MODIFICATION IS NOT NULL";
      assertEquals("A 2, C 2, D 2", one(mia, estimates));
      assertEquals("A 2, B 2, C 2, D 2", one(admin, estimates));
      String identities =
          "SELECT COUNT(IDENTITY_BASE) FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_SCHEMA = 'CAT'";
      assertEquals("3", one(mia, identities));
      assertEquals("4", one(admin, identities));
      String sequences =
          "SELECT BASE_VALUE FROM INFORMATION_SCHEMA.SEQUENCES WHERE SEQUENCE_SCHEMA = 'CAT'";
      assertNull(one(mia, sequences));
      assertEquals("7", one(admin, sequences));
      for (String table : List.of("A", "B")) {
        assertEquals(table.equals("A") ? 2 : 0, rowsOf(mia, table), table);
        assertEquals(2, rowsOf(admin, table), table);
      }
    }
    run(admin, "DROP SCHEMA CAT CASCADE");
    run(admin, "DROP SCHEMA OF_MIA CASCADE");
    run(admin, "DROP ROLE SALES");
    run(admin, "DROP ROLE TRADE");
  }

  private static List<String> tablesOf(ResultSet rows) throws SQLException {
    List<String> found = new ArrayList<>();
    try (rows) {
      while (rows.next()) {
        found.add(rows.getString("TABLE_NAME"));
      }
    }
    return found;
  }

  /** The number of rows that the index of a primary key has, for DatabaseMetaData. */
  private static long rowsOf(Connection connection, String table) throws SQLException {
    try (ResultSet rows = connection.getMetaData().getIndexInfo(null, "CAT", table, true, true)) {
      assertTrue(rows.next());
      return rows.getLong("CARDINALITY");
    }
  }

  /** A token is a number that anybody may have read: it serves only users with the right LOCK. */
  @Test
  void tokenIsNoRight() throws Exception {
    run(admin, "CREATE USER IVY PASSWORD 'ivy-password'");
    run(admin, "CREATE TABLE FENCED_T (ID INT PRIMARY KEY) FENCED BY LOCK 'fence-1'");
    run(admin, "CREATE TABLE ROWS_T (ID INT PRIMARY KEY, A INT) FENCED BY LOCK ('fence-' || ID)");
    run(admin, "GRANT SELECT, INSERT, UPDATE ON FENCED_T TO IVY");
    run(admin, "GRANT SELECT, INSERT, UPDATE ON ROWS_T TO IVY");
    try (Connection ivy = connect("ivy", "ivy");
        Connection holder = connect("root", "root")) {
      String token = one(holder, "SELECT acquire_lock('fence-1')");
      run(holder, "INSERT INTO ROWS_T VALUES (1, 1)");
      for (String sql :
          List.of(
              "INSERT INTO FENCED_T VALUES (1)",
              "INSERT INTO FENCED_T VALUES (1) FENCED BY LOCK 'fence-1' TOKEN " + token,
              "INSERT INTO FENCED_T VALUES (1) FENCED BY LOCK 'fence-1' TOKEN 1",
              "UPDATE ROWS_T SET A = 2",
              "UPDATE ROWS_T SET A = 2 FENCED BY LOCK 'fence-1' TOKEN " + token)) {
        assertRefused(ivy, sql, token);
      }
      assertNull(
          one(ivy, "SELECT HIGHEST_TOKEN FROM TOLLGATE.FENCES WHERE TABLE_NAME = 'FENCED_T'"));
      try (LockClient client = LockClient.connect(url(), properties("ivy", "ivy"))) {
        LockException e =
            assertThrows(LockException.class, () -> client.onHolderChange("fence-1", any -> {}));
        assertEquals(OWN, e.sqlState());
        run(admin, "GRANT AUDIT ON CLUSTER TO IVY");
        assertEquals("1", one(ivy, "SELECT COUNT(*) FROM TOLLGATE.LOCKS"));
        assertTrue(client.holder("fence-1").isEmpty(), "a holder without its token");
        run(admin, "REVOKE AUDIT ON CLUSTER FROM IVY");
      }
      run(ivy, "SET FENCING TOKEN " + token + " FOR LOCK 'fence-1'");
      assertRefused(ivy, "INSERT INTO FENCED_T VALUES (1)", token);
      run(ivy, "SET FENCED BY LOCK 'fence-1' TOKEN " + token);
      assertRefused(ivy, "INSERT INTO FENCED_T VALUES (1)", token);
      run(admin, "GRANT LOCK ON 'fence-1' TO IVY");
      run(ivy, "INSERT INTO FENCED_T VALUES (1)");
      assertEquals(token, one(ivy, "SELECT lock_token('fence-1')"));
      assertEquals("1", one(admin, "SELECT COUNT(*) FROM FENCED_T"));
      ivy.setAutoCommit(false);
      run(ivy, "INSERT INTO FENCED_T VALUES (2)");
      run(admin, "REVOKE LOCK ON 'fence-1' FROM IVY");
      SQLException e = assertThrows(SQLException.class, ivy::commit);
      assertEquals(OWN, e.getSQLState(), e.getMessage());
      assertEquals("1", one(admin, "SELECT COUNT(*) FROM FENCED_T"));
    }
    run(
        admin,
        "DROP TABLE FENCED_T FENCED BY LOCK 'fence-1' TOKEN "
            + one(admin, "SELECT acquire_lock('fence-1')"));
    run(admin, "DROP TABLE ROWS_T");
  }

  private static void assertRefused(Connection connection, String sql, String token) {
    SQLException e = assertThrows(SQLException.class, () -> run(connection, sql), sql);
    assertEquals(OWN, e.getSQLState(), e.getMessage());
    assertFalse(e.getMessage().contains("token " + token), e.getMessage());
    assertFalse(e.getMessage().contains("held"), e.getMessage());
  }

  /**
   * A serializable transaction keeps all other writers out, so whoever begins one has to be a
   * writer.
   */
  @Test
  void userWhoMayWriteNothingStallsNobody() throws Exception {
    run(admin, "CREATE USER SAM PASSWORD 'sam-password'");
    run(admin, "CREATE ROLE WRITER");
    run(admin, "CREATE TABLE SERIAL_T (ID INT PRIMARY KEY)");
    run(admin, "GRANT SELECT ON SERIAL_T TO SAM");
    try (Connection sam = connect("sam", "sam")) {
      sam.setAutoCommit(false);
      sam.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
      assertEquals(OWN, refusal(sam, "SELECT 1"));
      run(admin, "INSERT INTO SERIAL_T VALUES (1)");
      sam.rollback();
      run(admin, "GRANT INSERT ON SERIAL_T TO WRITER");
      assertEquals(OWN, refusal(sam, "SELECT * FROM SERIAL_T"));
      sam.rollback();
      run(admin, "GRANT WRITER TO SAM");
      assertEquals("1", one(sam, "SELECT COUNT(*) FROM SERIAL_T"));
      sam.rollback();
      run(admin, "DROP TABLE SERIAL_T");
      assertEquals(OWN, refusal(sam, "SELECT 1"));
      sam.rollback();
      run(admin, "CREATE SCHEMA OF_SAM AUTHORIZATION SAM");
      assertNull(refusal(sam, "SELECT 1"));
      sam.rollback();
    }
    run(admin, "DROP SCHEMA OF_SAM");
    run(admin, "DROP ROLE WRITER");
  }

  @Test
  void droppedUserLosesSessionsAndLocks() throws Exception {
    run(admin, "CREATE USER TOM PASSWORD 'tom-password'");
    run(admin, "GRANT LOCK ON 'tom' TO TOM");
    Connection tom = connect("tom", "tom");
    one(tom, "SELECT create_lease(600000)");
    String token = one(tom, "SELECT acquire_lock('tom')");
    run(admin, "DROP USER TOM");
    assertFalse(String.valueOf(token).equals(one(admin, "SELECT lock_token('tom')")));
    assertNull(one(admin, "SELECT lock_token('tom')"));
    assertEquals("0", one(admin, "SELECT COUNT(*) FROM TOLLGATE.LEASES WHERE USER_NAME = 'TOM'"));
    assertEquals("0", one(admin, "SELECT COUNT(*) FROM TOLLGATE.SESSIONS WHERE USER_NAME = 'TOM'"));
    assertThrows(SQLException.class, () -> one(tom, "SELECT acquire_lock('tom')"));
    SQLException e = assertThrows(SQLException.class, () -> connect("tom", "tom").close());
    assertEquals("28000", e.getSQLState());
  }

  @Test
  void passwordOfFewCharactersIsRefused() {
    for (String sql :
        List.of(
            "CREATE USER SHORT PASSWORD 'seven77'",
            "ALTER USER VICTIM SET PASSWORD 'seven77'",
            "ALTER USER VICTIM ADD PASSWORD 'seven77'",
            "SET PASSWORD 'seven77'")) {
      SQLException refused = assertThrows(SQLException.class, () -> run(admin, sql), sql);
      assertTrue(refused.getMessage().contains("has 7 characters"), refused.getMessage());
      assertFalse(refused.toString().contains("seven77"), refused.toString());
    }
  }

  @Test
  void connectionOfADroppedUserIsNotTheNextUserOfItsName() throws Exception {
    run(admin, "CREATE USER KIM PASSWORD 'kim-password'");
    Connection kim = connect("kim", "kim");
    assertEquals("KIM", one(kim, "SELECT CURRENT_USER"));
    run(admin, "DROP USER KIM");
    run(admin, "CREATE USER KIM PASSWORD 'another-password' ADMIN");
    SQLException refused = assertThrows(SQLException.class, () -> one(kim, "SELECT CURRENT_USER"));
    // the node has ended the connection, and refuses the login of the next one
    assertTrue(
        List.of("28000", "08003", "08006", "08007").contains(refused.getSQLState()),
        refused.toString());
    connect("kim", "another").close();
    run(admin, "DROP USER KIM");
  }

  @Test
  void passwordsAreRotated() throws Exception {
    run(admin, "CREATE USER PAT PASSWORD 'one-password'");
    run(admin, "ALTER USER PAT ADD PASSWORD 'two-password'");
    connect("pat", "one").close();
    connect("pat", "two").close();
    run(admin, "ALTER USER PAT DROP OLD PASSWORD");
    assertThrows(SQLException.class, () -> connect("pat", "one").close());
    try (Connection pat = connect("pat", "two")) {
      run(pat, "SET PASSWORD 'three-password'");
    }
    connect("pat", "three").close();
    assertThrows(SQLException.class, () -> connect("pat", "two").close());
  }

  @Test
  void lastAdministratorStays() {
    assertEquals("55T07", refusal(admin, "DROP USER ROOT"));
    assertEquals("55T07", refusal(admin, "ALTER USER ROOT ADMIN FALSE"));
  }
}
