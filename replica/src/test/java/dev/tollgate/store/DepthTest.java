package dev.tollgate.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.store.h2.H2Database;
import dev.tollgate.store.h2.H2Sessions;
import dev.tollgate.store.schema.SystemSchema;
import dev.tollgate.value.StatementResult;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.h2.engine.SessionLocal;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** H2 recurses on data: how deep it goes is bounded by rules, and not by the stack of a thread. */
class DepthTest {
  /** 256 KiB. */
  private static final int SMALL_PART = 2_048;

  private final StoreDriver replica = new StoreDriver();
  private final SessionId session = replica.open();

  @AfterEach
  void close() {
    replica.close();
  }

  /** Row n refers to row n - 1. */
  private void chain(String action, int rows) {
    replica.ok(
        session,
        "CREATE TABLE V(ID INT PRIMARY KEY, PREV INT DEFAULT 0 REFERENCES V " + action + ")");
    replica.ok(session, "INSERT INTO V VALUES(0, NULL)");
    for (int from = 1; from <= rows; from += 1_000) {
      replica.ok(
          session,
          "INSERT INTO V SELECT X, X - 1 FROM SYSTEM_RANGE(?, ?)",
          from,
          Math.min(rows, from + 999));
    }
  }

  interface Work {
    void run() throws Exception;
  }

  /** On a stack that is a quarter of the one that a node applies its log with. */
  static void onQuarterOfTheStack(Work work) throws Exception {
    onPartOfTheStack(4, work);
  }

  private static void onPartOfTheStack(int part, Work work) throws Exception {
    AtomicReference<Throwable> failure = new AtomicReference<>();
    Thread thread =
        new Thread(
            null,
            () -> {
              try {
                work.run();
              } catch (Throwable e) {
                failure.set(e);
              }
            },
            "part of the stack",
            Limits.APPLY_STACK_BYTES / part);
    thread.start();
    thread.join();
    if (failure.get() != null) {
      throw new AssertionError(failure.get());
    }
  }

