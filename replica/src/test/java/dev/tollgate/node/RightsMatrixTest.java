package dev.tollgate.node;

import static dev.tollgate.node.TestSql.one;
import static dev.tollgate.node.TestSql.run;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.tollgate.node.RightsMatrix.Holder;
import dev.tollgate.node.RightsMatrix.Row;
import dev.tollgate.sql.LockFunction;
import dev.tollgate.sql.Plan;
import dev.tollgate.sql.Procedure;
import dev.tollgate.sql.SqlFrontend;
import dev.tollgate.store.statement.SystemTable;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.ScramBinding;
import dev.tollgate.wire.ScramClient;
import dev.tollgate.wire.SqlState;
import dev.tollgate.wire.WireWriter;
import java.lang.reflect.RecordComponent;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Every statement, function, view, message and request against every right. The rows come from
 * {@link RightsMatrix}; the lists that they have to cover come from the product.
 */
@Timeout(900)
class RightsMatrixTest {
  private static final Set<String> REFUSED = Set.of("90096", "90040", "42501");

  /** The value of a row of APP.T. */
  private static final String ROW = "471147";

  private static final String FIRST_ROW = "INSERT INTO APP.T VALUES (1, " + ROW + ")";

  /** Locks that rows of the matrix fence a table by; whoever drops that table has to hold them. */
  private static final List<String> FENCES = List.of("app-f");

  /** What the holder of lock 'app-held' says of itself. */
  private static final String TELLER = "teller-4711";

  /** A user with rights, for administrators and auditors. */
  private static final String USER = "GRANTEE_4711";

  /** An estimate of rows, and the next number of a sequence, for none but administrators. */
  private static final List<String> ADMINISTRATORS = List.of("7813", "90210");

  private static Node node;
  private static Connection admin;
  private static Connection holder;
  private static String token = "";
  private static int schemas;

  /** The SQLStates that a run of the matrix has seen. */
  private static final Set<String> SEEN = new TreeSet<>();

  @BeforeAll
  static void start() throws Exception {
    node = TestUsers.node("U_ADMIN", "U_ADMIN-password");
    admin = connect(Holder.ADMIN);
    for (Holder user : Holder.values()) {
      if (user != Holder.ADMIN) {
        run(admin, "CREATE USER " + nameOf(user) + " PASSWORD '" + passwordOf(user) + "'");
        for (String grant : user.grants()) {
          if (!grant.contains("APP")) {
            run(admin, "GRANT " + grant + " TO " + nameOf(user));
          }
        }
      }
    }
    run(admin, "CREATE USER NOBODY PASSWORD 'nobody-password'");
    run(admin, "CREATE SEQUENCE PUBLIC_S");
    run(admin, "CREATE TABLE SECRET_ROWS (ID INT PRIMARY KEY)");
    for (String range : List.of("1, 4000", "4001, 7813")) {
      run(admin, "INSERT INTO SECRET_ROWS SELECT X FROM SYSTEM_RANGE(" + range + ")");
    }
    run(admin, "CREATE SEQUENCE SECRET_S");
    run(admin, "ALTER SEQUENCE SECRET_S RESTART WITH 90210");
    run(admin, "CREATE USER GRANTEE_4711");
    run(admin, "GRANT SELECT ON SECRET_ROWS TO GRANTEE_4711");
    run(admin, "GRANT USAGE ON SEQUENCE SECRET_S TO GRANTEE_4711");
    holder = connect(Holder.ADMIN, TELLER);
    for (int i = 0; i < 30; i++) {
      one(holder, "SELECT acquire_lock('app-held')");
      one(holder, "SELECT release_lock('app-held')");
    }
    one(holder, "SELECT create_lease(600000, '" + TELLER + "')");
    token = one(holder, "SELECT acquire_lock('app-held')");
  }

  @AfterAll
  static void stop() throws Exception {
    holder.close();
    admin.close();
    node.close();
  }

  private static String nameOf(Holder user) {
    return "U_" + user;
  }

  private static String passwordOf(Holder user) {
    return nameOf(user) + "-password";
  }

  private static Connection connect(Holder user) throws SQLException {
    return connect(user, "matrix");
  }

  private static Connection connect(Holder user, String application) throws SQLException {
    return connect(nameOf(user), passwordOf(user), application);
  }

