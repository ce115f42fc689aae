package dev.tollgate.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tollgate.lock.HeldLock;
import dev.tollgate.lock.LockClient;
import dev.tollgate.node.LoopbackSettings;
import dev.tollgate.node.Node;
import java.sql.Connection;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/** The lock API over TCP. */
class TcpLockTest extends LockContract {
  private final Node node = start();

  private static Node start() {
    try {
      Node node = new Node(LoopbackSettings.of("n1", null));
      node.start();
      return node;
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  @AfterAll
  void stop() {
    node.close();
  }

  @Override
  String url() {
    return "jdbc:tollgate://127.0.0.1:" + node.listenAddress().getPort() + "/";
  }

  @Override
  LockClient client() {
    return LockClient.connect(url());
  }

  @Test
  void sessionOfWorkIsItsOwn() throws Exception {
    try (LockClient client = client();
        HeldLock lock = client.acquire("own")) {
      lock.run(
          c -> {
            c.createStatement().execute("CREATE SCHEMA ELSEWHERE");
            c.setSchema("ELSEWHERE");
            return c.createStatement()
                .execute("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE");
          });
      assertEquals("PUBLIC", lock.run(Connection::getSchema));
      assertEquals(
          Connection.TRANSACTION_READ_COMMITTED, lock.run(Connection::getTransactionIsolation));
    }
  }
}
