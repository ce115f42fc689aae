package dev.tollgate.node;

import static dev.tollgate.node.TestSql.one;
import static dev.tollgate.node.TestSql.run;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.UserAccount;
import dev.tollgate.core.command.UserName;
import dev.tollgate.lock.LockClient;
import dev.tollgate.lock.LockException;
import dev.tollgate.sql.LockFunction;
import dev.tollgate.sql.Procedure;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What administrators, owners of schemas, other users and clients without a user may do. */
@Timeout(900)
class RightsTest {
  private static final Duration DEADLINE = Duration.ofSeconds(30);

  /** Not enough rights for an object, and administrators' rights needed, as H2 reports them. */
  private static final String OBJECT = "90096";

  private static final String ADMINISTRATOR = "90040";

  /** Rights that H2 knows nothing of. */
  private static final String OWN = "42501";

  private static Node node;
  private static Connection admin;
  private static int schemas;

  /**
   * A statement, and the SQLStates with which a user without rights and the owner of schema APP are
   * refused; null where they are not. An administrator never is.
   */
  private record Row(String sql, @Nullable String user, @Nullable String owner) {}

  private static final List<Row> MATRIX =
      List.of(
          new Row("SELECT * FROM APP.T", OBJECT, null),
          new Row("WITH Q AS (SELECT * FROM APP.T) SELECT * FROM Q", OBJECT, null),
          new Row("TABLE APP.T", OBJECT, null),
          new Row("SELECT * FROM APP.V", OBJECT, null),
          new Row("SELECT (SELECT MAX(A) FROM APP.T)", OBJECT, null),
          new Row("EXPLAIN SELECT * FROM APP.T", OBJECT, null),
          new Row("EXPLAIN UPDATE APP.T SET A = 1", OBJECT, null),
          new Row("SELECT * FROM APP.T FOR UPDATE", OBJECT, null),
          new Row("SELECT 1", null, null),
          new Row("VALUES 1", null, null),
          new Row("CALL 1 + 1", null, null),
          new Row("SHOW TABLES", null, null),
          new Row("SCRIPT", ADMINISTRATOR, ADMINISTRATOR),
          new Row("INSERT INTO APP.T VALUES (9, 9)", OBJECT, null),
          new Row("INSERT INTO APP.T SELECT ID + 50, A FROM APP.T", OBJECT, null),
          new Row("UPDATE APP.T SET A = 2", OBJECT, null),
          new Row("UPDATE APP.T SET A = 2 LOCKED BY 'app-x'", OWN, OWN),
          new Row("DELETE FROM APP.T", OBJECT, null),
          new Row("MERGE INTO APP.T KEY (ID) VALUES (1, 5)", OBJECT, null),
          new Row(
              "MERGE INTO APP.T USING (VALUES 1) AS N(ID) ON T.ID = N.ID"
                  + " WHEN MATCHED THEN DELETE",
              OBJECT,
              null),
          new Row("SELECT * FROM FINAL TABLE (INSERT INTO APP.T VALUES (8, 8))", OBJECT, null),
          new Row("TRUNCATE TABLE APP.T", OBJECT, null),
          new Row("SELECT NEXT VALUE FOR APP.S", OBJECT, null),
          new Row("INSERT INTO APP.T VALUES (100 + NEXT VALUE FOR APP.S, 1)", OBJECT, null),
          new Row("SELECT NEXT VALUE FOR PUBLIC_S", OBJECT, OBJECT),
          new Row("BEGIN", null, null),
          new Row("COMMIT", null, null),
          new Row("ROLLBACK", null, null),
          new Row("SAVEPOINT P", null, null),
          new Row("CREATE TABLE APP.T2 (ID INT)", OBJECT, null),
          new Row("CREATE TABLE APP.T3 AS SELECT * FROM APP.T", OBJECT, null),
          new Row("CREATE VIEW APP.V2 AS SELECT * FROM APP.T", OBJECT, null),
          new Row("CREATE INDEX APP.I2 ON APP.T (A)", OBJECT, null),
          new Row("CREATE SEQUENCE APP.S2", OBJECT, null),
          new Row("CREATE DOMAIN APP.D2 AS INT", OBJECT, null),
          new Row("CREATE TYPE APP.D3 AS INT", OBJECT, null),
          new Row("CREATE SCHEMA OTHER", ADMINISTRATOR, ADMINISTRATOR),
          new Row("ALTER TABLE APP.T ADD COLUMN B INT", OBJECT, null),
          new Row("ALTER TABLE APP.T FENCED BY LOCK 'app-f'", OBJECT, null),
          new Row("ALTER TABLE APP.F NOT FENCED", OBJECT, OWN),
          new Row("INSERT INTO APP.F VALUES (1)", OWN, OWN),
          new Row("UPDATE APP.T SET A = 2 FENCED BY LOCK 'app-x' TOKEN 1", OBJECT, OWN),
          new Row("ALTER VIEW APP.V RECOMPILE", OBJECT, null),
          new Row("ALTER INDEX APP.I RENAME TO I3", OBJECT, null),
          new Row("ALTER SEQUENCE APP.S RESTART WITH 5", OBJECT, null),
          new Row("ALTER DOMAIN APP.D SET DEFAULT 1", OBJECT, null),
          new Row("ALTER SCHEMA APP RENAME TO APP3", ADMINISTRATOR, ADMINISTRATOR),
          new Row("DROP TABLE APP.T CASCADE", OBJECT, null),
          new Row("DROP VIEW APP.V", OBJECT, null),
          new Row("DROP INDEX APP.I", OBJECT, null),
          new Row("DROP SEQUENCE APP.S", OBJECT, null),
          new Row("DROP DOMAIN APP.D", OBJECT, null),
          new Row("DROP SCHEMA APP CASCADE", OBJECT, null),
          new Row("COMMENT ON TABLE APP.T IS 'x'", OBJECT, null),
          new Row("CREATE ROLE R2", ADMINISTRATOR, ADMINISTRATOR),
          new Row("DROP ROLE R", ADMINISTRATOR, ADMINISTRATOR),
          new Row("GRANT R TO MALLORY", ADMINISTRATOR, ADMINISTRATOR),
          new Row("REVOKE R FROM MALLORY", ADMINISTRATOR, ADMINISTRATOR),
          new Row("GRANT SELECT ON APP.T TO MALLORY", OBJECT, null),
          new Row("REVOKE SELECT ON APP.T FROM MALLORY", OBJECT, null),
          new Row("GRANT SELECT ON SCHEMA APP TO MALLORY", OBJECT, null),
          new Row("GRANT USAGE ON SEQUENCE APP.S TO MALLORY", OWN, OWN),
          new Row("GRANT LOCK ON 'app-%' TO MALLORY", OWN, OWN),
          new Row("REVOKE LOCK ON 'app-%' FROM MALLORY", OWN, OWN),
          new Row("GRANT FORCE ON 'app-%' TO MALLORY", OWN, OWN),
          new Row("CREATE USER EVE", OWN, OWN),
          new Row("ALTER USER MALLORY SET PASSWORD 'x-password'", null, OWN),
          new Row("ALTER USER MALLORY ADD PASSWORD 'y-password'", OWN, OWN),
          new Row("ALTER USER MALLORY DROP OLD PASSWORD", OWN, OWN),
          new Row("ALTER USER MALLORY WORK LIMIT 100", OWN, OWN),
          new Row("ALTER USER MALLORY ADMIN FALSE", OWN, OWN),
          new Row("DROP USER VICTIM", OWN, OWN),
          new Row("CREATE LOCK 'app-l' PERMITS 3", OWN, OWN),
          new Row("ALTER LOCK 'app-d' PERMITS 3", OWN, OWN),
          new Row("DROP LOCK 'app-d'", OWN, OWN),
          new Row("SET SCHEMA PUBLIC", null, null),
          new Row("SET LOCK_TIMEOUT 100", null, null),
          new Row("SET FENCING TOKEN 1 FOR LOCK 'app-l'", null, null),
          new Row("SET FENCED BY LOCK 'app-l' TOKEN 1", null, null),
          new Row("SET NOT FENCED", null, null),
          new Row("SELECT create_lease(10000)", null, null),
          new Row("SELECT renew_lease({lease})", OWN, OWN),
          new Row("SELECT revoke_lease({lease})", OWN, OWN),
          new Row("SELECT acquire_lock('app-l')", OWN, OWN),
          new Row("SELECT acquire_lock('app-l', {lease}, 10)", OWN, OWN),
          new Row("SELECT try_acquire_lock('app-l')", OWN, OWN),
          new Row("SELECT acquire_shared_lock('app-l')", OWN, OWN),
          new Row("SELECT try_acquire_shared_lock('app-l')", OWN, OWN),
          new Row("SELECT acquire_locks(ARRAY['app-l', 'app-m'])", OWN, OWN),
          new Row("SELECT try_acquire_locks(ARRAY['app-l', 'app-m'])", OWN, OWN),
          new Row("SELECT acquire_transaction_lock('app-l')", "25P01", "25P01"),
          new Row("SELECT release_lock('app-l')", null, null),
          new Row("SELECT release_lock('app-l', {lease})", OWN, OWN),
          new Row("SELECT transfer_lock('app-l', {lease}, {lease})", OWN, OWN),
          new Row("SELECT force_release_lock('app-l')", OWN, OWN),
          new Row("SELECT holds_lock('app-l', 1)", OWN, OWN),
          new Row("SELECT lock_token('app-l')", OWN, OWN),
          new Row("SELECT 1 WHERE lock_token('app-l') IS NULL", OWN, OWN),
          new Row("SELECT 1 FROM APP.T WHERE holds_lock('app-l', A)", OBJECT, OWN),
          new Row("UPDATE APP.T SET A = 2 WHERE lock_token('app-l') = 1", OBJECT, OWN),
          new Row("INSERT INTO APP.T SELECT 70, try_acquire_lock('app-l')", OBJECT, OWN),
          new Row("CALL take_snapshot()", OWN, OWN),
          new Row("CALL verify_replicas()", OWN, OWN),
          new Row("CALL transfer_leadership('n1')", OWN, OWN),
          new Row("CALL resign_leadership('n1')", OWN, OWN),
          new Row("CALL add_node('n9', 'localhost:1', 'localhost:2')", OWN, OWN),
          new Row("CALL remove_node('n9')", OWN, OWN),
          new Row("CALL begin_runtime_change()", OWN, OWN),
          new Row("CALL end_runtime_change()", OWN, OWN),
          new Row("CALL set_transaction_limits(600000, 60000)", OWN, OWN),
          new Row("CALL reset_log_time()", OWN, OWN),
          new Row("CALL upgrade_cluster()", OWN, OWN));

