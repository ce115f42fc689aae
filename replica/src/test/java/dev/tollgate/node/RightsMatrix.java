package dev.tollgate.node;

import static dev.tollgate.node.RightsMatrix.Holder.ADMIN;
import static dev.tollgate.node.RightsMatrix.Holder.DELETE;
import static dev.tollgate.node.RightsMatrix.Holder.FORCE;
import static dev.tollgate.node.RightsMatrix.Holder.INSERT;
import static dev.tollgate.node.RightsMatrix.Holder.INSERT_LOCK;
import static dev.tollgate.node.RightsMatrix.Holder.INSERT_SCHEMA;
import static dev.tollgate.node.RightsMatrix.Holder.LOCK;
import static dev.tollgate.node.RightsMatrix.Holder.MANAGER;
import static dev.tollgate.node.RightsMatrix.Holder.MERGE;
import static dev.tollgate.node.RightsMatrix.Holder.OWNER;
import static dev.tollgate.node.RightsMatrix.Holder.SELECT;
import static dev.tollgate.node.RightsMatrix.Holder.SELECT_DELETE;
import static dev.tollgate.node.RightsMatrix.Holder.SELECT_UPDATE;
import static dev.tollgate.node.RightsMatrix.Holder.USAGE;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Every kind of statement, and who may send it. APP is a schema of user OWNER, with table T, view
 * V, sequence S, domain D, and table F that lock 'app-held' fences. Another user holds this lock.
 */
final class RightsMatrix {
  /** A user with these rights alone. */
  enum Holder {
    NONE,
    LOCK("LOCK ON 'app-%'"),
    OTHER_LOCK("LOCK ON 'other-%'", "FORCE ON 'other-%'"),
    FORCE("FORCE ON 'app-%'"),
    SELECT("SELECT ON APP.T", "SELECT ON APP.V"),
    INSERT("INSERT ON APP.T", "INSERT ON APP.F", "INSERT ON APP.G"),
    UPDATE("UPDATE ON APP.T", "UPDATE ON APP.F", "UPDATE ON APP.G"),
    DELETE("DELETE ON APP.T", "DELETE ON APP.F", "DELETE ON APP.G"),
    SELECT_UPDATE("SELECT, UPDATE ON APP.T", "SELECT, UPDATE ON APP.G"),
    SELECT_DELETE("SELECT, DELETE ON APP.T", "SELECT, DELETE ON APP.G"),
    MERGE("SELECT, INSERT, UPDATE ON APP.T", "SELECT, INSERT, UPDATE ON APP.G"),
    INSERT_LOCK("INSERT ON APP.F", "LOCK ON 'app-%'"),
    INSERT_SCHEMA("INSERT ON SCHEMA APP"),
    USAGE("USAGE ON SEQUENCE APP.S"),
    AUDITOR("AUDIT ON CLUSTER"),
    MANAGER("MANAGE ON LOCKS"),
    /** Owns schema APP. */
    OWNER,
    ADMIN;

    @SuppressWarnings("ImmutableEnumChecker") // made by List.of
    private final List<String> grants;

    Holder(String... grants) {
      this.grants = List.of(grants);
    }

    List<String> grants() {
      return grants;
    }

    /** Those who may read table APP.T, and so be told of its rows. */
    static final Set<Holder> READERS =
        EnumSet.of(SELECT, SELECT_UPDATE, SELECT_DELETE, MERGE, OWNER, ADMIN);

    /** Those who may learn the token of lock 'app-held'. */
    static final Set<Holder> LOCKERS = EnumSet.of(LOCK, FORCE, INSERT_LOCK, MANAGER, ADMIN);

    /** Those who may learn who holds lock 'app-held'. */
    static final Set<Holder> LOOKERS =
        EnumSet.of(LOCK, FORCE, INSERT_LOCK, MANAGER, AUDITOR, ADMIN);

    /** Those who may learn of all users and rights. */
    static final Set<Holder> OVERSEERS = EnumSet.of(AUDITOR, ADMIN);
  }

  /**
   * A statement. Before the text may stand which keys the client wants: {@code {keys}} for those
   * that are generated, or {@code {keys A}} for column A.
   *
   * @param otherwise the SQLState with which it fails for users who may send it, or empty
   */
  record Row(String sql, Set<Holder> allowed, String otherwise) {
    /** True if the statement may leave other rows in table APP.T. */
    boolean changesRows() {
      return CHANGE.matcher(sql).find();
    }

    /** True if the statement may leave the session otherwise than it was. */
    boolean changesSession() {
      return SESSION.matcher(sql).find();
    }

