package dev.tollgate.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.Capacity;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.node.client.ClientLimits;
import dev.tollgate.store.SqlDatabase;
import dev.tollgate.value.Parameter;
import dev.tollgate.wire.KeyRequest;
import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SeriesEnding;
import dev.tollgate.wire.SqlState;
import dev.tollgate.wire.TransactionMode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.h2.value.Value;
import org.h2.value.ValueArray;
import org.h2.value.ValueInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A request is refused, or counted, by what it becomes in the memory of a node. */
class RequestWeightTest {
  private static final int ELEMENTS = 60_000;

  @TempDir Path directory;

  private Node node;
  private RawClient client;
  private long sequence;

  @AfterEach
  void stop() throws Exception {
    client.close();
    node.close();
  }

  @Test
  void valuesOfARequestAreCountedWithThoseInArrays() throws Exception {
    start(ClientLimits.STANDARD);
    assertInstanceOf(Reply.Result.class, client.call(ofArrays(4)));
    assertRefused(SqlState.TOO_LARGE, "more than 250000 values", client.call(ofArrays(5)));
    assertInstanceOf(Reply.Result.class, client.call(RawClient.execute(++sequence, "SELECT 1")));
  }

  @Test
  void valuesOfAllSetsOfABatchCount() throws Exception {
    start(ClientLimits.STANDARD);
    byte[] set = Parameter.encodeValues(List.of(array(ELEMENTS)));
    Request batch =
        execute("INSERT INTO T(ID) VALUES (CARDINALITY(?))", true, Collections.nCopies(5, set));
    assertRefused(SqlState.TOO_LARGE, "more than 250000 values", client.call(batch));
  }

  @Test
  void valuesOfAllStatementsOfASeriesCount() throws Exception {
    start(ClientLimits.STANDARD);
    byte[] set = Parameter.encodeValues(List.of(array(ELEMENTS)));
    Request.SeriesStatement statement =
        new Request.SeriesStatement("INSERT INTO T(ID) VALUES (CARDINALITY(?))", set);
    Request series =
        new Request.ExecuteSeries(
            ++sequence,
            /* ownLeaseTrusted= */ true,
            TransactionMode.AUTOCOMMIT,
            SeriesEnding.RUN_ALL,
            Collections.nCopies(5, statement));
    assertRefused(SqlState.TOO_LARGE, "more than 250000 values", client.call(series));
  }

  /** 1.2 MB on the wire, and 29 MiB in memory. */
  @Test
  void requestCountsByWhatItsValuesTake() throws Exception {
    start(ClientLimits.STANDARD.withRequestBytes(8 << 20));
    assertRefused(SqlState.BUSY, "at most 8388608 may be under way", client.call(ofArrays(4)));
    assertInstanceOf(Reply.Result.class, client.call(ofArrays(1)));
  }

  @Test
  void statementOfTooManyTokensIsRefused() throws Exception {
    start(ClientLimits.STANDARD);
    String values = ",(1)".repeat(30_000);
    Reply reply =
        client.call(RawClient.execute(++sequence, "INSERT INTO T(ID) VALUES (1)" + values));
    assertRefused(SqlState.TOO_LARGE, "at most 100000 words, literals and signs", reply);
  }

  private void start(ClientLimits limits) throws Exception {
    node =
        new Node(
            LoopbackSettings.of("n1", RaftSettings.alone("n1", directory.resolve("data"))),
            new SqlDatabase(),
            limits,
            Capacity.STANDARD);
    node.start();
    assertTrue(node.awaitLeadership(Duration.ofSeconds(30)));
    client = new RawClient(node.listenAddress());
    client.hello();
    client.call(
        new Request.OpenSession(
            60_000, 60_000, new Request.SessionOptions(ReadConsistency.LINEARIZABLE, 60_000)));
    client.call(RawClient.execute(++sequence, "CREATE TABLE T(ID INT)"));
  }

  private Request ofArrays(int arrays) {
    String sql = "SELECT CARDINALITY(?)" + " + CARDINALITY(?)".repeat(arrays - 1);
    byte[] set = Parameter.encodeValues(Collections.nCopies(arrays, array(ELEMENTS)));
    return execute(sql, false, List.of(set));
  }

  private Request execute(String sql, boolean batch, List<byte[]> sets) {
    return new Request.Execute(
        ++sequence,
        /* ownLeaseTrusted= */ true,
        TransactionMode.AUTOCOMMIT,
        batch,
        sql,
        new KeyRequest.None(),
        /* maxRows= */ 0,
        /* pageRows= */ 0,
        sets);
  }

  private static Value array(int elements) {
    Value[] values = new Value[elements];
    Arrays.fill(values, ValueInteger.get(1));
    return ValueArray.get(values, null);
  }

  private static void assertRefused(SqlState state, String limit, Reply reply) {
    Reply.Failure failure = assertInstanceOf(Reply.Failure.class, reply);
    assertEquals(state.state(), failure.sqlState(), failure.message());
    assertTrue(failure.message().contains(limit), failure.message());
  }
}
