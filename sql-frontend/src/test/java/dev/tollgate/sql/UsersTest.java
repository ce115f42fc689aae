package dev.tollgate.sql;

import static dev.tollgate.sql.Refusal.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.sql.Plan.ConfigureUser;
import dev.tollgate.sql.Plan.ConfigureUser.Change;
import dev.tollgate.sql.SqlRefused.Reason;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * CREATE, ALTER and DROP USER and SET PASSWORD become values, and nothing shows their passwords.
 */
class UsersTest {

  private static final Argument PASSWORD = new Argument.Text("p'w");
  private static final Argument PARAMETER = new Argument.Parameter(0);

  private final SqlFrontend frontend = new SqlFrontend(10);

  @Test
  void userIsCreated() {
    assertPlan("CREATE USER bob", Change.CREATE, "BOB", null, false, false);
    assertPlan(
        "create user if not exists bob password 'p''w' admin ;",
        Change.CREATE,
        "BOB",
        PASSWORD,
        true,
        true);
    assertPlan("CREATE USER bob PASSWORD ?", Change.CREATE, "BOB", PARAMETER, false, false);
    assertPlan("CREATE USER bob ADMIN", Change.CREATE, "BOB", null, true, false);
    assertPlan("CREATE USER admin ADMIN", Change.CREATE, "ADMIN", null, true, false);
    assertPlan(
        "CREATE USER password PASSWORD ?", Change.CREATE, "PASSWORD", PARAMETER, false, false);
  }

  @Test
  void userIsAltered() {
    assertPlan(
        "ALTER USER bob SET PASSWORD 'p''w'", Change.SET_PASSWORD, "BOB", PASSWORD, false, false);
    assertPlan(
        "ALTER USER bob SET PASSWORD ?", Change.SET_PASSWORD, "BOB", PARAMETER, false, false);
    assertPlan(
        "ALTER USER bob ADD PASSWORD 'p''w'", Change.ADD_PASSWORD, "BOB", PASSWORD, false, false);
    assertPlan(
        "ALTER USER bob ADD PASSWORD ?", Change.ADD_PASSWORD, "BOB", PARAMETER, false, false);
    assertPlan(
        "ALTER USER bob DROP OLD PASSWORD", Change.DROP_OLD_PASSWORD, "BOB", null, false, false);
    assertPlan("ALTER USER bob ADMIN TRUE", Change.SET_ADMINISTRATOR, "BOB", null, true, false);
    assertPlan("ALTER USER bob ADMIN FALSE", Change.SET_ADMINISTRATOR, "BOB", null, false, false);
  }

  @Test
  void workIsLimited() {
    assertEquals(
        new ConfigureUser(Change.CREATE, "BOB", PASSWORD, false, false, 1, 0, false, 0),
        frontend.plan("CREATE USER bob PASSWORD 'p''w' WORK LIMIT 1"));
    assertEquals(
        new ConfigureUser(Change.SET_WORK_LIMIT, "BOB", null, false, false, 100, 0, false, 0),
        frontend.plan("alter user bob work limit 100"));
    assertEquals(
        new ConfigureUser(Change.CREATE, "WORK", null, false, false, 0, 0, false, 0),
        frontend.plan("CREATE USER work"));
  }

  @Test
  void accountIsLockedAndUnlocked() {
    assertPlan("ALTER USER bob ACCOUNT LOCK", Change.LOCK_ACCOUNT, "BOB", null, false, false);
    assertPlan(
        "alter user account account unlock", Change.UNLOCK_ACCOUNT, "ACCOUNT", null, false, false);
  }

  @ParameterizedTest
  @CsvSource({
    "2030-12-31, 1924905600000000",
    "2030-12-31 23:59, 1924991940000000",
    "2030-12-31 23:59:59.000001, 1924991999000001",
    "2030-12-31T23:59:59Z, 1924991999000000",
    "2030-12-31 23:59:59+02, 1924984799000000",
    "2030-12-31 23:59:59 -02:30, 1925000999000000",
    "9999-12-31 23:59:59.9999999, 253402300799999999",
    "Infinity, 9223372036854775807"
  })
  void userIsValidUntilATime(String time, long micros) {
    assertEquals(
        new ConfigureUser(Change.SET_VALIDITY, "BOB", null, false, false, 0, micros, false, 0),
        frontend.plan("ALTER USER bob VALID UNTIL '" + time + "'"));
    assertEquals(
        new ConfigureUser(Change.CREATE, "VALID", null, false, true, 7, micros, false, 0),
        frontend.plan("CREATE USER valid ADMIN WORK LIMIT 7 VALID UNTIL '" + time + "'"));
  }