  private static Connection connect(String user, String password, String application)
      throws SQLException {
    Properties properties = new Properties();
    properties.put("user", user);
    properties.put("password", password);
    properties.put("applicationName", application);
    properties.put("lockWait", "10ms");
    return DriverManager.getConnection(
        "jdbc:tollgate://127.0.0.1:" + node.listenAddress().getPort() + "/", properties);
  }

  /**
   * Makes the objects of the matrix anew, in place of those before: definitions and rights cost the
   * more the more of them there are. Returns the name of their schema.
   */
  private static String newSchema() throws SQLException {
    for (String lock : FENCES) {
      one(holder, "SELECT acquire_lock('" + lock + "')");
    }
    for (String former : List.of("APP_" + schemas, "APP3")) {
      run(holder, "DROP SCHEMA IF EXISTS " + former + " CASCADE");
    }
    for (String lock : FENCES) {
      one(holder, "SELECT release_lock('" + lock + "')");
    }
    String schema = "APP_" + ++schemas;
    run(admin, "CREATE SCHEMA " + schema + " AUTHORIZATION U_OWNER");
    for (String definition :
        List.of(
            "CREATE TABLE APP.T (ID INT PRIMARY KEY, A INT UNIQUE)",
            "CREATE VIEW APP.V AS SELECT A FROM APP.T",
            "CREATE INDEX APP.I ON APP.T (A, ID)",
            "CREATE SEQUENCE APP.S",
            "CREATE DOMAIN APP.D AS INT",
            FIRST_ROW,
            "CREATE TABLE APP.K (A INT)",
            "INSERT INTO APP.K VALUES (" + ROW + ")",
            "CREATE SEQUENCE APP.GS",
            "CREATE TABLE APP.G (ID INT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, A INT"
                + " CHECK (A > 0 OR A > (SELECT MAX(A) FROM APP.K)), N BIGINT DEFAULT NEXT VALUE FOR"
                + " APP.GS, S INT DEFAULT (SELECT MAX(A) FROM APP.K), W INT GENERATED ALWAYS AS (A"
                + " + (SELECT MAX(A) FROM APP.K)))",
            "CREATE TABLE APP.F (ID INT) FENCED BY LOCK 'app-held'",
            "CREATE ROLE IF NOT EXISTS R",
            "CREATE USER IF NOT EXISTS VICTIM",
            "CREATE LOCK IF NOT EXISTS 'app-d' PERMITS 2")) {
      run(admin, in(schema, definition));
    }
    for (Holder user : Holder.values()) {
      for (String grant : user.grants()) {
        if (grant.contains("APP")) {
          run(admin, in(schema, "GRANT " + grant + " TO " + nameOf(user)));
        }
      }
    }
    return schema;
  }

  private static String in(String schema, String sql) {
    return sql.replace("APP.", schema + ".").replace("SCHEMA APP", "SCHEMA " + schema);
  }

  private static void cleanUp() throws SQLException {
    for (String sql :
        List.of(
            "CALL end_runtime_change()",
            "DROP ROLE IF EXISTS R2",
            "DROP LOCK IF EXISTS 'app-l'",
            "DROP SCHEMA IF EXISTS OTHER CASCADE",
            "DROP USER IF EXISTS EVE",
            "CREATE USER IF NOT EXISTS VICTIM",
            "REVOKE FORCE ON 'zzz-%' FROM VICTIM",
            "REVOKE AUDIT ON CLUSTER FROM VICTIM",
            "REVOKE MANAGE ON LOCKS FROM VICTIM",
            "REVOKE LOCK ON 'zzz-%' FROM VICTIM")) {
      run(admin, sql);
    }
  }

