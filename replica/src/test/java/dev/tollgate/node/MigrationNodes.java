package dev.tollgate.node;

import dev.tollgate.log.LogStatus;
import dev.tollgate.log.RaftSettings;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The nodes that cells of migrations run on. */
interface MigrationNodes extends AutoCloseable {
  /** The node that leads, once there is one. */
  Node leading();

  /** Where the leader takes clients; null while there is none. Any thread may ask. */
  @Nullable InetSocketAddress leader();

  /** A connection of a client to which nothing happens. */
  Connection connect() throws SQLException;

  /** Ends the leader at once, and starts it when there is another. */
  void killLeader(Runnable once) throws IOException;

  /** Ends all nodes at once, and starts them. */
  void restart(Runnable once) throws IOException;

  @Override
  void close();

  /** One node without a disk, which neither dies nor comes back. */
  static MigrationNodes inMemory() throws IOException, InterruptedException {
    Node node = new Node(LoopbackSettings.of("n1", null));
    node.start();
    if (!node.awaitLeadership(Duration.ofSeconds(30))) {
      throw new IllegalStateException("it does not lead");
    }
    return new MigrationNodes() {
      @Override
      public Node leading() {
        return node;
      }

      @Override
      public InetSocketAddress leader() {
        return node.listenAddress();
      }

      @Override
      public Connection connect() throws SQLException {
        return DriverManager.getConnection(
            "jdbc:tollgate://127.0.0.1:" + node.listenAddress().getPort() + "/");
      }

      @Override
      public void killLeader(Runnable once) {
        throw new UnsupportedOperationException("there is no other node");
      }

      @Override
      public void restart(Runnable once) {
        throw new UnsupportedOperationException("it keeps nothing");
      }

      @Override
      public void close() {
        node.close();
      }
    };
  }

  /** Three nodes. */
  static MigrationNodes ofThree(Path directory, int connections) throws IOException {
    LocalCluster cluster =
        new LocalCluster(directory, 3, Duration.ZERO, RaftSettings.SNAPSHOT_LOG_BYTES);
    cluster.allowConnections(connections);
    cluster.startAllAndAwait();
    return new OfThree(cluster);
  }

  /** See {@link #ofThree}. */
  final class OfThree implements MigrationNodes {
    private final LocalCluster cluster;

    /** Of the nodes that run. */
    private volatile List<String> running;

    OfThree(LocalCluster cluster) {
      this.cluster = cluster;
      this.running = List.copyOf(cluster.nodes().keySet());
    }

    @Override
    public Node leading() {
      return cluster.node(cluster.leader());
    }

    @Override
    public @Nullable InetSocketAddress leader() {
      for (String id : running) {
        Node node = cluster.node(id);
        if (node != null && node.isReady() && isLeader(node)) {
          return cluster.clientAddress(id);
        }
      }
      return null;
    }

    private static boolean isLeader(Node node) {
      return node.failure() == null && node.status().role() == LogStatus.Role.LEADER;
    }

    @Override
    public Connection connect() throws SQLException {
      return cluster.connect();
    }

    @Override
    public void killLeader(Runnable once) throws IOException {
      String killed = cluster.leader();
      List<String> all = running;
      running = all.stream().filter(id -> !id.equals(killed)).toList();
      end(once, List.of(killed));
      cluster.leader();
      cluster.start(killed);
      running = all;
    }

    @Override
    public void restart(Runnable once) throws IOException {
      List<String> all = running;
      running = List.of();
      end(once, all);
      cluster.startAllAndAwait();
      cluster.leader();
      running = all;
    }

    /** A node that is busy ends only when it is let. */
    private void end(Runnable once, List<String> killed) {
      Thread ends = new Thread(() -> killed.forEach(cluster::kill), "ends-nodes");
      ends.start();
      once.run();
      try {
        ends.join();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }

    @Override
    public void close() {
      cluster.close();
    }
  }
}
