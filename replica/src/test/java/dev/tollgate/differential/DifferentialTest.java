package dev.tollgate.differential;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.differential.GeneratedSql.Column;
import dev.tollgate.differential.GeneratedSql.Table;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tollgate gives what plain H2 gives: generated definitions, changes and queries, in transactions
 * and without, through the driver on both. The embedded node takes snapshots and is started again
 * meanwhile, with its log or without; H2 runs through, so that whatever a restart loses is a
 * difference.
 *
 * <p>What Tollgate refuses to run at all is not run on H2 either. The seed is fixed: {@code
 * -Dtollgate.seed=7 -Dtollgate.statements=100000} for other and longer runs.
 */
class DifferentialTest {
  private static final long SEED = Long.getLong("tollgate.seed", 16);
  private static final int STATEMENTS = Integer.getInteger("tollgate.statements", 1_500);
  private static final int STATEMENTS_PER_RESTART = 500;

  /** What plain H2 has to be told to be like a replica. */
  private static final String H2 = "jdbc:h2:mem:differential;ANALYZE_AUTO=0;TIME ZONE=UTC";

  /**
   * Without what a failed ALTER TABLE leaves behind in H2, which it names by a number. A view that
   * is broken has its old columns in H2 until a restart; here a snapshot is one.
   */
  private static final String CATALOG =
      """
      SELECT 'COLUMN', C.TABLE_NAME, C.COLUMN_NAME, C.DATA_TYPE, C.CHARACTER_MAXIMUM_LENGTH,
        C.IS_NULLABLE, C.ORDINAL_POSITION, CAST(C.IS_IDENTITY AS VARCHAR) FROM INFORMATION_SCHEMA.COLUMNS C
        JOIN INFORMATION_SCHEMA.TABLES T ON T.TABLE_SCHEMA = C.TABLE_SCHEMA AND T.TABLE_NAME = C.TABLE_NAME
        WHERE C.TABLE_SCHEMA = 'PUBLIC' AND T.TABLE_TYPE <> 'VIEW'
        AND C.TABLE_NAME NOT LIKE '%~_COPY~_%' ESCAPE '~'
      UNION ALL SELECT 'TABLE', TABLE_NAME, TABLE_TYPE, NULL, NULL, NULL, NULL, NULL
        FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = 'PUBLIC'
        AND TABLE_NAME NOT LIKE '%~_COPY~_%' ESCAPE '~'
      UNION ALL SELECT 'CONSTRAINT', TABLE_NAME, CONSTRAINT_TYPE, NULL, NULL, NULL, NULL, NULL
        FROM INFORMATION_SCHEMA.TABLE_CONSTRAINTS WHERE TABLE_SCHEMA = 'PUBLIC'
        AND TABLE_NAME NOT LIKE '%~_COPY~_%' ESCAPE '~'
      UNION ALL SELECT 'INDEX', TABLE_NAME, INDEX_TYPE_NAME, NULL, NULL, NULL, NULL, NULL
        FROM INFORMATION_SCHEMA.INDEXES WHERE TABLE_SCHEMA = 'PUBLIC'
        AND TABLE_NAME NOT LIKE '%~_COPY~_%' ESCAPE '~'
      UNION ALL SELECT 'SEQUENCE', NULL, NULL, NULL, BASE_VALUE, NULL, NULL, NULL
        FROM INFORMATION_SCHEMA.SEQUENCES WHERE SEQUENCE_SCHEMA = 'PUBLIC'
      """;

  @TempDir private Path directory;
  private final Random random = new Random(SEED);
  private final GeneratedSql generated = new GeneratedSql(random);
  private final Map<String, Integer> outcomes = new TreeMap<>();
  private int number;

  @Test
  void sameAnswersAsPlainH2AlsoAfterRestarts() throws Exception {
    try (Side h2 = new Side(H2);
        Side tollgate = new Side("jdbc:tollgate:embedded:" + directory)) {
      while (number++ < STATEMENTS) {
        step(tollgate, h2);
        if (number % STATEMENTS_PER_RESTART == 0) {
          restart(tollgate, h2);
        }
      }
      finish(tollgate, h2);
      compareAll(tollgate, h2);
    }
    System.out.println("DifferentialTest: seed " + SEED + ": " + outcomes);
    assertTrue(outcomes.getOrDefault("refused", 0) < STATEMENTS / 10, outcomes.toString());
    assertTrue(outcomes.getOrDefault("same rows", 0) > STATEMENTS / 5, outcomes.toString());
    assertTrue(outcomes.getOrDefault("same count", 0) > STATEMENTS / 10, outcomes.toString());
  }