  @Test
  void passwordEndsSessionsIfAsked() {
    for (String sql :
        List.of("SET PASSWORD ? END SESSIONS", "ALTER USER bob SET PASSWORD ? END SESSIONS")) {
      Plan plan = frontend.plan(sql);
      assertTrue(assertInstanceOf(ConfigureUser.class, plan).endsSessions(), sql);
    }
  }

  @Test
  void ownPasswordIsSet() {
    assertPlan("SET PASSWORD 'p''w'", Change.SET_PASSWORD, null, PASSWORD, false, false);
    assertPlan("SET PASSWORD ?", Change.SET_PASSWORD, null, PARAMETER, false, false);
  }

  @Test
  void userIsDropped() {
    assertPlan("DROP USER bob", Change.DROP, "BOB", null, false, false);
    assertPlan("DROP USER IF EXISTS \"a b\"", Change.DROP, "A B", null, false, true);
  }

  private void assertPlan(
      String sql,
      Change change,
      @Nullable String user,
      @Nullable Argument password,
      boolean administrator,
      boolean lenient) {
    int parameters = password instanceof Argument.Parameter ? 1 : 0;
    assertEquals(
        new ConfigureUser(change, user, password, false, administrator, 0, 0, lenient, parameters),
        frontend.plan(sql),
        sql);
  }

  /** H2 keeps the names of users and roles in upper case, also if they are quoted. */
  @Test
  void nameOfAUserIsTheOneThatH2Keeps() throws SQLException {
    try (Connection h2 = DriverManager.getConnection("jdbc:h2:mem:");
        Statement statement = h2.createStatement()) {
      statement.execute("CREATE USER \"StraSSe-JÖRG\" PASSWORD 'x'");
      try (ResultSet users =
          statement.executeQuery(
              "SELECT USER_NAME FROM INFORMATION_SCHEMA.USERS WHERE USER_NAME LIKE 'STRA%'")) {
        users.next();
        assertPlan(
            "CREATE USER \"StraSSe-JÖRG\"", Change.CREATE, users.getString(1), null, false, false);
      }
    }
  }