    /** True if the statement may leave other objects. */
    boolean defines() {
      return DEFINITION.matcher(sql).lookingAt();
    }
  }

  private static final Pattern CHANGE =
      Pattern.compile(
          "^(?:\\{keys.*?\\} )?(INSERT|UPDATE|DELETE|MERGE|TRUNCATE)|(FINAL|NEW|OLD) TABLE");
  private static final Pattern SESSION =
      Pattern.compile("^(BEGIN|SET|SAVEPOINT|ROLLBACK|RELEASE|COMMIT)|acquire|lease");
  private static final Pattern DEFINITION =
      Pattern.compile("CREATE|ALTER|DROP|COMMENT|GRANT|REVOKE");

  private final List<Row> rows = new ArrayList<>();

  private RightsMatrix() {}

  private void add(String sql, Set<Holder> allowed) {
    add(sql, allowed, "");
  }

  private void add(String sql, Set<Holder> allowed, String otherwise) {
    Set<Holder> all = EnumSet.copyOf(allowed);
    all.add(ADMIN);
    rows.add(new Row(sql, all, otherwise));
  }

  private static Set<Holder> owner(Holder... more) {
    Set<Holder> allowed = EnumSet.of(OWNER);
    allowed.addAll(List.of(more));
    return allowed;
  }

  static List<Row> all() {
    RightsMatrix matrix = new RightsMatrix();
    matrix.addQueries();
    matrix.addChanges();
    matrix.addFencedWrites();
    matrix.addDefinitions();
    matrix.addAdministration();
    matrix.addSessions();
    matrix.addLockFunctions();
    matrix.addProcedures();
    return matrix.rows;
  }

  private void addQueries() {
    for (String sql :
        List.of(
            "SELECT * FROM APP.T",
            "WITH Q AS (SELECT * FROM APP.T) SELECT * FROM Q",
            "TABLE APP.T",
            "SELECT (SELECT MAX(A) FROM APP.T)",
            "EXPLAIN SELECT * FROM APP.T",
            "EXPLAIN UPDATE APP.T SET A = 1",
            "SELECT * FROM APP.T FOR UPDATE",
            "SELECT CAST('x' || A AS INT) FROM APP.T WHERE ID < 0")) {
      add(sql, Holder.READERS);
    }
    add("SELECT CAST('x' || A AS INT) FROM APP.T", Holder.READERS, "22018");
    add("SELECT * FROM APP.V", owner(SELECT));
    for (String sql : List.of("SELECT 1", "VALUES 1", "CALL 1 + 1", "SHOW TABLES")) {
      add(sql, EnumSet.allOf(Holder.class));
    }
    add("SCRIPT", EnumSet.of(ADMIN));
    add("SELECT NEXT VALUE FOR APP.S", owner(USAGE, INSERT_SCHEMA));
    add("SELECT NEXT VALUE FOR PUBLIC_S", EnumSet.of(ADMIN));
  }

  private void addChanges() {
    add("INSERT INTO APP.T VALUES (9, 9)", owner(INSERT, MERGE, INSERT_SCHEMA));
    // the row that is there is for those who may read it
    add("INSERT INTO APP.T VALUES (1, 5)", owner(INSERT, MERGE, INSERT_SCHEMA), "23505");
    add("INSERT INTO APP.T VALUES (10, 471147)", owner(INSERT, MERGE, INSERT_SCHEMA), "23505");
    add("INSERT INTO APP.T SELECT ID + 50, A + 1 FROM APP.T", owner(MERGE));
    add("INSERT INTO APP.T VALUES (100 + NEXT VALUE FOR APP.S, 1)", owner(INSERT_SCHEMA));
    add("UPDATE APP.T SET A = 2", owner(SELECT_UPDATE, MERGE));
    add("UPDATE APP.T SET A = 2 LOCKED BY 'app-x'", EnumSet.of(ADMIN));
    add("DELETE FROM APP.T", owner(SELECT_DELETE));
    add("MERGE INTO APP.T KEY (ID) VALUES (1, 5)", owner(MERGE));
    add(
        "MERGE INTO APP.T USING (VALUES 1) AS N(ID) ON T.ID = N.ID WHEN MATCHED THEN DELETE",
        owner(SELECT_DELETE));
    addReturnedRows();
    addConditions();
    add("TRUNCATE TABLE APP.T", owner(DELETE, SELECT_DELETE));
  }