  /** What tools and scripts send, and what came up with applications. */
  @Test
  void sameAnswersToWhatToolsSend() throws Exception {
    // the script makes H2 keep its database, so it has its own
    try (Side h2 = new Side(H2.replace("differential", "tools"));
        Side tollgate = new Side("jdbc:tollgate:mem:tools")) {
      for (String sql : TOOLS.split("\n", -1)) {
        List<String> theirs = h2.run(sql);
        List<String> ours = tollgate.run(sql);
        assertEquals(theirs.get(0), ours.get(0), () -> sql + ": " + ours);
        if (!theirs.get(0).startsWith("state")) {
          assertEquals(theirs, ours, sql);
        }
      }
    }
  }

  private static final String TOOLS =
      """
      CREATE TABLE T(ID INT PRIMARY KEY, A INT)
      INSERT INTO T VALUES(1, 3), (2, 2), (3, 1)
      CREATE SEQUENCE S
      CREATE TABLE Q AS SELECT NEXT VALUE FOR S AS V FROM T
      SELECT V FROM Q
      VALUES NEXT VALUE FOR S
      SELECT NEXTVAL('s')
      CREATE TABLE R AS SELECT NEXT VALUE FOR S AS V WITH NO DATA
      VALUES NEXT VALUE FOR S
      SELECT * FROM DUAL
      SELECT COUNT(*) FROM DUAL
      BEGIN
      INSERT INTO T VALUES(10, 1)
      ROLLBACK
      SELECT COUNT(*) FROM T
      begin transaction ;
      INSERT INTO T VALUES(10, 1)
      COMMIT WORK
      ROLLBACK
      SELECT COUNT(*) FROM T
      INSERT INTO T VALUES(11, 1)
      ROLLBACK
      SELECT COUNT(*) FROM T
      SET AUTOCOMMIT FALSE
      INSERT INTO T VALUES(12, 1)
      SAVEPOINT P
      INSERT INTO T VALUES(13, 1)
      ROLLBACK TO SAVEPOINT P
      COMMIT
      INSERT INTO T VALUES(14, 1)
      ROLLBACK
      SET AUTOCOMMIT TRUE
      SELECT COUNT(*) FROM T
      SAVEPOINT P
      ROLLBACK TO SAVEPOINT P
      SET TRANSACTION ISOLATION LEVEL SERIALIZABLE
      SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED
      SET TIME ZONE LOCAL
      SET TIME ZONE 'UTC'
      SET QUERY_TIMEOUT 200
      SELECT COUNT(*) FROM SYSTEM_RANGE(1, 1000000) A, SYSTEM_RANGE(1, 1000000) B WHERE A.X + B.X < 0
      SET QUERY_TIMEOUT = 0
      SELECT {d '2020-01-01'}, {t '10:00:00'}, {ts '2020-01-01 10:00:00'}, {fn INSERT('abc', 1, 1, 'x')}
      CREATE TABLE `groups`(`id` INT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, group_name VARCHAR(50))
      INSERT INTO groups(group_name) VALUES('a'), ('b'), ('c')
      SELECT g.id, g.group_name FROM groups g ORDER BY g.id LIMIT 1, 1
      DELETE groups WHERE id < 3 LIMIT 1
      DELETE FROM groups FETCH FIRST 1 ROWS ONLY
      SELECT * FROM groups
      INSERT INTO groups VALUES ()
      ALTER SEQUENCE S RESTART WITH 50
      VALUES NEXT VALUE FOR S

      /* nothing */
      ANALYZE
      CHECKPOINT
      SET DB_CLOSE_DELAY -1
      CREATE TABLE REPORT(DAY DATE)
      SELECT U&'\\0041', 1_000, 1L, A$B FROM (SELECT 1 AS A$B)""";

