package dev.tollgate.sql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.regex.Pattern;
import org.h2.command.Prepared;
import org.h2.command.ddl.DefineCommand;
import org.h2.command.dml.Call;
import org.h2.command.dml.DataChangeStatement;
import org.h2.command.dml.Explain;
import org.h2.command.query.Query;
import org.h2.engine.SessionLocal;
import org.h2.jdbc.JdbcConnection;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Statements that are cut up and put together at random: whatever is planned, and H2 can prepare,
 * is to H2 what the plan says it is. Replay a run with {@code -Dtollgate.test.seed=...}.
 */
class MutationTest {

  private static final int STATEMENTS = Integer.getInteger("tollgate.statements", 2_000);

  private static final List<String> SEEDS =
      List.of(
          "SELECT a, b x FROM t WHERE a = 1",
          "SELECT * FROM t JOIN s ON t.a = s.a WHERE t.b IN (SELECT b FROM s)",
          "SELECT COUNT(*) FROM t GROUP BY a HAVING COUNT(*) > 1 ORDER BY 1 FETCH FIRST 2 ROWS"
              + " ONLY",
          "WITH w AS (SELECT a FROM t) SELECT * FROM w, s",
          "SELECT NEXT VALUE FOR q",
          "SELECT a FROM FINAL TABLE (INSERT INTO t VALUES (1, 2, 3)) WHERE b = 2",
          "SELECT * FROM OLD TABLE (DELETE FROM s WHERE a = 1)",
          "VALUES (1, 2), (3, 4)",
          "TABLE t",
          "SELECT a FROM t FOR UPDATE",
          "SELECT CASE WHEN a = 1 THEN b ELSE c END FROM t WINDOW w AS (ORDER BY a)",
          "SELECT CAST(a AS INT), b::INT, ARRAY[1, 2], (1, 2), DATE '2020-01-01' FROM t",
          "SELECT LISTAGG(a, ',') WITHIN GROUP (ORDER BY b) FROM t UNION ALL SELECT b FROM s",
          "SELECT * FROM UNNEST(ARRAY[1, 2]) u (x) LEFT JOIN t ON x = a",
          "SELECT DISTINCT ON (a) a, b FROM t QUALIFY ROW_NUMBER() OVER (ORDER BY a) = 1",
          "CALL ABS(1)",
          "EXPLAIN UPDATE t SET a = 1",
          "INSERT INTO t (a, b) VALUES (1, 2), (DEFAULT, NULL)",
          "INSERT INTO t SELECT a, b, c FROM s",
          "UPDATE t x SET a = 1, (b, c) = (SELECT a, b FROM s WHERE s.a = 1) WHERE x.a = 2",
          "DELETE FROM t AS x WHERE a = 1",
          "MERGE INTO t USING s ON t.a = s.a WHEN MATCHED THEN UPDATE SET b = s.b",
          "MERGE INTO t (a, b) KEY (a) VALUES (1, 2)",
          "CREATE TABLE n (a INT PRIMARY KEY, b VARCHAR(10) DEFAULT 'x')",
          "CREATE VIEW v AS SELECT a FROM t",
          "ALTER TABLE t ADD COLUMN d INT DEFAULT 1",
          "SELECT rows, next AS delete FROM update GROUPS WHERE rows = 1 ORDER BY next LIMIT 1, 2",
          "UPDATE update SET rows = next, delete = 2 WHERE delete IN (1, 2) LIMIT 3",
          "DELETE update WHERE rows = (SELECT NEXT VALUE FOR Q) FETCH NEXT 2 ROWS ONLY",
          "MERGE INTO update USING s ON next = s.a WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN"
              + " INSERT (delete) VALUES (1)",
          "SELECT SUM(rows) OVER (PARTITION BY next ORDER BY delete ROWS BETWEEN CURRENT ROW AND 1"
              + " FOLLOWING), `ROWS` FROM update",
          "CREATE TABLE n (insert INT ON UPDATE 5, drop INT REFERENCES x (a) ON DELETE CASCADE)",
          "DROP TABLE t CASCADE",
          "CREATE TABLE n (a VARCHAR(10) DEFAULT CURRENT_USER ON UPDATE USER)",
          "INSERT INTO t SELECT a, b, LENGTH(SESSION_USER) FROM s WHERE USER = 'A'",
          "GRANT SELECT, INSERT ON t TO r",
          "REVOKE ALL ON TABLE s, t FROM PUBLIC",
          "GRANT LOCK ON 'a%' TO r",
          "REVOKE USAGE ON SEQUENCE q FROM r",
          "CREATE USER IF NOT EXISTS u PASSWORD 'p' ADMIN",
          "ALTER USER u SET PASSWORD 'p'",
          "DROP USER IF EXISTS u");