  @Test
  void everyStatementNeedsItsRight() throws Exception {
    List<String> wrong = new ArrayList<>();
    String schema = newSchema();
    Map<Holder, Connection> sessions = new EnumMap<>(Holder.class);
    for (Holder user : Holder.values()) {
      sessions.put(user, connect(user));
    }
    for (Row row : RightsMatrix.all()) {
      for (Holder user : Holder.values()) {
        String sql = in(schema, row.sql()).replace("{password}", passwordOf(user));
        if (sql.contains("{lease}")) {
          sql = sql.replace("{lease}", String.valueOf(one(admin, "SELECT create_lease(60000)")));
        }
        Said said = say(sessions.get(user), sql);
        boolean allowed = row.allowed().contains(user);
        boolean right =
            !allowed
                ? REFUSED.contains(said.state)
                : user == Holder.ADMIN
                    ? !REFUSED.contains(said.state)
                    : said.state.equals(row.otherwise());
        if (!right) {
          wrong.add(user + (allowed ? " may: " : " may not: ") + sql + ": " + said);
        }
        String told = told(user, said.text);
        if (told != null) {
          wrong.add(user + " was told " + told + ": " + sql + ": " + said);
        }
        if (allowed && row.changesSession()) {
          sessions.get(user).close();
          sessions.put(user, connect(user));
        }
        if (allowed && row.defines()) {
          cleanUp();
          schema = newSchema();
        } else if (allowed && row.changesRows()) {
          run(admin, "DELETE FROM " + schema + ".T");
          run(admin, in(schema, FIRST_ROW));
        } else if (allowed && row.sql().startsWith("CALL")) {
          cleanUp();
        }
      }
    }
    for (Connection session : sessions.values()) {
      session.close();
    }
    assertEquals("", String.join("\n", wrong));
    assertStatesAreProvoked();
  }

  /**
   * What a user got: the SQLState, empty without an error, and the text of the rows or the error.
   */
  private record Said(String state, String text) {}

  private static Said say(Connection session, String sql) {
    Matcher keys = KEYS.matcher(sql);
    try (Statement statement = session.createStatement()) {
      if (!keys.lookingAt()) {
        return new Said("", statement.execute(sql) ? textOf(statement.getResultSet()) : "");
      }
      String change = sql.substring(keys.end());
      String columns = keys.group(1);
      if (columns == null) {
        statement.execute(change, Statement.RETURN_GENERATED_KEYS);
      } else if (Character.isDigit(columns.charAt(0))) {
        statement.execute(change, new int[] {Integer.parseInt(columns)});
      } else {
        statement.execute(change, columns.split(",", -1));
      }
      return new Said("", textOf(statement.getGeneratedKeys()));
    } catch (SQLException e) {
      SEEN.add(e.getSQLState());
      return new Said(e.getSQLState(), String.valueOf(e.getMessage()));
    }
  }

  /** Which keys a client wants, before the text of a statement of the matrix. */
  private static final Pattern KEYS = Pattern.compile("\\{keys(?: ([^}]+))?\\} ");

  private static String textOf(ResultSet rows) throws SQLException {
    StringBuilder text = new StringBuilder();
    while (rows.next()) {
      for (int i = 1; i <= rows.getMetaData().getColumnCount(); i++) {
        text.append(rows.getString(i)).append('|');
      }
    }
    return text.toString();
  }

  /** What stands in a text that the user may not know, or null. */
  private static @Nullable String told(Holder user, String text) {
    if (text.contains(ROW) && !Holder.READERS.contains(user) && !text.contains("(10, ")) {
      return "a row";
    }
    if (text.contains(TELLER) && !Holder.LOOKERS.contains(user)) {
      return "the holder of a lock";
    }
    if (text.contains("token " + token) && !Holder.LOCKERS.contains(user)) {
      return "the token of a lock";
    }
    if (tells(text, USER) && !Holder.OVERSEERS.contains(user)) {
      return USER;
    }
    for (String secret : ADMINISTRATORS) {
      if (tells(text, secret) && user != Holder.ADMIN) {
        return secret;
      }
    }
    return null;
  }

  /** True if a text has this word or number, and not as a part of another. */
  private static boolean tells(String text, String secret) {
    return Pattern.compile("(?<![0-9A-Za-z.])" + secret + "(?![0-9A-Za-z])").matcher(text).find();
  }

  /** Messages that tell of locks or rows. */
  private static final Set<SqlState> TELLING =
      EnumSet.of(SqlState.STALE_TOKEN, SqlState.TOKEN_MISSING, SqlState.RIGHT_MISSING);

  /** Messages of what the client itself has sent, of its session, and of the node. */
  private static final Set<SqlState> SILENT =
      EnumSet.of(
          SqlState.LEASE_GONE,
          SqlState.LOCK_UPGRADE,
          SqlState.FENCE_STATE,
          SqlState.LOCK_STATE,
          SqlState.ADMINISTRATION,
          SqlState.ACTIVE_TRANSACTION,
          SqlState.NO_TRANSACTION,
          SqlState.FAILED_TRANSACTION,
          SqlState.ENVIRONMENT_CHANGES,
          SqlState.CONFLICT,
          SqlState.REFUSED_STATEMENT,
          SqlState.NOT_SUPPORTED,
          SqlState.INVALID_ARGUMENT,
          SqlState.NOT_TEXT,
          SqlState.TOO_LARGE,
          SqlState.TOO_MUCH_WORK,
          SqlState.NO_MEMORY,
          SqlState.TOO_MANY,
          SqlState.BUSY,
          SqlState.CANCELLED,
          SqlState.NO_QUORUM,
          SqlState.CONNECTION_REFUSED,
          SqlState.PROTOCOL_VIOLATION,
          SqlState.SESSION_GONE,
          SqlState.OUTCOME_UNKNOWN,
          SqlState.DISK,
          SqlState.USER_STATE,
          SqlState.SKIPPED,
          SqlState.LOGIN_REFUSED,
          SqlState.INTERNAL);

