package dev.tollgate.contract;

import dev.tollgate.log.RaftSettings;
import dev.tollgate.node.Node;
import dev.tollgate.node.NodeSettings;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** The contract over TCP, to a node with a log on disk. */
class TcpContractTest extends JdbcContract {
  @TempDir private Path directory;
  private Node node;

  @BeforeEach
  void startNode() throws Exception {
    InetSocketAddress anyPort = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    node =
        new Node(
            new NodeSettings(
                "n1",
                RaftSettings.alone("n1", directory),
                null,
                anyPort,
                NodeSettings.MAX_CONNECTIONS,
                Duration.ZERO));
    node.start();
  }

  @AfterEach
  void stopNode() {
    node.close();
  }

  @Override
  Connection connect(String properties) throws SQLException {
    return DriverManager.getConnection(
        "jdbc:tollgate://127.0.0.1:"
            + node.listenAddress().getPort()
            + "/?applicationName=contract&"
            + properties);
  }
}