  /** Pieces that mean something special to one of the parsers. */
  private static final List<String> PIECES =
      List.of(
          ("FINAL TABLE|OLD TABLE (|NEW TABLE (|USE INDEX (|NEXT VALUE FOR q|NEXT|CURRENT|VALUE|FOR"
                  + " UPDATE|FENCED|BY LOCK 'x' TOKEN 1|LOCKED|LOCKED BY|FILE_READ('x')|SLEEP(1)|SET|SET(a,"
                  + " 1)|SELECT"
                  + "|DELETE FROM s|INSERT INTO s VALUES (1,2,3)|UPDATE s SET a ="
                  + " 1|(|)|,|;|.|*|=|AS"
                  + "|t|s|q|x|a|b|LATERAL|TABLE|TABLE"
                  + " (|VALUES|WITH|FROM|WHERE|ON|USING|KEY|INTO|JOIN"
                  + "|LEFT|UNION|MINUS|E|E'x'|N'x'|X'41'|'s'|\"T\"|\"t\"|1|1.5|?|-|+|--|/*|*/|//|$$|{|}"
                  + "|[|]|::|:|@x|`t`|#|ROW|ARRAY|CASE|WHEN|END|NULL|DEFAULT|CALL|EXPLAIN|ANALYZE|PLAN"
                  + "|ROWNUM|_ROWID_|PIVOT|UNNEST|INTERVAL|DAY|HOUR|FORMAT JSON|AT|TIME ZONE|AT"
                  + " LOCAL"
                  + "|DATE|TIMESTAMP|WITHOUT TIME"
                  + " ZONE|TOP|DISTINCT|ALL|ANY|EXISTS|UNIQUE|NATURAL|CROSS"
                  + "|ASOF|QUALIFY|WINDOW|LIMIT 1|OFFSET 1|FETCH FIRST ROW ONLY|OVER"
                  + " (|IS|JSON|JSON '1'"
                  + "|GROUPS|CSVREAD('x')|LINK_SCHEMA('a','b','c','d','e','f')|SYSTEM_RANGE(1,2)"
                  + "|TABLE_DISTINCT(|IF EXISTS|CASCADE|REPLACE|IGNORE|DIRECT|OVERRIDING USER VALUE"
                  + "|ROWS|COLUMN|ONLY|OVER|OUTER|THEN|BOTH|COLLATE|MERGE|INSERT|UPDATE|DELETE|ALTER|DROP"
                  + "|CREATE|REGEXP|ESCAPE|OVERLAPS|CHARACTER|BIT|INSERT(|ON DELETE|ON UPDATE|THEN DELETE"
                  + "|1_0|1L|0b1|d '2020-01-01'|ts|U&'\\0041'|U&\"\\0041\"|a$b|LIMIT 1, 1|VALUES ()"
                  + "|USER|CURRENT_USER|GRANT|REVOKE|TO r|LOCK|USAGE|SEQUENCE|SCHEMA|PASSWORD|ADMIN"
                  + "|STREAM|SPECIFIC|MULTISET|PERIOD|MATCH_CONDITION")
              .split("\\|", -1));

  private static final Pattern DELTA_TABLE = Pattern.compile("(FINAL|OLD|NEW) TABLE");
  private static final Pattern FORBIDDEN =
      Pattern.compile("\\b(FILE_READ|SLEEP|CSVREAD|LINK_SCHEMA|SET|TABLE_DISTINCT)\\(");

  private final SqlFrontend frontend = new SqlFrontend(0);

  @Test
  void planSaysWhatTheStatementIsToH2() throws SQLException {
    requireAgreement(STATEMENTS);
  }

  @Tag("nightly")
  @Test
  void plansOfManyMutationsSayWhatTheyAreToH2() throws SQLException {
    requireAgreement(25 * STATEMENTS);
  }