  private static void assertStatesAreProvoked() {
    Set<SqlState> known = EnumSet.copyOf(TELLING);
    known.addAll(SILENT);
    assertEquals(EnumSet.allOf(SqlState.class), known);
    Set<String> telling = new TreeSet<>(List.of("23505", "22018"));
    TELLING.forEach(state -> telling.add(state.state()));
    telling.removeAll(SEEN);
    assertEquals(Set.of(), telling, "messages that no row of the matrix provokes");
  }

  /**
   * Each plan of the front-end, with each value of its choices, and each function and procedure.
   */
  @Test
  void matrixHasEveryKindOfStatement() {
    SqlFrontend frontend = new SqlFrontend(1);
    Set<Object> seen = new LinkedHashSet<>();
    StringBuilder texts = new StringBuilder();
    for (Row row : RightsMatrix.all()) {
      String sql =
          KEYS.matcher(row.sql())
              .replaceFirst("")
              .replace("{lease}", "1")
              .replace("{password}", "password");
      texts.append(sql.toLowerCase(Locale.ROOT)).append('\n');
      Plan plan = frontend.plan(sql);
      seen.add(plan.getClass());
      for (RecordComponent part : plan.getClass().getRecordComponents()) {
        if (part.getType().isEnum()) {
          seen.add(valueOf(part, plan));
        }
      }
    }
    List<String> missing = new ArrayList<>();
    for (Class<?> kind : Plan.class.getPermittedSubclasses()) {
      if (!seen.contains(kind)) {
        missing.add(kind.getSimpleName());
      }
      for (RecordComponent part : kind.getRecordComponents()) {
        if (part.getType().isEnum() && part.getType() != Procedure.class) {
          for (Object value : part.getType().getEnumConstants()) {
            if (!seen.contains(value)) {
              missing.add(kind.getSimpleName() + " " + value);
            }
          }
        }
      }
    }
    List<Enum<?>> called = new ArrayList<>(Arrays.asList(LockFunction.values()));
    called.addAll(Arrays.asList(Procedure.values()));
    for (Enum<?> name : called) {
      if (!texts.toString().contains(name.name().toLowerCase(Locale.ROOT) + "(")) {
        missing.add(name.name());
      }
    }
    assertEquals(List.of(), missing);
  }

  private static Object valueOf(RecordComponent part, Plan plan) {
    try {
      return part.getAccessor().invoke(plan);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(part.getName(), e);
    }
  }

  /** How much of a view a user without rights sees. */
  private enum Sight {
    /** As much as an administrator. */
    ALL,
    /** Fewer rows. */
    OWN,
    NOTHING
  }

  private static final Map<SystemTable, Sight> VIEWS = views();

  private static Map<SystemTable, Sight> views() {
    Map<SystemTable, Sight> views = new EnumMap<>(SystemTable.class);
    for (SystemTable view :
        List.of(SystemTable.NODES, SystemTable.TRANSACTION_LIMITS, SystemTable.FENCES)) {
      views.put(view, Sight.ALL);
    }
    for (SystemTable view : List.of(SystemTable.SESSIONS, SystemTable.USERS)) {
      views.put(view, Sight.OWN);
    }
    for (SystemTable view :
        List.of(
            SystemTable.LOCKS,
            SystemTable.LOCK_WAITERS,
            SystemTable.LOCK_DEFINITIONS,
            SystemTable.LEASES,
            SystemTable.TRANSACTIONS,
            SystemTable.REPLICA_CHECKS,
            SystemTable.ENVIRONMENT,
            SystemTable.SNAPSHOTS,
            SystemTable.RIGHTS,
            SystemTable.SLOW_STATEMENTS,
            SystemTable.SLOW_APPLIES,
            SystemTable.STUCK_LOCKS)) {
      views.put(view, Sight.NOTHING);
    }
    return views;
  }