  /** A connection whose schema is dropped or renamed goes on in the main one. */
  @Test
  void connectionSurvivesItsSchema() throws Exception {
    try (Side tollgate = new Side("jdbc:tollgate:mem:schemas")) {
      for (String end : List.of("DROP SCHEMA SC", "ALTER SCHEMA SC RENAME TO SD")) {
        tollgate.run("CREATE SCHEMA SC");
        tollgate.run("SET SCHEMA SC");
        tollgate.run("CREATE SEQUENCE SC.X");
        tollgate.run("DROP SEQUENCE SC.X");
        assertEquals("count 0", tollgate.run(end).get(0));
        assertEquals("PUBLIC|", tollgate.run("VALUES CURRENT_SCHEMA").get(1));
        assertEquals(
            "count 0", tollgate.run("CREATE TABLE IF NOT EXISTS PUBLIC_ONE(A INT)").get(0));
        assertEquals("count 1", tollgate.run("INSERT INTO PUBLIC.PUBLIC_ONE VALUES(1)").get(0));
      }
    }
  }

  /** The comparison is no stricter than it says, and no laxer. */
  @Test
  void differenceIsFound() throws Exception {
    try (Side h2 = new Side(H2);
        Side tollgate = new Side("jdbc:tollgate:mem:differential")) {
      for (Side side : List.of(h2, tollgate)) {
        side.run("CREATE TABLE T(ID INT PRIMARY KEY, V DOUBLE PRECISION)");
        side.run("INSERT INTO T VALUES(1, 1E0), (2, NULL)");
      }
      assertEquals(everything(h2), everything(tollgate));
      h2.run("UPDATE T SET V = 0E0 WHERE ID = 2");
      assertNotEquals(everything(h2), everything(tollgate));
      tollgate.run("UPDATE T SET V = 0E0 WHERE ID = 2");
      h2.run("CREATE INDEX I ON T(V)");
      assertNotEquals(everything(h2), everything(tollgate));
    }
  }

  private void step(Side tollgate, Side h2) throws SQLException {
    transactions(tollgate, h2);
    GeneratedSql.Statement statement = generated.next();
    String sql = statement.sql();
    if (statement.definition()) {
      // which commits here at once, and in H2 only if it comes so far, or not at all
      finish(tollgate, h2);
    }
    boolean beside = statement.query() && random.nextInt(5) == 0;
    List<String> ours = beside ? tollgate.read(sql) : tollgate.run(sql);
    if (Answers.isRefused(ours)) {
      count("refused");
      return;
    }
    // an ordinary table there as well (ADR 0034)
    String plain = sql.replaceFirst("^CREATE (GLOBAL TEMPORARY|TEMP) ", "CREATE ");
    List<String> theirs = beside ? h2.read(plain) : h2.run(plain);
    if (theirs.get(0).equals("state HY000")) {
      // a fault of H2, which the node or the driver may tell in their own way
      boolean failed = ours.get(0).startsWith("state") && !ours.get(0).startsWith("state 08");
      assertTrue(failed, () -> "statement " + number + " of " + SEED + ": " + sql + ": " + ours);
    } else if (!Answers.isSame(ours, theirs)) {
      assertEquals(theirs, ours, () -> "statement " + number + " of seed " + SEED + ": " + sql);
    }
    count("same " + kind(ours.get(0)));
    if (statement.definition()) {
      generated.know(tables(h2));
      endBrokenViews(tollgate, h2);
    }
  }

  /**
   * H2 finds out that a view is broken when it next compiles it, and lets nobody drop its tables
   * until then. A replica finds out at once (ADR 0035).
   */
  private void endBrokenViews(Side tollgate, Side h2) {
    for (String view : GeneratedSql.VIEWS) {
      if (h2.run("ALTER VIEW IF EXISTS " + view + " RECOMPILE").get(0).startsWith("state")) {
        List<String> ours = tollgate.run("SELECT * FROM " + view);
        assertTrue(Answers.isBrokenView(ours), () -> "at statement " + number + ": " + ours);
        tollgate.run("DROP VIEW " + view);
        h2.run("DROP VIEW " + view);
        count("broken view");
      }
    }
  }

  private static String kind(String first) {
    return first.startsWith("state") ? first : first.startsWith("count") ? "count" : "rows";
  }

  private void count(String outcome) {
    outcomes.merge(outcome, 1, Integer::sum);
  }