  private void requireAgreement(int count) throws SQLException {
    long seed = Long.getLong("tollgate.test.seed", 20261120L);
    System.out.println("MutationTest seed " + seed);
    Random random = new Random(seed);
    List<String> contradictions = new ArrayList<>();
    int prepared = 0;
    try (Connection connection = DriverManager.getConnection("jdbc:h2:mem:")) {
      createTables(connection);
      SessionLocal session = (SessionLocal) ((JdbcConnection) connection).getSession();
      for (int i = 0; i < count; i++) {
        String sql = mutant(random);
        Plan plan = planned(sql);
        String text = plan == null ? null : textOf(plan);
        Prepared statement = text == null ? null : prepared(session, text);
        if (statement != null) {
          prepared++;
          String contradiction = contradiction(plan, statement);
          if (contradiction != null) {
            contradictions.add(contradiction + ": " + sql + " -> " + text);
          }
        }
      }
    }
    System.out.println("MutationTest: " + prepared + " statements were prepared");
    assertEquals(List.of(), contradictions);
    assertTrue(prepared > count / 50, "so few statements prove little");
  }

  private static void createTables(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE t (a INT, b INT, c INT)");
      statement.execute("CREATE TABLE s (a INT, b INT, c INT)");
      statement.execute("CREATE TABLE \"t\" (a INT)");
      statement.execute("CREATE TABLE x (a INT)");
      statement.execute("CREATE TABLE update (rows INT, next INT, delete INT)");
      statement.execute("CREATE SEQUENCE q");
      statement.execute("CREATE ROLE r");
    }
  }

  private static String mutant(Random random) {
    List<String> words = new ArrayList<>(Arrays.asList(any(SEEDS, random).split(" ", -1)));
    for (int mutations = 1 + random.nextInt(6) / 4; mutations > 0; mutations--) {
      String piece =
          random.nextInt(3) == 0
              ? any(Arrays.asList(any(SEEDS, random).split(" ", -1)), random)
              : any(PIECES, random);
      int at = random.nextInt(words.size());
      switch (random.nextInt(5)) {
        case 0 -> words.set(at, piece);
        case 1 -> Collections.swap(words, at, Math.min(at + 1, words.size() - 1));
        case 2 -> words.set(at, "");
        default -> words.add(at, piece);
      }
    }
    StringBuilder sql = new StringBuilder();
    for (String word : words) {
      sql.append(word)
          .append(
              switch (random.nextInt(40)) {
                case 0 -> "";
                case 1 -> "/* x */";
                case 2 -> " -- x\n";
                default -> " ";
              });
    }
    return sql.toString();
  }

  private static String any(List<String> choices, Random random) {
    return choices.get(random.nextInt(choices.size()));
  }

  private @Nullable Plan planned(String sql) {
    try {
      return frontend.plan(sql);
    } catch (SqlRefused refused) {
      return null;
    }
  }

  private static @Nullable String textOf(Plan plan) {
    if (plan instanceof Plan.Read read) {
      return read.sql();
    }
    return plan instanceof Plan.Write write ? write.sql() : null;
  }

  private static @Nullable Prepared prepared(SessionLocal session, String text) {
    try {
      return session.prepare(text);
    } catch (RuntimeException notAStatementOfH2) {
      return null;
    }
  }

  /** What the plan and H2 do not agree on, if anything. */
  private static @Nullable String contradiction(Plan plan, Prepared statement) {
    String kind = statement.getClass().getSimpleName();
    if (plan instanceof Plan.Read) {
      boolean isRead =
          statement instanceof Explain
              || (statement instanceof Query && isPure(statement))
              || (statement instanceof Call && isPure(statement));
      return isRead ? null : "a read is a " + kind + " that writes";
    }
    Plan.Write write = (Plan.Write) plan;
    if (write.kind() == WriteKind.DDL) {
      return statement instanceof DefineCommand ? null : "DDL is a " + kind;
    }
    if (write.returnsRows()) {
      return statement instanceof Query || statement instanceof Call ? null : "rows from " + kind;
    }
    if (!(statement instanceof DataChangeStatement change)) {
      return "a change is a " + kind;
    }
    String table = change.getTable().getName();
    return table.equals(write.targets().get(0).name().name()) ? null : "the target is " + table;
  }

  /** H2 itself calls a query read-only although it selects from a change. */
  private static boolean isPure(Prepared statement) {
    String text = String.valueOf(statement.getSQL()).replaceAll("'[^']*'", "''");
    return statement.isReadOnly()
        && !DELTA_TABLE.matcher(text).find()
        && !FORBIDDEN.matcher(text).find();
  }
}