  /** H2 would take each of them for another name, which somebody else may have. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"adm\u0131n\"",
        "`adm\u0131n`",
        "U&\"adm\\0131n\"",
        "\"\u017Fam\"",
        "\"Stra\u00DFe\"",
        "\"j\u00F6rg\"",
        "\"\u212Aate\"",
        "\"\uFB01n\"",
        "\"\u0130an\""
      })
  void nameOfAUserThatCouldBeTakenForAnotherIsRefused(String name) {
    assertThrows(SqlRefused.class, () -> frontend.plan("DROP USER " + name.replace("\"", "")));
    for (String sql :
        List.of(
            "CREATE USER %s PASSWORD 'x'",
            "ALTER USER %s ADMIN TRUE",
            "DROP USER %s",
            "CREATE ROLE %s",
            "DROP ROLE %s",
            "GRANT %s TO bob",
            "REVOKE %s FROM bob",
            "GRANT SELECT ON t TO %s",
            "REVOKE SELECT ON t FROM %s",
            "GRANT LOCK ON 'a' TO %s",
            "REVOKE USAGE ON SEQUENCE s FROM %s",
            "CREATE SCHEMA s AUTHORIZATION %s",
            "CREATE SCHEMA AUTHORIZATION %s")) {
      SqlRefused refused =
          assertThrows(
              SqlRefused.class, () -> frontend.plan(String.format(sql, name)), sql + " " + name);
      assertEquals(Reason.NOT_ALLOWED, refused.reason(), sql + ": " + refused);
      assertTrue(refused.getMessage().contains("could be taken for"), refused.getMessage());
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          CREATE USER bob PASSWORD ''                | NOT_ALLOWED | 26 | a password has 1 to 1024 characters, this one has 0
          ALTER USER bob RENAME TO bill              | NOT_ALLOWED | 12 | sessions, grants and audit lines name users: create another user
          CREATE USER                                | SYNTAX      | 11 | write CREATE USER [IF NOT EXISTS] name
          CREATE USER bob PASSWORD                   | SYNTAX      | 24 | write CREATE USER [IF NOT EXISTS] name
          CREATE USER bob PASSWORD NULL              | SYNTAX      | 26 | write CREATE USER [IF NOT EXISTS] name
          CREATE USER bob PASSWORD 'a' + 'b'         | SYNTAX      | 30 | write CREATE USER [IF NOT EXISTS] name
          CREATE USER bob ADMIN PASSWORD 'x'         | SYNTAX      | 23 | write CREATE USER [IF NOT EXISTS] name
          CREATE USER s.bob PASSWORD 'x'             | SYNTAX      | 14 | write CREATE USER [IF NOT EXISTS] name
          CREATE USER bob SALT '00' HASH '00'        | SYNTAX      | 17 | write CREATE USER [IF NOT EXISTS] name
          CREATE USER bob IDENTIFIED BY x            | SYNTAX      | 17 | write CREATE USER [IF NOT EXISTS] name
          ALTER USER IF EXISTS bob ADMIN TRUE        | SYNTAX      | 12 | write ALTER USER name {SET PASSWORD
          ALTER USER bob ADMIN                       | SYNTAX      | 20 | write ALTER USER name {SET PASSWORD
          ALTER USER bob WORK LIMIT                  | SYNTAX      | 25 | write ALTER USER name {SET PASSWORD
          ALTER USER bob WORK LIMIT ?                | SYNTAX      | 27 | write ALTER USER name {SET PASSWORD
          ALTER USER bob WORK LIMIT 0                | NOT_ALLOWED | 27 | a work limit is 1 to 100
          ALTER USER bob WORK LIMIT 101              | NOT_ALLOWED | 27 | a work limit is 1 to 100
          CREATE USER bob WORK LIMIT 99999999999999999999 | NOT_ALLOWED | 28 | a work limit is 1 to 100
          ALTER USER bob VALID UNTIL ''              | NOT_ALLOWED | 28 | VALID UNTIL takes a time from 1970
          ALTER USER bob VALID UNTIL '1969-12-31'    | NOT_ALLOWED | 28 | VALID UNTIL takes a time from 1970
          ALTER USER bob VALID UNTIL '2030-02-30'    | NOT_ALLOWED | 28 | VALID UNTIL takes a time from 1970
          ALTER USER bob VALID UNTIL '2030-12-31 x'  | NOT_ALLOWED | 28 | VALID UNTIL takes a time from 1970
          ALTER USER bob VALID UNTIL '+999999999-12-31' | NOT_ALLOWED | 28 | VALID UNTIL takes a time from 1970
          ALTER USER bob VALID UNTIL '+10000-01-01'  | NOT_ALLOWED | 28 | VALID UNTIL takes a time from 1970
          ALTER USER bob VALID UNTIL ?               | SYNTAX      | 28 | write ALTER USER name {SET PASSWORD
          ALTER USER bob VALID                       | SYNTAX      | 20 | write ALTER USER name {SET PASSWORD
          ALTER USER bob ACCOUNT                     | SYNTAX      | 22 | write ALTER USER name {SET PASSWORD
          ALTER USER bob ACCOUNT CLOSE               | SYNTAX      | 24 | write ALTER USER name {SET PASSWORD
          ALTER USER bob ADD PASSWORD 'x' END SESSIONS | SYNTAX    | 33 | write ALTER USER name {SET PASSWORD
          SET PASSWORD 'x' END                       | SYNTAX      | 20 | write SET PASSWORD {'password'
          ALTER USER bob PASSWORD 'x'                | SYNTAX      | 16 | write ALTER USER name {SET PASSWORD
          ALTER USER bob DROP PASSWORD               | SYNTAX      | 21 | write ALTER USER name {SET PASSWORD
          SET PASSWORD                               | SYNTAX      | 12 | write SET PASSWORD {'password'
          DROP USER bob CASCADE                      | SYNTAX      | 15 | unexpected "CASCADE"
          DROP USER bob, bill                        | SYNTAX      | 14 | unexpected ","
          DROP USER bob FENCED BY LOCK 'a' TOKEN 1   | SYNTAX      | 15 | FENCED BY LOCK stands
          EXPLAIN DROP USER bob                      | SYNTAX      | 9  | unexpected "DROP"
          """)
  void wrongStatementIsRefused(String sql, Reason reason, int column, String sentence) {
    assertRefused(sql, reason, column, sentence);
  }

  /** Also where the text is so wrong that it ends in the lexer. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "CREATE USER bob 's3cret'",
        "CREATE USER bob PASSWORD s3cret",
        "CREATE USER bob PASSWORD \"s3cret\"",
        "CREATE USER bob PASSWORD 'x' 's3cret'",
        "CREATE USER bob PASSWORD ('s3cret')",
        "CREATE USER bob PASSWORD 'x'12s3cret'",
        "CREATE USER bob PASSWORD N's3cret' x",
        "CREATE USER bob PASSWORD U&'s3cret\\' x",
        "CREATE USER bob PASSWORD s3crét",
        "CREATE USER bob PASSWORD 12s3cret",
        "CREATE USER bob IDENTIFIED s3cret",
        "/* a */ create -- b\n user bob password s3cret",
        "ALTER USER bob SET 's3cret'",
        "ALTER USER bob SET s3cret",
        "ALTER USER bob 's3cret'",
        "ALTER USER bob s3cret",
        "ALTER USER bob SET PASSWORD s3cret",
        "ALTER USER bob ADD s3cret",
        "ALTER USER bob ADD PASSWORD 'x', 's3cret'",
        "ALTER USER bob DROP OLD 's3cret'",
        "ALTER USER bob ADMIN s3cret",
        "SET PASSWORD s3cret",
        "SET PASSWORD = 's3cret'",
        "SET PASSWORD's3cret'",
        "SET PASSWORD DATE 's3cret'",
        "SET PASSWORD E's3cret'"
      })
  void refusalDoesNotShowThePassword(String sql) {
    SqlRefused refused = assertThrows(SqlRefused.class, () -> frontend.plan(sql));
    String message = String.valueOf(refused.getMessage()).toLowerCase(java.util.Locale.ROOT);
    assertFalse(message.contains("cret"), message);
    assertNull(refused.getCause(), message);
  }

  @Test
  void longPasswordIsRefusedWithoutIt() {
    String longest = "x".repeat(SqlLimits.PASSWORD_LENGTH);
    assertInstanceOf(ConfigureUser.class, frontend.plan("SET PASSWORD '" + longest + "'"));
    assertRefused(
        "SET PASSWORD '" + longest + "x'",
        Reason.NOT_ALLOWED,
        14,
        "a password has 1 to 1024 characters, this one has 1025");
  }

  @Test
  void planDoesNotShowThePassword() {
    String text = frontend.plan("CREATE USER bob PASSWORD 's3cret' ADMIN").toString();
    assertEquals(
        "ConfigureUser[change=CREATE, user=BOB, password=hidden, endsSessions=false,"
            + " administrator=true, workLimit=0, validUntilMicros=0, lenient=false,"
            + " parameterCount=0]",
        text);
    assertEquals(
        "ConfigureUser[change=SET_PASSWORD, user=null, password=Parameter[index=0],"
            + " endsSessions=true, administrator=false, workLimit=0, validUntilMicros=0,"
            + " lenient=false, parameterCount=1]",
        frontend.plan("SET PASSWORD ? END SESSIONS").toString());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "CREATE USER bob PASSWORD 's3cret'",
        "ALTER USER bob SET PASSWORD 's3cret'",
        "ALTER USER bob ADD PASSWORD 's3cret'",
        "SET PASSWORD 's3cret'"
      })
  void planWithAPasswordIsNotKept(String sql) {
    frontend.plan(sql);
    assertNull(frontend.cached(sql));
    String withParameter = sql.replace("'s3cret'", "?");
    frontend.plan(withParameter);
    assertNotNull(frontend.cached(withParameter));
  }

  @Test
  void contradictoryPlanCannotBeMade() {
    Argument number = new Argument.Integral(1);
    assertThrows(
        IllegalArgumentException.class,
        () -> new ConfigureUser(Change.DROP, null, null, false, false, 0, 0, false, 0));
    assertThrows(
        IllegalArgumentException.class,
        () -> new ConfigureUser(Change.ADD_PASSWORD, "BOB", null, false, false, 0, 0, false, 0));
    assertThrows(
        IllegalArgumentException.class,
        () -> new ConfigureUser(Change.DROP, "BOB", PASSWORD, false, false, 0, 0, false, 0));
    assertThrows(
        IllegalArgumentException.class,
        () -> new ConfigureUser(Change.CREATE, "BOB", number, false, false, 0, 0, false, 0));
    assertThrows(
        IllegalArgumentException.class,
        () -> new ConfigureUser(Change.DROP, "BOB", null, false, true, 0, 0, false, 0));
    assertThrows(
        IllegalArgumentException.class,
        () -> new ConfigureUser(Change.SET_ADMINISTRATOR, "BOB", null, false, true, 0, 0, true, 0));
    assertThrows(
        IllegalArgumentException.class,
        () -> new ConfigureUser(Change.SET_WORK_LIMIT, "BOB", null, false, false, 0, 0, false, 0));
    assertThrows(
        IllegalArgumentException.class,
        () -> new ConfigureUser(Change.DROP, "BOB", null, false, false, 5, 0, false, 0));
    assertThrows(
        IllegalArgumentException.class,
        () -> new ConfigureUser(Change.DROP, "BOB", null, true, false, 0, 0, false, 0));
    assertThrows(
        IllegalArgumentException.class,
        () -> new ConfigureUser(Change.DROP, "BOB", null, false, false, 0, 5, false, 0));
    assertThrows(
        IllegalArgumentException.class,
        () -> new ConfigureUser(Change.SET_VALIDITY, "BOB", null, false, false, 0, 0, false, 0));
  }

  /**
   * No word of these statements is reserved, ADMIN, PASSWORD, OLD, ACCOUNT and VALID among them.
   */
  @Test
  void wordsOfTheStatementsAreFree() {
    assertInstanceOf(
        Plan.Write.class,
        frontend.plan(
            "CREATE TABLE password (admin INT, old INT, lock INT, account INT,"
                + " valid INT, until INT, sessions INT, unlock INT)"));
    assertInstanceOf(
        Plan.Read.class, frontend.plan("SELECT password.admin FROM password WHERE old > 1"));
    assertRefused("DELETE FROM t WHERE password 's3'", Reason.SYNTAX, 30, "unexpected \"'s3'\"");
  }

  /**
   * H2 evaluates the user when a default or a view is used, as the user of the session that uses
   * it, and keeps no constant in the definition.
   */
  @Test
  void userIsEvaluatedAtUse() throws SQLException {
    String url = "jdbc:h2:mem:users";
    try (Connection owner = DriverManager.getConnection(url, "OWNER", "x");
        Statement define = owner.createStatement()) {
      define.execute("CREATE USER BOB PASSWORD 'x'");
      for (String user : new String[] {"CURRENT_USER", "SESSION_USER", "SYSTEM_USER", "USER"}) {
        define.execute(
            text(
                "CREATE TABLE t (a INT, who VARCHAR(20) DEFAULT "
                    + user
                    + ", by VARCHAR(20) DEFAULT "
                    + user
                    + " ON UPDATE "
                    + user
                    + ", g VARCHAR(20) GENERATED ALWAYS AS (a || "
                    + user
                    + "))"));
        define.execute(
            text("CREATE VIEW v AS SELECT t.*, " + user + " r FROM t WHERE who = " + user));
        define.execute("GRANT ALL ON t TO PUBLIC");
        define.execute("GRANT ALL ON v TO PUBLIC");
        define.execute("INSERT INTO t (a) VALUES (1)");
        try (Connection bob = DriverManager.getConnection(url, "BOB", "x");
            Statement statement = bob.createStatement()) {
          statement.execute("INSERT INTO t (a) VALUES (2)");
          statement.execute("UPDATE t SET a = a + 2");
          assertEquals("4 BOB BOB 4BOB BOB ", rows(statement, "SELECT * FROM v"), user);
        }
        assertEquals("3 OWNER BOB 3BOB OWNER ", rows(define, "SELECT * FROM v"), user);
        define.execute("DROP VIEW v");
        define.execute("DROP TABLE t");
      }
    }
  }

  private String text(String sql) {
    return assertInstanceOf(Plan.Write.class, frontend.plan(sql), sql).sql();
  }

  private static String rows(Statement statement, String query) throws SQLException {
    StringBuilder rows = new StringBuilder();
    try (ResultSet resultSet = statement.executeQuery(query)) {
      while (resultSet.next()) {
        for (int i = 1; i <= resultSet.getMetaData().getColumnCount(); i++) {
          rows.append(resultSet.getString(i)).append(' ');
        }
      }
    }
    return rows.toString();
  }
}