  /** Rows and columns of what a statement writes are read, so they need SELECT. */
  private void addReturnedRows() {
    for (String rows : List.of("FINAL", "NEW")) {
      String from = "SELECT * FROM " + rows + " TABLE ";
      add(from + "(INSERT INTO APP.T VALUES (8, 8))", owner(MERGE));
      add(from + "(UPDATE APP.T SET A = A)", owner(SELECT_UPDATE, MERGE));
      add(from + "(MERGE INTO APP.T KEY (ID) VALUES (1, 5))", owner(MERGE));
    }
    add("SELECT ID FROM FINAL TABLE (INSERT INTO APP.G (A) VALUES (8))", owner(MERGE));
    add("SELECT 1 FROM FINAL TABLE (INSERT INTO APP.G (A) VALUES (8))", owner(MERGE));
    add("SELECT * FROM OLD TABLE (UPDATE APP.T SET A = A)", owner(SELECT_UPDATE, MERGE));
    add("SELECT * FROM OLD TABLE (DELETE FROM APP.T)", owner(SELECT_DELETE));
    add("SELECT * FROM OLD TABLE (MERGE INTO APP.T KEY (ID) VALUES (1, 5))", owner(MERGE));
    add("SELECT (SELECT MAX(S) FROM FINAL TABLE (INSERT INTO APP.G (A) VALUES (8)))", owner(MERGE));
    // what the defaults of the new row made without reading any table is no secret
    for (String keys : List.of("{keys} ", "{keys ID} ", "{keys N} ", "{keys 1} ")) {
      add(keys + "INSERT INTO APP.G (A) VALUES (8)", owner(INSERT, MERGE, INSERT_SCHEMA));
    }
    for (String keys :
        List.of("{keys S} ", "{keys ID,S} ", "{keys A} ", "{keys W} ", "{keys 4} ")) {
      add(keys + "INSERT INTO APP.G (A) VALUES (8)", owner(MERGE));
    }
    for (String keys : List.of("{keys} ", "{keys A} ")) {
      add(keys + "UPDATE APP.T SET A = A", owner(SELECT_UPDATE, MERGE));
      add(keys + "MERGE INTO APP.T KEY (ID) VALUES (1, 5)", owner(MERGE));
    }
    add("{keys} INSERT INTO APP.T VALUES (9, 9)", owner(INSERT, MERGE, INSERT_SCHEMA));
    add("{keys A} INSERT INTO APP.T VALUES (9, 9)", owner(MERGE));
    add("{keys A} DELETE FROM APP.T", owner(SELECT_DELETE));
  }

  /** How many rows a change meets tells of their values, and so does an error of a condition. */
  private void addConditions() {
    for (String condition :
        List.of("A > 471146", "ID = 1 AND A BETWEEN 1 AND 500000", "A IN (SELECT A FROM APP.T)")) {
      add("UPDATE APP.T SET ID = ID WHERE " + condition, owner(SELECT_UPDATE, MERGE));
      add("DELETE FROM APP.T WHERE " + condition, owner(SELECT_DELETE));
    }
    add("UPDATE APP.T SET ID = A - 471146", owner(SELECT_UPDATE, MERGE));
    add("UPDATE APP.T SET ID = CAST('x' || A AS INT)", owner(SELECT_UPDATE, MERGE), "22018");
    add("UPDATE APP.T SET A = (SELECT MAX(A) FROM APP.T)", owner(SELECT_UPDATE, MERGE));
    add("DELETE FROM APP.T WHERE CAST('x' || A AS INT) = 1", owner(SELECT_DELETE), "22018");
    add(
        "MERGE INTO APP.T USING (SELECT ID FROM APP.T) N ON T.ID = N.ID WHEN MATCHED THEN UPDATE"
            + " SET A = 7",
        owner(SELECT_UPDATE, MERGE));
    add(
        "MERGE INTO APP.T USING (VALUES 9) AS N(ID) ON T.A = N.ID WHEN NOT MATCHED THEN INSERT"
            + " VALUES (9, 9)",
        owner(MERGE));
    add("INSERT INTO APP.T VALUES ((SELECT MAX(A) FROM APP.T), 9)", owner(MERGE));
    // a rule that fails names the rule, and no value that it has read
    add("INSERT INTO APP.G (A) VALUES (-1)", owner(INSERT, MERGE, INSERT_SCHEMA), "23513");
    // a plan of what reads nothing tells no more than INFORMATION_SCHEMA
    add("EXPLAIN INSERT INTO APP.T VALUES (9, 9)", EnumSet.allOf(Holder.class));
    for (String reading :
        List.of(
            "SELECT * FROM FINAL TABLE (INSERT INTO APP.T VALUES (9, 9))",
            "INSERT INTO APP.T SELECT ID + 50, A + 1 FROM APP.T",
            "DELETE FROM APP.T WHERE A > 471146",
            "MERGE INTO APP.T KEY (ID) VALUES (1, 5)")) {
      add("EXPLAIN " + reading, Holder.READERS);
    }
  }