  @Test
  void cascadeAlongAChainIsBounded() throws Exception {
    chain("ON DELETE CASCADE", 20_000);
    onQuarterOfTheStack(
        () -> {
          tooDeep("DELETE FROM V WHERE ID = 1");
          assertEquals(List.of("20001"), replica.query("SELECT COUNT(*) FROM V"));
          assertEquals(1, changed("DELETE FROM V WHERE ID = ?", 20_001 - Limits.REFERENTIAL_DEPTH));
          assertEquals(List.of("19001"), replica.query("SELECT COUNT(*) FROM V"));
        });
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ALTER TABLE V ADD COLUMN X INT",
        "ALTER TABLE V ALTER COLUMN PREV BIGINT",
        "ALTER TABLE V RENAME TO W",
        "ALTER TABLE V ADD FOREIGN KEY (PREV) REFERENCES V ON DELETE CASCADE",
        "CREATE INDEX I ON V(PREV, ID)"
      })
  void cascadeIsBoundedAfterADefinitionAndAfterASnapshot(String definition) throws Exception {
    chain("ON DELETE CASCADE", Limits.REFERENTIAL_DEPTH + 10);
    replica.ok(session, definition);
    String table = definition.endsWith("W") ? "W" : "V";
    byte[] snapshot = DatabaseCopyTest.snapshotOf(replica.database);
    try (StoreDriver copy = new StoreDriver(DatabaseCopyTest.restored(snapshot))) {
      SessionId other = copy.open();
      onQuarterOfTheStack(
          () -> {
            String sql = "DELETE FROM " + table + " WHERE ID = 1";
            tooDeep(sql);
            assertEquals(replica.run(session, sql), copy.run(other, sql));
            assertEquals(
                List.of(Integer.toString(Limits.REFERENTIAL_DEPTH + 11)),
                copy.query("SELECT COUNT(*) FROM " + table));
          });
    }
    replica.ok(session, "DROP TABLE " + table);
  }

  @Test
  void keyThatChangesAlongAChainIsBounded() throws Exception {
    int tables = Limits.REFERENTIAL_DEPTH + 1;
    replica.ok(session, "CREATE TABLE T0(ID INT PRIMARY KEY)");
    replica.ok(session, "INSERT INTO T0 VALUES(1)");
    for (int i = 1; i <= tables; i++) {
      replica.ok(
          session,
          "CREATE TABLE T"
              + i
              + "(ID INT PRIMARY KEY REFERENCES T"
              + (i - 1)
              + " ON UPDATE CASCADE)");
      replica.ok(session, "INSERT INTO T" + i + " VALUES(1)");
    }
    onQuarterOfTheStack(
        () -> {
          tooDeep("UPDATE T0 SET ID = 2");
          assertEquals(1, changed("UPDATE T1 SET ID = 1 WHERE ID = 1"));
        });
    assertEquals(List.of("1"), replica.query("SELECT ID FROM T" + tables));
  }

  @Test
  void wideCascadeOfManyRowsIsAllowed() {
    replica.ok(session, "CREATE TABLE P(ID INT PRIMARY KEY)");
    replica.ok(session, "CREATE TABLE C(ID INT PRIMARY KEY, P INT REFERENCES P ON DELETE CASCADE)");
    replica.ok(session, "INSERT INTO P SELECT X FROM SYSTEM_RANGE(1, 2500)");
    for (int from = 1; from < 100_000; from += 2_500) {
      replica.ok(
          session,
          "INSERT INTO C SELECT X, 1 + X / 40 FROM SYSTEM_RANGE(?, ?)",
          from,
          Math.min(from + 2_499, 99_999));
    }
    assertEquals(2_500, changed("DELETE FROM P"));
  }

  /** The longest text that H2 knows ends these: no deeper one can be. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "UPDATE D SET J = J[1]",
        "UPDATE D SET J = (J)[1] WHERE J IS NOT NULL",
        "UPDATE D SET V = CARDINALITY(J)",
        "UPDATE D SET J = (O).\"a\"",
        "UPDATE D SET V = CHAR_LENGTH(CAST(J AS VARCHAR))",
        "UPDATE D SET J = JSON_ARRAY(J FORMAT JSON)[1][1]",
        "UPDATE D SET V = 1 WHERE J IS JSON WITH UNIQUE KEYS OR O IS JSON WITH UNIQUE KEYS",
        "INSERT INTO D(ID, J) SELECT 2, JSON_ARRAYAGG(J) FROM D"
      })
  void deepestTextFitsOnAQuarterOfTheStack(String sql) throws Exception {
    replica.ok(session, "CREATE TABLE D(ID INT PRIMARY KEY, J JSON, O JSON, V BIGINT)");
    replica.ok(
        session,
        "INSERT INTO D(ID, J, O) SELECT 1,"
            + " (REPEAT('[', 524280) || REPEAT(']', 524280)) FORMAT JSON,"
            + " (REPEAT('{\"a\":', 170000) || '1' || REPEAT('}', 170000)) FORMAT JSON");
    assertEquals(
        List.of("TRUE"), replica.query("SELECT J IS JSON ARRAY AND O IS JSON OBJECT FROM D"));
    onQuarterOfTheStack(() -> replica.ok(session, sql));
    assertEquals(List.of("1"), replica.query("SELECT COUNT(*) FROM D WHERE ID = 1"));
  }

  /** The parts of JSON are gone through without the stack of the thread. */
  @ParameterizedTest
  @ValueSource(strings = {"(J)[1]", "(O).\"a\"", "JSON_ARRAY(J FORMAT JSON)[1][1]"})
  void deepJsonFitsOnASmallStack(String value) throws Exception {
    replica.ok(session, "CREATE TABLE D(ID INT PRIMARY KEY, J JSON, O JSON)");
    replica.ok(
        session,
        "INSERT INTO D(ID, J, O) SELECT 1, (REPEAT('[', 50000) || REPEAT(']', 50000)) FORMAT JSON,"
            + " (REPEAT('{\"a\":', 50000) || '1' || REPEAT('}', 50000)) FORMAT JSON");
    onPartOfTheStack(
        SMALL_PART,
        () -> {
          replica.ok(session, "UPDATE D SET J = " + value);
          assertEquals(1, replica.query("SELECT J, O FROM D").size());
          DatabaseCopyTest.snapshotOf(replica.database);
        });
  }

  static List<String> geometries(int levels) {
    String bytes = HexFormat.of().formatHex(Geometries.nestedBytes(levels).getBytes());
    String text = Geometries.nestedText(levels + 1);
    return List.of(
        "CAST(X'" + bytes + "' AS GEOMETRY)",
        "GEOMETRY X'" + bytes + "'",
        "GEOMETRY '" + text + "'",
        "CAST('" + text + "' AS GEOMETRY)",
        "X'" + bytes + "'",
        "'" + text + "'",
        "CAST(('" + geoJson(levels) + "' FORMAT JSON) AS GEOMETRY)");
  }

  private static String geoJson(int levels) {
    return "{\"type\":\"GeometryCollection\",\"geometries\":[".repeat(levels)
        + "{\"type\":\"MultiPolygon\",\"coordinates\":[]}"
        + "]}".repeat(levels);
  }

  static List<String> deepestGeometries() {
    return geometries(Limits.VALUE_DEPTH);
  }

  /** On the stack of the smallest thread, so on each on which a value is read. */
  @ParameterizedTest
  @MethodSource
  void deepestGeometries(String value) throws Exception {
    replica.ok(session, "CREATE TABLE D(ID INT PRIMARY KEY, G GEOMETRY, V BIGINT)");
    onPartOfTheStack(
        SMALL_PART,
        () -> {
          replica.ok(session, "INSERT INTO D(ID, G) VALUES(1, " + value + ")");
          replica.ok(session, "UPDATE D SET V = CHAR_LENGTH(CAST(CAST(G AS JSON) AS VARCHAR))");
          byte[] snapshot = DatabaseCopyTest.snapshotOf(replica.database);
          String all = "SELECT G, V, CAST(G AS VARCHAR) FROM D WHERE G <= G";
          try (StoreDriver copy = new StoreDriver(DatabaseCopyTest.restored(snapshot))) {
            assertEquals(replica.query(all), copy.query(all));
          }
        });
  }

  static List<String> tooDeepGeometries() {
    return Stream.of(Limits.VALUE_DEPTH + 1, 2_000)
        .flatMap(levels -> geometries(levels).stream())
        .toList();
  }

  @ParameterizedTest
  @MethodSource
  void tooDeepGeometries(String value) throws Exception {
    replica.ok(session, "CREATE TABLE D(ID INT PRIMARY KEY, G GEOMETRY)");
    onPartOfTheStack(
        SMALL_PART,
        () -> {
          Outcome outcome = replica.run(session, "INSERT INTO D VALUES(1, " + value + ")");
          assertEquals("22018", assertInstanceOf(Outcome.SqlFailed.class, outcome).sqlState());
        });
  }

  @Test
  void refusalOfADeepGeometryNamesTheLimit() {
    replica.ok(session, "CREATE TABLE D(ID INT PRIMARY KEY, G GEOMETRY)");
    Outcome outcome =
        replica.run(
            session,
            "INSERT INTO D VALUES(1, CAST(CAST(? AS VARBINARY) AS GEOMETRY))",
            Geometries.nestedBytes(5_000));
    String message = assertInstanceOf(Outcome.SqlFailed.class, outcome).toString();
    assertTrue(message.contains("at most " + Limits.VALUE_DEPTH + " collections"), message);
  }

  /** H2 keeps the derived tables of a statement that is not prepared as a command. */
  @Test
  void derivedTablesOfEarlierStatementsAreForgotten() throws Exception {
    H2Database h2 = SystemSchema.newDatabase();
    SessionLocal h2Session = h2.openSession();
    String sql = "VALUES((SELECT MAX(X) FROM (SELECT 1 X)))";
    int afterOne = 0;
    for (int i = 0; i < 10; i++) {
      LogStatements.prepare(h2Session, sql);
      afterOne = i == 0 ? H2Sessions.derivedTables(h2Session) : afterOne;
    }
    assertTrue(afterOne > 0);
    assertEquals(afterOne, H2Sessions.derivedTables(h2Session));
    h2.close();
  }

  private long changed(String sql, Object... parameters) {
    return ((StatementResult.Updated) replica.ok(session, sql, parameters)).count();
  }

  private void tooDeep(String sql, Object... parameters) {
    Outcome.SqlFailed failed =
        assertInstanceOf(Outcome.SqlFailed.class, replica.run(session, sql, parameters), sql);
    assertEquals("54001", failed.sqlState(), failed.message());
  }
}