  @BeforeAll
  static void start() throws Exception {
    UserAccount first =
        new UserAccount(
            new UserName("ROOT"),
            /* administrator= */ true,
            List.of(TestUsers.verifier("root-password")));
    node =
        new Node(
            LoopbackSettings.of("n1", null),
            new ConnectionSettings(100, DEADLINE, 0, 0, 64L << 20),
            new UserSettings(true, first));
    node.start();
    assertTrue(node.awaitLeadership(DEADLINE));
    Awaitility.await()
        .atMost(DEADLINE)
        .ignoreExceptions()
        .until(() -> connect("root", "root") != null);
    admin = connect("root", "root");
    for (String user : List.of("MALLORY", "OWNER", "VICTIM")) {
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

  /** Makes the objects of the matrix anew; returns the statement with their names. */
  private static String prepared(String sql) throws SQLException {
    String schema = "APP_" + ++schemas;
    run(admin, "CREATE SCHEMA " + schema + " AUTHORIZATION OWNER");
    for (String definition :
        List.of(
            "CREATE TABLE APP.T (ID INT PRIMARY KEY, A INT)",
            "CREATE VIEW APP.V AS SELECT A FROM APP.T",
            "CREATE INDEX APP.I ON APP.T (A)",
            "CREATE SEQUENCE APP.S",
            "CREATE DOMAIN APP.D AS INT",
            "INSERT INTO APP.T VALUES (1, 1)",
            "CREATE SEQUENCE IF NOT EXISTS PUBLIC_S",
            "CREATE ROLE IF NOT EXISTS R",
            "CREATE LOCK IF NOT EXISTS 'app-d' PERMITS 2")) {
      run(admin, definition.replace("APP.", schema + "."));
    }
    if (sql.contains("APP.F ")) {
      run(admin, "CREATE TABLE " + schema + ".F (ID INT) FENCED BY LOCK 'app-f2'");
    }
    String made = sql.replace("APP.", schema + ".").replace("SCHEMA APP", "SCHEMA " + schema);
    return made.contains("{lease}")
        ? made.replace("{lease}", String.valueOf(one(admin, "SELECT create_lease(60000)")))
        : made;
  }

  private static void cleanUp(String after) throws SQLException {
    for (String sql :
        List.of(
            "CALL end_runtime_change()",
            "DROP ROLE IF EXISTS R2",
            "DROP LOCK IF EXISTS 'app-l'",
            "DROP SCHEMA IF EXISTS OTHER CASCADE",
            "DROP USER IF EXISTS EVE",
            "CREATE USER IF NOT EXISTS VICTIM",
            "REVOKE LOCK ON 'app-%' FROM MALLORY",
            "REVOKE FORCE ON 'app-%' FROM MALLORY")) {
      run(admin, sql);
    }
    if (after.contains("PASSWORD")) {
      // a verifier takes a while
      run(admin, "ALTER USER MALLORY SET PASSWORD 'MALLORY-password'");
    }
  }

  @Test
  void matrixHolds() throws Exception {
    List<String> wrong = new ArrayList<>();
    for (Row row : MATRIX) {
      String sql = prepared(row.sql());
      boolean changed = false;
      for (String user : List.of("MALLORY", "OWNER", "ROOT")) {
        String expected =
            user.equals("MALLORY") ? row.user() : user.equals("OWNER") ? row.owner() : null;
        if (changed) {
          cleanUp(sql);
          sql = prepared(row.sql());
        }
        try (Connection connection = connect(user, user.equals("ROOT") ? "root" : user)) {
          String state = refusal(connection, sql);
          boolean refused =
              OBJECT.equals(state) || ADMINISTRATOR.equals(state) || OWN.equals(state);
          boolean right =
              user.equals("ROOT")
                  ? !refused
                  : expected == null ? state == null : expected.equals(state);
          if (!right) {
            wrong.add(user + ": " + sql + ": " + state + " instead of " + expected);
          }
          // what was refused has changed nothing, and its objects serve the next user
          changed = !refused;
        }
      }
      cleanUp(sql);
    }
    assertEquals(List.of(), wrong);
  }

  @Test
  void matrixHasAllLockFunctionsAndProcedures() {
    String all = MATRIX.toString().toLowerCase(Locale.ROOT);
    List<String> missing = new ArrayList<>();
    Arrays.stream(LockFunction.values()).map(Enum::name).forEach(missing::add);
    Arrays.stream(Procedure.values()).map(Enum::name).forEach(missing::add);
    missing.removeIf(name -> all.contains(name.toLowerCase(Locale.ROOT) + "("));
    assertEquals(List.of(), missing);
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
    assertTrue(
        List.of("28000", "08003", "08006").contains(refused.getSQLState()), refused.toString());
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
