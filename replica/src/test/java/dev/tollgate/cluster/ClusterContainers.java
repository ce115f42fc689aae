package dev.tollgate.cluster;

import static org.awaitility.Awaitility.await;

import com.github.dockerjava.api.exception.NotFoundException;
import com.github.dockerjava.api.model.Network.Ipam;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.Network;

/**
 * A cluster of three nodes in containers. One network carries Raft, another one the clients, so
 * that a node can be cut off from the others while clients still reach it. Clients on the machine
 * of the containers reach nodes at their addresses in the network.
 */
public final class ClusterContainers implements AutoCloseable {
  static final String BASE_IMAGE = "tollgate-base:ci";
  static final String IMAGE = System.getProperty("tollgate.image", BASE_IMAGE);

  private static final int SIZE = 3;
  private static final String RAFT_SUBNET = "10.213.77.";
  private static final String CLIENT_SUBNET = "10.213.78.";
  private static final int FIRST_HOST = 11;

  /** Twice as long as for processes, because nodes in containers start without ClassArchive. */
  private static final Duration DEADLINE = ClusterProcesses.DEADLINE.multipliedBy(2);

  private final Network raft = network(RAFT_SUBNET);
  private final Network clients = network(CLIENT_SUBNET);
  private final List<NodeContainer> nodes = new ArrayList<>();
  private final Path logs;

  /**
   * @param name of the test: where the nodes' logs go in the end, under target/node-logs
   */
  public ClusterContainers(String name) throws IOException {
    logs = Files.createDirectories(Path.of("target", "node-logs", name));
    String peers =
        IntStream.range(0, SIZE)
            .mapToObj(
                i -> "n" + (i + 1) + "=" + host(RAFT_SUBNET, i) + ":" + NodeContainer.RAFT_PORT)
            .collect(Collectors.joining(","));
    for (int i = 0; i < SIZE; i++) {
      nodes.add(
          new NodeContainer(
              "n" + (i + 1), raft, host(RAFT_SUBNET, i), clients, host(CLIENT_SUBNET, i), peers));
    }
    try {
      CompletableFuture.allOf(
              nodes.stream()
                  .map(node -> CompletableFuture.runAsync(() -> start(node)))
                  .toArray(CompletableFuture<?>[]::new))
          .join();
      // Ratis does not count the vote of a node that has nothing of the log yet
      awaitEqualReplicas();
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  private void start(NodeContainer node) {
    node.start();
    node.connect(clients);
  }

  private static String host(String subnet, int number) {
    return subnet + (FIRST_HOST + number);
  }

  private static Network network(String subnet) {
    return Network.builder()
        .createNetworkCmdModifier(
            command ->
                command.withIpam(
                    new Ipam().withConfig(new Ipam.Config().withSubnet(subnet + "0/24"))))
        .build();
  }

  /** Why there can be no containers here; empty if there can. */
  public static Optional<String> missing() {
    if (System.getenv("DOCKER_HOST") == null && !Files.exists(Path.of("/var/run/docker.sock"))) {
      return Optional.of("no Docker engine runs: .ci/containers start");
    }
    if (!DockerClientFactory.instance().isDockerAvailable()) {
      return Optional.of("the Docker engine does not answer");
    }
    try {
      DockerClientFactory.instance().client().inspectImageCmd(IMAGE).exec();
      return Optional.empty();
    } catch (NotFoundException e) {
      return Optional.of(
          "there is no image " + IMAGE + ", for " + BASE_IMAGE + ": .ci/containers start");
    }
  }

  /** The network over which nodes reach each other. */
  public Network raft() {
    return raft;
  }

  /** The network over which clients reach nodes. */
  public Network clients() {
    return clients;
  }

  public Connection connect(String properties) throws SQLException {
    return DriverManager.getConnection(
        IntStream.range(0, SIZE)
                .mapToObj(i -> host(CLIENT_SUBNET, i) + ":" + NodeContainer.CLIENT_PORT)
                .collect(Collectors.joining(",", "jdbc:tollgate://", "/?"))
            + properties);
  }

  /** The node that leads now. */
  public NodeContainer leader() throws SQLException {
    try (Connection connection = connect("failoverTimeout=60s");
        Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                "SELECT NODE_ID FROM TOLLGATE.NODES WHERE NODE_ROLE = 'LEADER'")) {
      if (!row.next()) {
        throw new IllegalStateException("nobody leads");
      }
      String id = row.getString(1);
      return nodes.stream().filter(node -> node.id().equals(id)).findFirst().orElseThrow();
    }
  }

  /** Waits until all replicas have computed the same at one place of the log. */
  public void awaitEqualReplicas() {
    Map<String, String> equal = new TreeMap<>();
    nodes.forEach(node -> equal.put(node.id(), "EQUAL"));
    await().atMost(DEADLINE).until(this::verdicts, equal::equals);
  }

  private Map<String, String> verdicts() throws SQLException {
    Map<String, String> verdicts = new TreeMap<>();
    try (Connection connection = connect("failoverTimeout=60s");
        Statement statement = connection.createStatement();
        ResultSet checks = statement.executeQuery("CALL verify_replicas()")) {
      while (checks.next()) {
        verdicts.put(checks.getString("NODE_ID"), checks.getString("VERDICT"));
      }
    }
    return verdicts;
  }

  @Override
  public void close() {
    for (NodeContainer node : nodes) {
      try {
        Files.writeString(logs.resolve(node.id() + ".log"), node.log());
      } catch (IOException e) {
        throw new IllegalStateException(e);
      } finally {
        node.close();
      }
    }
    clients.close();
    raft.close();
  }
}
