package dev.tollgate.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.value.Parameter;
import dev.tollgate.value.StatementResult;
import dev.tollgate.wire.KeyRequest;
import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SeriesEnding;
import dev.tollgate.wire.TransactionMode;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.h2.value.ValueVarchar;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a node answers to series of statements, also to those that no driver sends. */
@Timeout(60)
class SeriesRequestTest {
  private static final byte[] NO_PARAMETERS = {0, 0};

  private Node node;
  private RawClient client;

  @BeforeEach
  void open() throws Exception {
    node = new Node(LoopbackSettings.of("series", null));
    node.start();
    assertTrue(node.awaitLeadership(Duration.ofSeconds(20)));
    client = new RawClient(node.listenAddress());
    client.hello();
    Request.SessionOptions options = new Request.SessionOptions(ReadConsistency.LINEARIZABLE, 0);
    assertInstanceOf(
        Reply.SessionReady.class, client.call(new Request.OpenSession(60_000, 60_000, options)));
    execute(1, TransactionMode.AUTOCOMMIT, "CREATE TABLE T(ID INT PRIMARY KEY)");
  }

  @AfterEach
  void close() throws Exception {
    client.close();
    node.close();
  }

  private StatementResult execute(long sequence, TransactionMode mode, String sql)
      throws Exception {
    Request.Execute request =
        new Request.Execute(
            sequence, true, mode, false, sql, new KeyRequest.None(), 0, 0, List.of(NO_PARAMETERS));
    Reply.Result result = assertInstanceOf(Reply.Result.class, client.call(request));
    return StatementResult.read(result.body(), null);
  }

  private long rows(long sequence) throws Exception {
    StatementResult.Rows rows =
        (StatementResult.Rows)
            execute(sequence, TransactionMode.AUTOCOMMIT, "SELECT COUNT(*) FROM T");
    return rows.rows().page().rows().get(0)[0].getLong();
  }

  private static Request.ExecuteSeries series(
      long sequence, TransactionMode mode, SeriesEnding ending, String... texts) {
    return new Request.ExecuteSeries(
        sequence,
        true,
        mode,
        ending,
        Arrays.stream(texts).map(sql -> new Request.SeriesStatement(sql, NO_PARAMETERS)).toList());
  }

  /** The count of each statement, or its SQLState. */
  private List<String> results(Request.ExecuteSeries request) throws Exception {
    return assertInstanceOf(Reply.BatchResult.class, client.call(request)).results().stream()
        .map(
            result ->
                result instanceof Reply.Failure failure
                    ? failure.sqlState()
                    : String.valueOf(count((Reply.Result) result)))
        .toList();
  }

  private static long count(Reply.Result result) {
    return ((StatementResult.Updated) StatementResult.read(result.body(), null)).count();
  }

  private static String state(Reply reply) {
    return assertInstanceOf(Reply.Failure.class, reply).sqlState();
  }

  @Test
  void whatIsNoChangeOfRowsFailsInItsPlaceAndTheOthersRun() throws Exception {
    assertEquals(
        List.of("1", "HYC00", "HYC00", "HYC00", "HYC00", "HYC00", "42T01", "1"),
        results(
            series(
                2,
                TransactionMode.AUTOCOMMIT,
                SeriesEnding.RUN_ALL,
                "INSERT INTO T VALUES(1)",
                "SELECT 1",
                "CREATE TABLE U(ID INT)",
                "INSERT INTO T VALUES(2) LOCKED BY 'job'",
                "SELECT acquire_lock('job')",
                "COMMIT",
                "INSERT INTO",
                "INSERT INTO T VALUES(3)")));
    assertEquals(2, rows(3));
  }

  /** A text without characters is one that was not planned. */
  @Test
  void emptyStatementIsRefused() throws Exception {
    Reply reply = client.call(series(2, TransactionMode.AUTOCOMMIT, SeriesEnding.RUN_ALL, ""));
    Reply.BatchResult results = assertInstanceOf(Reply.BatchResult.class, reply, reply::toString);
    assertEquals(1, results.results().size());
    assertEquals("HYC00", state(results.results().get(0)));
  }

