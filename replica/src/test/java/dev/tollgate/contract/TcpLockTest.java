package dev.tollgate.contract;

import dev.tollgate.lock.LockClient;
import dev.tollgate.node.LoopbackSettings;
import dev.tollgate.node.Node;
import org.junit.jupiter.api.AfterAll;

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
}