  private void addFencedWrites() {
    // the fence answers first, to those with the right on its lock
    Set<Holder> lockers = EnumSet.of(LOCK, INSERT_LOCK, MANAGER);
    add("INSERT INTO APP.F VALUES (1)", lockers, "23T02");
    add("INSERT INTO APP.F VALUES (1) FENCED BY LOCK 'app-held' TOKEN 1", lockers, "23T01");
    add("DROP TABLE APP.F", lockers, "23T02");
    add("UPDATE APP.T SET A = 2 FENCED BY LOCK 'app-x' TOKEN 1", EnumSet.of(ADMIN), "23T01");
    add("ALTER TABLE APP.F NOT FENCED", EnumSet.of(ADMIN));
    add("ALTER TABLE APP.T FENCED BY LOCK 'app-f'", owner());
    add("SET FENCING TOKEN 1 FOR LOCK 'app-held'", EnumSet.allOf(Holder.class));
    add("SET FENCED BY LOCK 'app-held' TOKEN 1", EnumSet.allOf(Holder.class));
    add("SET NOT FENCED", EnumSet.allOf(Holder.class));
  }

  private void addDefinitions() {
    for (String sql :
        List.of(
            "CREATE TABLE APP.T2 (ID INT)",
            "CREATE TABLE APP.T3 AS SELECT * FROM APP.T",
            "CREATE TABLE APP.T4 (ID INT DEFAULT NEXT VALUE FOR APP.S)",
            "CREATE VIEW APP.V2 AS SELECT * FROM APP.T",
            "CREATE INDEX APP.I2 ON APP.T (A)",
            "CREATE SEQUENCE APP.S2",
            "CREATE DOMAIN APP.D2 AS INT",
            "CREATE TYPE APP.D3 AS INT",
            "ALTER TABLE APP.T ADD COLUMN B INT",
            "ALTER VIEW APP.V RECOMPILE",
            "ALTER INDEX APP.I RENAME TO I3",
            "ALTER SEQUENCE APP.S RESTART WITH 5",
            "ALTER DOMAIN APP.D SET DEFAULT 1",
            "DROP TABLE APP.T CASCADE",
            "DROP VIEW APP.V",
            "DROP INDEX APP.I",
            "DROP SEQUENCE APP.S",
            "DROP DOMAIN APP.D",
            "COMMENT ON TABLE APP.T IS 'x'",
            "GRANT SELECT ON APP.T TO VICTIM",
            "REVOKE SELECT ON APP.T FROM VICTIM",
            "GRANT SELECT ON SCHEMA APP TO VICTIM")) {
      add(sql, owner());
    }
    add("CREATE TABLE APP.T5 (ID INT DEFAULT NEXT VALUE FOR PUBLIC_S)", EnumSet.of(ADMIN));
    add(
        "CREATE TABLE APP.T6 (ID INT DEFAULT (SELECT MAX(ID) FROM SECRET_ROWS))",
        EnumSet.of(ADMIN));
    add("CREATE VIEW APP.V3 AS SELECT * FROM SECRET_ROWS", EnumSet.of(ADMIN));
  }

  private void addAdministration() {
    for (String sql :
        List.of(
            "CREATE SCHEMA OTHER",
            "ALTER SCHEMA APP RENAME TO APP3",
            "CREATE ROLE R2",
            "DROP ROLE R",
            "GRANT R TO VICTIM",
            "REVOKE R FROM VICTIM",
            "GRANT USAGE ON SEQUENCE APP.S TO VICTIM",
            "GRANT LOCK ON 'zzz-%' TO VICTIM",
            "REVOKE LOCK ON 'zzz-%' FROM VICTIM",
            "GRANT FORCE ON 'zzz-%' TO VICTIM",
            "GRANT AUDIT ON CLUSTER TO VICTIM",
            "REVOKE AUDIT ON CLUSTER FROM VICTIM",
            "GRANT MANAGE ON LOCKS TO VICTIM",
            "REVOKE MANAGE ON LOCKS FROM VICTIM",
            "CREATE USER EVE",
            "ALTER USER VICTIM SET PASSWORD 'x-password'",
            "ALTER USER VICTIM ADD PASSWORD 'y-password'",
            "ALTER USER VICTIM DROP OLD PASSWORD",
            "ALTER USER VICTIM WORK LIMIT 100",
            "ALTER USER VICTIM SET PASSWORD 'x-password' END SESSIONS",
            "ALTER USER VICTIM ACCOUNT LOCK",
            "ALTER USER VICTIM ACCOUNT UNLOCK",
            "ALTER USER VICTIM VALID UNTIL '2999-12-31'",
            "ALTER USER VICTIM ADMIN FALSE",
            "DROP USER VICTIM")) {
      add(sql, EnumSet.of(ADMIN));
    }
    for (String sql :
        List.of(
            "CREATE LOCK 'app-l' PERMITS 3", "ALTER LOCK 'app-d' PERMITS 3", "DROP LOCK 'app-d'")) {
      add(sql, EnumSet.of(MANAGER));
    }
  }