  @Test
  void statementThatIsWrongInItselfEndsASeriesThatStops() throws Exception {
    assertEquals(
        List.of("1", "42T01"),
        results(
            series(
                2,
                TransactionMode.READ_COMMITTED,
                SeriesEnding.COMMIT,
                "INSERT INTO T VALUES(1)",
                "INSERT INTO",
                "INSERT INTO T VALUES(2)")));
    execute(3, TransactionMode.READ_COMMITTED, "ROLLBACK");
    assertEquals(0, rows(4), "not committed");
    assertEquals(
        List.of("23505"),
        results(
            series(
                5,
                TransactionMode.READ_COMMITTED,
                SeriesEnding.COMMIT,
                "INSERT INTO T VALUES(1), (1)",
                "INSERT INTO")),
        "the failure in the log is the first");
    execute(6, TransactionMode.READ_COMMITTED, "ROLLBACK");
    assertEquals(
        List.of("42T01"),
        results(
            series(7, TransactionMode.AUTOCOMMIT, SeriesEnding.STOP_AT_FAILURE, "INSERT INTO")));
    assertEquals(
        List.of("1", "42T01"),
        results(
            series(
                8,
                TransactionMode.AUTOCOMMIT,
                SeriesEnding.STOP_AT_FAILURE,
                "INSERT INTO T VALUES(1)",
                "INSERT INTO",
                "INSERT INTO T VALUES(2)")));
    assertEquals(1, rows(9), "what stands behind a failure is not done");
  }

  @Test
  void seriesThatIsSentAgainTakesEffectOnce() throws Exception {
    Request.ExecuteSeries series = insertAndDelete(SeriesEnding.COMMIT, "DELETE FROM T");
    assertEquals(List.of("1", "1", "0"), results(series));
    assertEquals(List.of("1", "1", "0"), results(series));
  }

  @Test
  void seriesWithAnotherEndUnderTheSameNumberIsRefused() throws Exception {
    results(insertAndDelete(SeriesEnding.COMMIT, "DELETE FROM T"));
    Reply reply = client.call(insertAndDelete(SeriesEnding.STOP_AT_FAILURE, "DELETE FROM T"));
    assertEquals("08P01", state(reply));
  }

  @Test
  void seriesWithAnotherLastStatementUnderTheSameNumberIsRefused() throws Exception {
    results(insertAndDelete(SeriesEnding.COMMIT, "DELETE FROM T"));
    Reply reply = client.call(insertAndDelete(SeriesEnding.COMMIT, "DELETE FROM T WHERE FALSE"));
    assertEquals("08P01", state(reply));
  }

  private static Request.ExecuteSeries insertAndDelete(SeriesEnding ending, String last) {
    return series(2, TransactionMode.READ_COMMITTED, ending, "INSERT INTO T VALUES(1)", last);
  }

  @Test
  void seriesOfTooManyStatementsIsRefused() throws Exception {
    String[] many =
        Collections.nCopies(Protocol.MAX_SERIES_STATEMENTS + 1, "INSERT INTO T VALUES(1)")
            .toArray(String[]::new);
    Reply reply = client.call(series(2, TransactionMode.AUTOCOMMIT, SeriesEnding.RUN_ALL, many));
    assertEquals("22023", state(reply));
    assertTrue(((Reply.Failure) reply).message().contains("501"), reply.toString());
    assertEquals(0, rows(3));
  }

  @Test
  void seriesOfAsManyStatementsAsMayBeRuns() throws Exception {
    String[] most =
        Collections.nCopies(Protocol.MAX_SERIES_STATEMENTS, "DELETE FROM T").toArray(String[]::new);
    assertEquals(
        Collections.nCopies(Protocol.MAX_SERIES_STATEMENTS, "0"),
        results(series(2, TransactionMode.AUTOCOMMIT, SeriesEnding.RUN_ALL, most)));
  }

  @Test
  void otherValuesUnderTheSameNumberAreRefused() throws Exception {
    assertEquals(List.of("1"), results(insertion(2, (byte) '1')));
    assertEquals(List.of("1"), results(insertion(2, (byte) '1')));
    assertEquals("08P01", state(client.call(insertion(2, (byte) '2'))));
  }

  private static Request.ExecuteSeries insertion(long sequence, byte digit) {
    byte[] set = Parameter.encodeValues(List.of(ValueVarchar.get(String.valueOf((char) digit))));
    return new Request.ExecuteSeries(
        sequence,
        true,
        TransactionMode.AUTOCOMMIT,
        SeriesEnding.RUN_ALL,
        List.of(new Request.SeriesStatement("INSERT INTO T VALUES(?)", set)));
  }

