package dev.tollgate.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.store.h2.SqlValue;
import dev.tollgate.wire.KeyRequest;
import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.TransactionMode;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A client that cannot prove its own lease behaves as if the lease were lost (invariant I8). */
@Timeout(60)
class UnprovenLeaseTest {
  private Node node;
  private RawClient client;
  private long sequence;

  @BeforeEach
  void start() throws Exception {
    node = new Node(LoopbackSettings.of("n1", null));
    node.start();
    client = new RawClient(node.listenAddress());
    client.hello();
    client.call(
        new Request.OpenSession(
            60_000, 15_000, new Request.SessionOptions(ReadConsistency.LINEARIZABLE, 0)));
  }

  @AfterEach
  void stop() throws Exception {
    client.close();
    node.close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT acquire_lock('a')",
        "SELECT acquire_locks(ARRAY['a', 'b'])",
        "SELECT try_acquire_locks(ARRAY['a', 'b'], 0)",
        "SELECT release_lock('a', NULL, 1000)",
        "SELECT transfer_lock('a', NULL, 1)",
        "SELECT transfer_lock('a', 1, 0)",
      })
  void callOnTheOwnLeaseIsRefused(String sql) throws Exception {
    assertInstanceOf(Reply.Result.class, run("SELECT create_lease(60000)", true));
    Reply.Failure refused = assertInstanceOf(Reply.Failure.class, run(sql, false));
    assertEquals("55T01", refused.sqlState(), refused.message());
    assertTrue(refused.message().contains("could not renew its own lease in time"));
    assertInstanceOf(Reply.Result.class, run(sql, true));
  }

  @Test
  void callOnAnotherLeaseGoesThrough() throws Exception {
    for (String sql :
        List.of(
            "SELECT create_lease(60000)",
            "SELECT create_lease(60000)",
            "SELECT acquire_locks(ARRAY['a', 'b'], 1)",
            "SELECT transfer_lock('a', 1, 2)",
            "SELECT release_lock('a', 2, 1000)",
            "CREATE LOCK 'a' PERMITS 2")) {
      assertInstanceOf(Reply.Result.class, run(sql, false), sql);
    }
  }

  private Reply run(String sql, boolean trusted) throws IOException {
    return client.call(
        new Request.Execute(
            ++sequence,
            trusted,
            TransactionMode.AUTOCOMMIT,
            false,
            sql,
            new KeyRequest.None(),
            0,
            0,
            List.of(SqlValue.encodeFirst(List.of(), 0))));
  }
}