  private void addSessions() {
    for (String sql :
        List.of(
            "BEGIN",
            "COMMIT",
            "ROLLBACK",
            "SAVEPOINT P",
            "RELEASE SAVEPOINT P",
            "",
            "SET QUERY_TIMEOUT 1000",
            "SET AUTOCOMMIT ON",
            "SET TRANSACTION ISOLATION LEVEL READ COMMITTED",
            "SET TIME ZONE 'UTC'",
            "SET SCHEMA PUBLIC",
            "SET LOCK_TIMEOUT 100",
            "SET PASSWORD '{password}'")) {
      add(sql, EnumSet.allOf(Holder.class));
    }
    add("ROLLBACK TO SAVEPOINT P", EnumSet.allOf(Holder.class), "90063");
  }

  private void addLockFunctions() {
    Set<Holder> lockers = EnumSet.of(LOCK, INSERT_LOCK, MANAGER);
    for (String sql :
        List.of(
            "SELECT acquire_lock('app-l')",
            "SELECT try_acquire_lock('app-l')",
            "SELECT acquire_shared_lock('app-l')",
            "SELECT try_acquire_shared_lock('app-l')",
            "SELECT acquire_locks(ARRAY['app-l', 'app-m'])",
            "SELECT try_acquire_locks(ARRAY['app-l', 'app-m'])",
            "SELECT try_acquire_lock('app-held')",
            "SELECT 1 WHERE try_acquire_lock('app-held') > 0")) {
      add(sql, lockers);
    }
    add("SELECT acquire_lock('app-held')", lockers);
    add("SELECT acquire_transaction_lock('app-l')", EnumSet.allOf(Holder.class), "25P01");
    add("SELECT acquire_lock('app-l', {lease}, 10)", EnumSet.of(MANAGER));
    add("SELECT create_lease(10000)", EnumSet.allOf(Holder.class));
    add("SELECT renew_lease({lease})", EnumSet.of(MANAGER));
    add("SELECT revoke_lease({lease})", EnumSet.of(MANAGER));
    add("SELECT release_lock('app-l')", EnumSet.allOf(Holder.class));
    add("SELECT release_lock('app-held')", EnumSet.allOf(Holder.class));
    add("SELECT release_lock('app-l', {lease})", EnumSet.of(MANAGER));
    add("SELECT transfer_lock('app-l', {lease}, {lease})", EnumSet.of(MANAGER));
    add("SELECT force_release_lock('app-l')", EnumSet.of(FORCE, MANAGER));
    for (String sql :
        List.of(
            "SELECT holds_lock('app-held', 1)",
            "SELECT lock_token('app-held')",
            "SELECT 1 WHERE lock_token('app-held') IS NULL")) {
      add(sql, EnumSet.of(LOCK, FORCE, INSERT_LOCK, MANAGER));
    }
    add("SELECT 1 FROM APP.T WHERE holds_lock('app-held', A)", EnumSet.of(ADMIN));
    add("UPDATE APP.T SET A = 2 WHERE lock_token('app-held') = 1", EnumSet.of(ADMIN));
    add("INSERT INTO APP.T SELECT 70, try_acquire_lock('app-l')", EnumSet.of(ADMIN));
  }

  private void addProcedures() {
    for (String sql :
        List.of(
            "CALL take_snapshot()",
            "CALL verify_replicas()",
            "CALL transfer_leadership('n1')",
            "CALL resign_leadership('n1')",
            "CALL add_node('n9', 'localhost:1', 'localhost:2')",
            "CALL remove_node('n9')",
            "CALL begin_runtime_change()",
            "CALL end_runtime_change()",
            "CALL set_transaction_limits(600000, 60000)",
            "CALL reset_log_time()",
            "CALL end_session(999999)",
            "CALL upgrade_cluster()")) {
      add(sql, EnumSet.of(ADMIN));
    }
  }
}
