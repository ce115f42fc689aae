package dev.tollgate.spring;

import dev.tollgate.node.LoopbackSettings;
import dev.tollgate.node.Node;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;

/** How the tests reach their node. */
enum Transport {
  MEMORY {
    @Override
    RunningNode start() throws Exception {
      String url = "jdbc:tollgate:mem:" + UUID.randomUUID();
      Connection keepsTheNode = DriverManager.getConnection(url);
      return new RunningNode(url, keepsTheNode, () -> {});
    }
  },
  TCP {
    @Override
    RunningNode start() throws Exception {
      Node node = new Node(LoopbackSettings.of("n1", null));
      node.start();
      String url = "jdbc:tollgate://127.0.0.1:" + node.listenAddress().getPort() + "/";
      return new RunningNode(url, DriverManager.getConnection(url), node::close);
    }
  };

  abstract RunningNode start() throws Exception;

  /** A node that ends with {@link #close}. */
  record RunningNode(String url, Connection connection, Runnable end) implements AutoCloseable {
    void execute(String sql) throws SQLException {
      try (Statement statement = connection.createStatement()) {
        statement.execute(sql);
      }
    }

    @Override
    public void close() throws SQLException {
      connection.close();
      end.run();
    }
  }
}