  /** Tables of INFORMATION_SCHEMA: definitions, and what concerns the session alone. */
  private static final Set<String> CATALOG =
      Set.of(
          ("INFORMATION_SCHEMA_CATALOG_NAME CHECK_CONSTRAINTS COLLATIONS COLUMNS"
                  + " COLUMN_PRIVILEGES CONSTRAINT_COLUMN_USAGE DOMAINS DOMAIN_CONSTRAINTS"
                  + " ELEMENT_TYPES FIELDS KEY_COLUMN_USAGE PARAMETERS REFERENTIAL_CONSTRAINTS"
                  + " ROUTINES SCHEMATA SEQUENCES TABLES TABLE_CONSTRAINTS TABLE_PRIVILEGES"
                  + " TRIGGERS VIEWS CONSTANTS ENUM_VALUES INDEXES INDEX_COLUMNS IN_DOUBT LOCKS"
                  + " QUERY_STATISTICS RIGHTS ROLES SESSIONS SESSION_STATE SETTINGS SYNONYMS USERS")
              .split(" "));

  @Test
  void viewsShowWhatConcernsTheUser() throws Exception {
    assertEquals(EnumSet.allOf(SystemTable.class), VIEWS.keySet());
    Set<String> names = new TreeSet<>();
    try (Statement statement = admin.createStatement();
        ResultSet rows =
            statement.executeQuery(
                "SELECT TABLE_NAME FROM INFORMATION_SCHEMA.TABLES"
                    + " WHERE TABLE_SCHEMA = 'INFORMATION_SCHEMA'")) {
      while (rows.next()) {
        names.add(rows.getString(1));
      }
    }
    assertEquals(new TreeSet<>(CATALOG), names);
    List<String> views = new ArrayList<>();
    VIEWS.keySet().forEach(view -> views.add("TOLLGATE." + view));
    names.forEach(name -> views.add("INFORMATION_SCHEMA." + name));
    newSchema();
    List<String> wrong = new ArrayList<>();
    Set<String> toldToAdministrators = new TreeSet<>();
    for (Holder user : Holder.values()) {
      try (Connection session = connect(user)) {
        for (String view : views) {
          Said said = say(session, "SELECT * FROM " + view);
          String told = told(user, said.text);
          if (!said.state.isEmpty() || told != null) {
            wrong.add(user + " was told " + told + " by " + view + ": " + said.state);
          }
          if (user == Holder.ADMIN) {
            ADMINISTRATORS.stream()
                .filter(secret -> tells(said.text, secret))
                .forEach(toldToAdministrators::add);
          }
        }
      }
    }
    for (Map.Entry<SystemTable, Sight> view : VIEWS.entrySet()) {
      addWrongSight(view.getKey(), view.getValue(), wrong);
    }
    assertEquals("", String.join("\n", wrong));
    assertEquals(new TreeSet<>(ADMINISTRATORS), toldToAdministrators);
  }

  private static void addWrongSight(SystemTable view, Sight sight, List<String> wrong)
      throws SQLException {
    String count = "SELECT COUNT(*) FROM TOLLGATE." + view;
    try (Connection session = connect("NOBODY", "nobody-password", "matrix")) {
      int all = Integer.parseInt(String.valueOf(one(admin, count)));
      int seen = Integer.parseInt(String.valueOf(one(session, count)));
      boolean right =
          switch (sight) {
            case ALL -> seen == all;
            case OWN -> seen > 0 && seen < all;
            case NOTHING -> seen == 0;
          };
      if (!right) {
        wrong.add(
            "a user without rights sees "
                + seen
                + " of "
                + all
                + " rows of "
                + view
                + ", not "
                + sight);
      }
    }
  }