  @Test
  void lockOfALeaseThatIsNotTrustedIsNoProof() throws Exception {
    execute(2, TransactionMode.AUTOCOMMIT, "ALTER TABLE T FENCED BY LOCK 'job'");
    execute(3, TransactionMode.AUTOCOMMIT, "SELECT acquire_lock('job')");
    assertEquals(List.of("1"), results(guarded(4, true)));
    assertEquals(List.of("23T02"), results(guarded(5, false)));
  }

  private static Request.ExecuteSeries guarded(long sequence, boolean trusted) {
    return new Request.ExecuteSeries(
        sequence,
        trusted,
        TransactionMode.AUTOCOMMIT,
        SeriesEnding.RUN_ALL,
        List.of(
            new Request.SeriesStatement("INSERT INTO T VALUES(" + sequence + ")", NO_PARAMETERS)));
  }

  @Test
  void malformedValueIsRefusedAndTheConnectionStays() throws Exception {
    Request.ExecuteSeries request =
        new Request.ExecuteSeries(
            2,
            true,
            TransactionMode.AUTOCOMMIT,
            SeriesEnding.RUN_ALL,
            List.of(
                new Request.SeriesStatement("INSERT INTO T VALUES(1)", NO_PARAMETERS),
                new Request.SeriesStatement("INSERT INTO T VALUES(?)", new byte[] {0, 1, 99})));
    assertEquals("08004", state(client.call(request)));
    assertEquals(0, rows(3));
  }

  @Test
  void statementsOfASeriesShareTheBudgetOfOne() throws Exception {
    execute(2, TransactionMode.AUTOCOMMIT, "CREATE TABLE U(ID INT)");
    execute(3, TransactionMode.AUTOCOMMIT, "CREATE TABLE V(ID INT)");
    assertEquals(
        List.of("4000", "54001", "54001"),
        results(
            series(
                4,
                TransactionMode.AUTOCOMMIT,
                SeriesEnding.RUN_ALL,
                "INSERT INTO U SELECT X FROM SYSTEM_RANGE(1, 4000)",
                "INSERT INTO V SELECT X FROM SYSTEM_RANGE(1, 4000)",
                "DELETE FROM T WHERE ID = 1")));
  }

  private List<String> marked(long sequence, String mark, String definition) throws Exception {
    return results(
        series(sequence, TransactionMode.READ_COMMITTED, SeriesEnding.COMMIT, mark, definition));
  }

  @Test
  void definitionBehindChangesTakesEffectWithThemOrNotAtAll() throws Exception {
    assertEquals(
        List.of("1", "0", "0"), marked(2, "INSERT INTO T VALUES (1)", "CREATE TABLE U(ID INT)"));
    assertEquals(
        List.of("1", "42S01"), marked(3, "INSERT INTO T VALUES (2)", "CREATE TABLE U(ID INT)"));
    assertEquals(List.of("23505"), marked(4, "INSERT INTO T VALUES (1)", "DROP TABLE U"));
    assertEquals(
        List.of("1", "HYC00"), marked(5, "INSERT INTO T VALUES (2)", "ALTER TABLE T ADD V INT"));
    assertEquals(1, rows(6));
    assertEquals(List.of("1", "0", "0"), marked(7, "INSERT INTO T VALUES (2)", "TRUNCATE TABLE U"));
    assertEquals(
        List.of("1", "0", "0"),
        marked(8, "INSERT INTO T VALUES (3)", "ALTER TABLE U FENCED BY LOCK 'l'"));
    assertEquals(
        List.of("1", "0", "0"), marked(9, "INSERT INTO T VALUES (4)", "CREATE LOCK 'p' PERMITS 2"));
    assertEquals(
        List.of("1", "0", "0"),
        marked(10, "INSERT INTO T VALUES (5)", "GRANT LOCK ON 'p' TO PUBLIC"));
    assertEquals(5, rows(11));
  }

  @Test
  void definitionRunsBehindChangesThatCommitAlone() throws Exception {
    assertEquals(
        List.of("1", "HYC00"),
        results(
            series(
                2,
                TransactionMode.READ_COMMITTED,
                SeriesEnding.STOP_AT_FAILURE,
                "INSERT INTO T VALUES (1)",
                "CREATE TABLE U(ID INT)")));
    assertEquals(
        List.of("HYC00"),
        results(
            series(
                3,
                TransactionMode.READ_COMMITTED,
                SeriesEnding.COMMIT,
                "CREATE TABLE U(ID INT)",
                "INSERT INTO T VALUES (2)")));
  }
}