  private void transactions(Side tollgate, Side h2) throws SQLException {
    boolean open = h2.inTransaction();
    int dice = random.nextInt(open ? 12 : 40);
    if (!open && dice == 0) {
      tollgate.begin();
      h2.begin();
    } else if (open && dice < 2) {
      tollgate.end(dice == 0);
      h2.end(dice == 0);
      count(dice == 0 ? "commit" : "rollback");
    } else if (open && dice == 2) {
      tollgate.mark();
      h2.mark();
    } else if (open && dice == 3) {
      assertEquals(h2.backToMark(), tollgate.backToMark(), "savepoint at statement " + number);
    }
  }

  private void finish(Side tollgate, Side h2) throws SQLException {
    if (h2.inTransaction()) {
      tollgate.end(true);
      h2.end(true);
    }
  }

  /** Sometimes from a snapshot alone, sometimes with some of the log, sometimes from the log. */
  private void restart(Side tollgate, Side h2) throws SQLException {
    finish(tollgate, h2);
    int way = random.nextInt(3);
    if (way < 2) {
      tollgate.run("CALL take_snapshot()");
    }
    for (int i = 0; way == 1 && i < 50; i++) {
      number++;
      step(tollgate, h2);
    }
    finish(tollgate, h2);
    tollgate.reopen();
    count("restart");
    compareAll(tollgate, h2);
  }

  private void compareAll(Side tollgate, Side h2) {
    assertEquals(everything(h2), everything(tollgate), "after statement " + number + " of " + SEED);
  }

  private static Map<String, List<String>> everything(Side side) {
    Map<String, List<String>> found = new TreeMap<>();
    found.put("catalog", side.run(CATALOG));
    for (Table table : tables(side)) {
      found.put(table.name(), side.run("SELECT * FROM " + table.name()));
    }
    return found;
  }

  private static List<Table> tables(Side side) {
    List<String> rows =
        side.read(
            "SELECT C.TABLE_NAME, LPAD(C.ORDINAL_POSITION, 3, '0'), C.COLUMN_NAME, C.DATA_TYPE"
                + " FROM INFORMATION_SCHEMA.COLUMNS C JOIN INFORMATION_SCHEMA.TABLES T ON"
                + " T.TABLE_SCHEMA = C.TABLE_SCHEMA AND T.TABLE_NAME = C.TABLE_NAME WHERE"
                + " C.TABLE_SCHEMA = 'PUBLIC' AND T.TABLE_TYPE <> 'VIEW' AND C.TABLE_NAME NOT LIKE '%~_COPY~_%' ESCAPE '~'");
    Map<String, List<Column>> columns = new LinkedHashMap<>();
    for (String row : rows.subList(1, rows.size())) {
      String[] fields = row.split("\\|", -1);
      columns
          .computeIfAbsent(fields[0], name -> new ArrayList<>())
          .add(new Column(fields[2], typeOf(fields[3])));
    }
    List<Table> tables = new ArrayList<>();
    columns.forEach((name, list) -> tables.add(new Table(name, List.copyOf(list))));
    return tables;
  }

  private static GeneratedSql.Type typeOf(String dataType) {
    return switch (dataType) {
      case "INTEGER" -> GeneratedSql.Type.INT;
      case "BIGINT" -> GeneratedSql.Type.BIGINT;
      case "NUMERIC" -> GeneratedSql.Type.NUMERIC;
      case "DOUBLE PRECISION" -> GeneratedSql.Type.DOUBLE;
      case "VARCHAR_IGNORECASE" -> GeneratedSql.Type.IGNORECASE;
      case "CHARACTER" -> GeneratedSql.Type.FIXED;
      case "BOOLEAN" -> GeneratedSql.Type.BOOLEAN;
      case "DATE" -> GeneratedSql.Type.DATE;
      case "TIMESTAMP" -> GeneratedSql.Type.TIMESTAMP;
      case "BINARY VARYING" -> GeneratedSql.Type.BYTES;
      case "ARRAY" -> GeneratedSql.Type.ARRAY;
      case "JSON" -> GeneratedSql.Type.JSON;
      case "ENUM" -> GeneratedSql.Type.ENUM;
      case "UUID" -> GeneratedSql.Type.UUID;
      default -> GeneratedSql.Type.TEXT;
    };
  }
}