  /** An auditor sees all rows, but no token; a lock manager all locks and leases. */
  @Test
  void viewsShowAuditorsAllRowsAndNoToken() throws Exception {
    try (Connection auditor = connect(Holder.AUDITOR);
        Connection manager = connect(Holder.MANAGER)) {
      for (SystemTable view : SystemTable.values()) {
        String count = "SELECT COUNT(*) FROM TOLLGATE." + view;
        if (view != SystemTable.SLOW_STATEMENTS) {
          assertEquals(one(admin, count), one(auditor, count), view.name());
        }
      }
      for (String view :
          List.of("LOCKS", "LOCK_WAITERS", "LOCK_DEFINITIONS", "LEASES", "STUCK_LOCKS")) {
        String count = "SELECT COUNT(*) FROM TOLLGATE." + view;
        assertEquals(one(admin, count), one(manager, count), view);
      }
      for (String view : List.of("USERS", "SESSIONS")) {
        assertEquals(
            "0",
            one(
                manager,
                "SELECT COUNT(*) FROM TOLLGATE." + view + " WHERE USER_NAME <> 'U_MANAGER'"),
            view);
      }
      String held = "SELECT TOKEN FROM TOLLGATE.LOCKS WHERE LOCK_NAME = 'app-held'";
      assertEquals(token, one(manager, held));
      assertNull(one(auditor, held));
      for (String told :
          List.of(
              "TOKEN FROM TOLLGATE.LOCKS",
              "TOKEN FROM TOLLGATE.STUCK_LOCKS",
              "HIGHEST_TOKEN FROM TOLLGATE.FENCES")) {
        Said said = say(auditor, "SELECT " + told);
        assertEquals("", said.text.replace("null|", ""), told);
      }
      assertEquals(
          "U_AUDITOR|AUDIT|CLUSTER|",
          say(auditor, "SELECT * FROM TOLLGATE.RIGHTS WHERE GRANTEE = 'U_AUDITOR'").text);
      assertEquals("U_MANAGER|MANAGE|LOCKS|", say(manager, "SELECT * FROM TOLLGATE.RIGHTS").text);
    }
  }

  /** A REVOKE counts at once, also of the role that has the right. */
  @Test
  void dutiesComeAndGoWithARole() throws Exception {
    run(admin, "CREATE ROLE KEEPER");
    run(admin, "GRANT MANAGE ON LOCKS TO KEEPER");
    run(admin, "GRANT KEEPER TO U_NONE");
    String lease = String.valueOf(one(admin, "SELECT create_lease(60000)"));
    try (Connection session = connect(Holder.NONE)) {
      assertEquals("", say(session, "SELECT renew_lease(" + lease + ")").state);
      run(admin, "REVOKE KEEPER FROM U_NONE");
      assertEquals("42501", say(session, "SELECT renew_lease(" + lease + ")").state);
      assertEquals("42501", say(session, "SELECT revoke_lease(" + lease + ")").state);
      run(admin, "GRANT KEEPER TO U_NONE");
      assertEquals("", say(session, "SELECT renew_lease(" + lease + ")").state);
      run(admin, "REVOKE MANAGE ON LOCKS FROM KEEPER");
      assertEquals("42501", say(session, "SELECT renew_lease(" + lease + ")").state);
      run(admin, "GRANT MANAGE ON LOCKS TO KEEPER");
      run(admin, "DROP ROLE KEEPER");
      assertEquals("42501", say(session, "SELECT renew_lease(" + lease + ")").state);
    }
    run(admin, "SELECT revoke_lease(" + lease + ")");
  }

  @Test
  void everyRequestNeedsItsRight() throws Exception {
    String schema = newSchema();
    List<String> wrong = new ArrayList<>();
    try (RawClient other = new RawClient(node.listenAddress())) {
      logIn(other, Holder.ADMIN);
      Reply.SessionReady ready = openSession(other);
      long lease = Long.parseLong(String.valueOf(one(admin, "SELECT create_lease(600000)")));
      Map<Class<?>, RequestRights.Row> rows = RequestRights.all(schema, ready, lease);
      Set<Class<?>> known = new LinkedHashSet<>(RequestRights.OTHERS);
      known.addAll(rows.keySet());
      Set<Class<?>> all = new LinkedHashSet<>();
      for (Class<?> request : Request.class.getPermittedSubclasses()) {
        all.add(request);
      }
      assertEquals(all, known);
      for (Map.Entry<Class<?>, RequestRights.Row> row : rows.entrySet()) {
        for (Holder user : Holder.values()) {
          addWrongReply(row.getValue(), user, wrong);
        }
      }
    }
    assertEquals("", String.join("\n", wrong));
  }

