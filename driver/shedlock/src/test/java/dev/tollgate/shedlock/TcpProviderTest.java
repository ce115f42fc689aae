package dev.tollgate.shedlock;

import dev.tollgate.node.LoopbackSettings;
import dev.tollgate.node.Node;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The provider over TCP. */
class TcpProviderTest extends LockProviderContract {
  private Node node;

  @BeforeAll
  void start() throws Exception {
    node = new Node(LoopbackSettings.of("n1", null));
    node.start();
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
}
