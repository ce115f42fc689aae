package dev.tollgate.store;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.UserName;
import dev.tollgate.h2.Meter;
import dev.tollgate.log.ApplyThread;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.h2.engine.SessionLocal;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Whatever H2 does for a statement, it takes steps, which bound statements of the log and let
 * queries be canceled.
 */
@Timeout(60)
class StepsTest {
  private static final String FEW_ROWS_MUCH_WORK =
      "SELECT RAWTOHEX(HASH('SHA-256', 'x', 400000000))";

  private final StoreDriver replica = new StoreDriver();
  private final SessionId session = replica.open();

  @BeforeEach
  void createTables() {
    replica.ok(session, "CREATE TABLE T(ID INT PRIMARY KEY, V VARCHAR)");
    replica.ok(session, "INSERT INTO T VALUES (1, 'x'), (2, 'y')");
    replica.ok(session, "CREATE TABLE LONG_ONE(ID INT PRIMARY KEY, V VARCHAR(1000000))");
  }

  @AfterEach
  void close() {
    replica.close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "UPDATE T SET V = SUBSTRING(XMLCOMMENT(REPEAT('-', 300000)), 1, 10)",
        "UPDATE T SET V = LENGTH(XMLCOMMENT(REPEAT('-', 300000 + ID)))",
      })
  void writeEndsAfterItsSteps(String sql) {
    Outcome.SqlFailed failed = assertInstanceOf(Outcome.SqlFailed.class, replica.run(session, sql));
    assertEquals("54001", failed.sqlState(), failed.message());
  }

  /** A query that examines no rows holds no definition up, and runs again behind it. */
  @Test
  void definitionEndsAQueryWhereverItIs() throws Exception {
    SqlReader.Canceller canceller = new SqlReader.Canceller();
    CompletableFuture<String> ended = begin(FEW_ROWS_MUCH_WORK, "HashFunction", canceller);
    replica.ok(session, "CREATE TABLE MADE(ID INT)");
    canceller.cancel();
    assertEquals("57014", ended.get(30, TimeUnit.SECONDS));
  }

  @Test
  void queryIsCancelledWhereverItIs() throws Exception {
    SqlReader.Canceller canceller = new SqlReader.Canceller();
    CompletableFuture<String> ended = begin(FEW_ROWS_MUCH_WORK, "HashFunction", canceller);
    canceller.cancel();
    assertEquals("57014", ended.get(30, TimeUnit.SECONDS));
  }

  /** A driver asks what a statement returns, and nobody can cancel that. */
  @Test
  void descriptionEndsAfterItsSteps() {
    SQLException e =
        assertThrows(
            SQLException.class,
            () ->
                replica
                    .database
                    .reader()
                    .describe(
                        new SqlReader.Settings("PUBLIC", 0, UserName.ANONYMOUS),
                        FEW_ROWS_MUCH_WORK,
                        new SqlReader.Canceller()));
    assertEquals("54001", e.getSQLState());
  }

  @Test
  void queryIsCancelledWhileItIsPrepared() throws Exception {
    String columns =
        IntStream.range(0, 8_000).mapToObj(i -> "C" + i + " INT").collect(Collectors.joining(","));
    for (String table : List.of("W1", "W2", "W3", "W4")) {
      replica.ok(session, "CREATE TABLE " + table + "(" + columns + ")");
    }
    SqlReader.Canceller canceller = new SqlReader.Canceller();
    CompletableFuture<String> ended =
        begin(
            "SELECT COUNT(*) FROM W1 NATURAL JOIN W2 NATURAL JOIN W3 NATURAL JOIN W4",
            "org.h2.command.Parser",
            canceller);
    canceller.cancel();
    assertEquals("57014", ended.get(30, TimeUnit.SECONDS));
  }

  /** H2 goes through all expressions once for each table, by calls, and no loop shows that. */
  @Test
  void expressionCountsForEachTable() {
    int tables = 50;
    int terms = 400;
    for (int i = 0; i < tables; i++) {
      replica.ok(session, "CREATE TABLE N" + i + "(C" + i + " INT)");
    }
    String sum = IntStream.range(0, terms).mapToObj(i -> "C0").collect(Collectors.joining(" + "));
    String joined =
        IntStream.range(0, tables).mapToObj(i -> "N" + i).collect(Collectors.joining(", "));
    long more = stepsToPrepare("SELECT " + sum + " FROM " + joined);
    more -= stepsToPrepare("SELECT C0 FROM " + joined);
    assertTrue(more >= 4L * terms * tables, more + " steps");
  }

  private long stepsToPrepare(String sql) {
    SessionLocal h2 = replica.database.openAdministration();
    try {
      return Meter.watched(
          Meter.Watch.NONE,
          () -> {
            h2.prepare(sql);
            return Meter.steps();
          });
    } finally {
      h2.close();
    }
  }

  /**
   * Begins a query on a thread of its own, and waits until the thread is in a class.
   *
   * @return the SQLState with which the query ends
   */
  private CompletableFuture<String> begin(String sql, String where, SqlReader.Canceller canceller) {
    CompletableFuture<String> ended = new CompletableFuture<>();
    Thread reader =
        ApplyThread.deep(
            null,
            () -> {
              try {
                ended.complete("none, but " + replica.query(sql, () -> {}, canceller).size());
              } catch (SQLException e) {
                ended.complete(
                    e.getSQLState() + (e.getSQLState().equals("54001") ? e.getMessage() : ""));
              } catch (RuntimeException | Error e) {
                ended.completeExceptionally(e);
              }
            },
            "reader");
    reader.start();
    await()
        .atMost(30, TimeUnit.SECONDS)
        .until(
            () ->
                ended.isDone()
                    || Stream.of(reader.getStackTrace())
                        .anyMatch(frame -> frame.getClassName().contains(where)));
    return ended;
  }

  /** What H2 reads of a text is what it has passed: each name, and not the rest after each. */
  @Test
  void longStatementOfManyNamesIsTaken() {
    StringBuilder sql = new StringBuilder("INSERT INTO T(\"ID\", \"V\") VALUES ");
    for (int id = 10; id < 4_000; id++) {
      sql.append(id == 10 ? "" : ", ").append('(').append(id).append(", '");
      sql.append("x".repeat(200)).append("')");
    }
    replica.ok(session, sql.toString());
  }

  /** {@code MemoryIT} has one of JSON, which takes long where there is more memory. */
  @Test
  void textThatGrowsWithoutEndIsEnded() {
    String sql = "SELECT LENGTH(LISTAGG(REPEAT('x', 1000), '')) FROM SYSTEM_RANGE(1, 1000000)";
    SQLException e = assertThrows(SQLException.class, () -> replica.query(sql));
    // the heap of the tests decides whether the length or the memory ends it
    assertTrue(Set.of("22001", "53200").contains(e.getSQLState()), e.getMessage());
  }
}