  /** Its connections go on, but it takes the data of all users with it no more. */
  @Test
  void expiredAdministratorOpensNoSessionAndFetchesNoSnapshot() throws Exception {
    Set<Class<?>> refused =
        Set.of(Request.OpenSession.class, Request.OpenSnapshot.class, Request.ReadSnapshot.class);
    String schema = newSchema();
    List<String> wrong = new ArrayList<>();
    Map<Class<?>, RawClient> clients = new LinkedHashMap<>();
    run(admin, "CREATE USER U_LAPSED PASSWORD 'U_LAPSED-password' ADMIN");
    try (Connection own = connect("U_LAPSED", "U_LAPSED-password", "matrix");
        RawClient other = new RawClient(node.listenAddress())) {
      logIn(other, "U_LAPSED", "U_LAPSED-password");
      Reply.SessionReady ready = openSession(other);
      long lease = Long.parseLong(String.valueOf(one(own, "SELECT create_lease(600000)")));
      Map<Class<?>, RequestRights.Row> rows = RequestRights.all(schema, ready, lease);
      for (Class<?> request : rows.keySet()) {
        RawClient client = new RawClient(node.listenAddress());
        clients.put(request, client);
        logIn(client, "U_LAPSED", "U_LAPSED-password");
        if (request != Request.OpenSession.class) {
          openSession(client);
        }
      }
      run(admin, "ALTER USER U_LAPSED VALID UNTIL '2000-01-01'");
      for (Map.Entry<Class<?>, RequestRights.Row> row : rows.entrySet()) {
        RawClient client = Objects.requireNonNull(clients.get(row.getKey()));
        Reply reply = client.call(row.getValue().request());
        if (refused.contains(row.getKey()) != "28000".equals(refusal(reply))) {
          wrong.add(row.getValue().request() + ": " + reply);
        }
        // the refusal is no end of the connection
        assertInstanceOf(Reply.Ok.class, client.call(new Request.Ping()), row.toString());
      }
    } finally {
      for (RawClient client : clients.values()) {
        client.close();
      }
      run(admin, "DROP USER U_LAPSED");
    }
    assertEquals("", String.join("\n", wrong));
  }

  private static void addWrongReply(RequestRights.Row row, Holder user, List<String> wrong)
      throws Exception {
    try (RawClient client = new RawClient(node.listenAddress())) {
      logIn(client, user);
      if (!(row.request() instanceof Request.OpenSession)) {
        openSession(client);
      }
      Reply reply = client.call(row.request());
      String refusal = refusal(reply);
      boolean allowed = row.allowed().contains(user);
      boolean right =
          allowed
              // a node may have a reason of its own: this one keeps no snapshots
              ? refusal == null || (user == Holder.ADMIN && !row.refusals().contains(refusal))
              : refusal != null && (row.refusals().isEmpty() || row.refusals().contains(refusal));
      WireWriter body = new WireWriter();
      reply.write(body);
      String told = told(user, new String(body.toByteArray(), StandardCharsets.ISO_8859_1));
      if (!right || told != null) {
        wrong.add(user + ": " + row.request() + ": " + reply + ", told " + told);
      }
    }
  }

  /** The SQLState of a refusal, or null. */
  private static @Nullable String refusal(Reply reply) {
    if (reply instanceof Reply.Failure failure) {
      return failure.sqlState();
    }
    if (reply instanceof Reply.HeartbeatAck ack) {
      return ack.lostSessions().isEmpty() && ack.lostLeases().isEmpty() ? null : "lost";
    }
    if (reply instanceof Reply.BatchResult batch) {
      for (Reply one : batch.results()) {
        String refusal = refusal(one);
        if (refusal != null) {
          return refusal;
        }
      }
    }
    return null;
  }

  private static Reply.SessionReady openSession(RawClient client) throws Exception {
    return assertInstanceOf(
        Reply.SessionReady.class,
        client.call(new Request.OpenSession(60_000, 60_000, RequestRights.OPTIONS)));
  }

  private static void logIn(RawClient client, Holder user) throws Exception {
    logIn(client, nameOf(user), passwordOf(user));
  }

  private static void logIn(RawClient client, String user, String password) throws Exception {
    assertInstanceOf(Reply.LoginRequired.class, client.greet());
    ScramClient scram = new ScramClient(user, ScramBinding.choose(null, List.of()));
    Reply.LoginChallenge challenge =
        assertInstanceOf(
            Reply.LoginChallenge.class,
            client.call(new Request.BeginLogin(ScramBinding.PLAIN, scram.first())));
    byte[] proof = scram.last(challenge.data(), TestUsers.salted(password));
    assertInstanceOf(Reply.LoggedIn.class, client.call(new Request.ContinueLogin(proof)));
  }
}
