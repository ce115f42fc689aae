package dev.tollgate.cluster;

import static org.awaitility.Awaitility.await;

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
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.function.IntSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A cluster of real processes on loopback. */
public final class ClusterProcesses implements AutoCloseable {
  public static final Duration DEADLINE = Duration.ofSeconds(60);

  /** Stands for the id of a node in the options of all nodes. */
  static final String ID = "{id}";

  /** Stands for the port of a node's admin address in the options of all nodes. */
  static final String ADMIN_PORT = "{admin-port}";

  private final List<NodeProcess> nodes = new ArrayList<>();
  private final List<Integer> clientPorts = new ArrayList<>();
  private final List<Integer> adminPorts;
  private final Path directory;
  private final Path logs;

  /**
   * @param name of the test: where the nodes' logs stay, under target/node-logs
   * @param options for every node, besides those that all clusters have
   */
  public ClusterProcesses(String name, Path directory, int size, String... options)
      throws Exception {
    this(/* classPath= */ null, name, directory, size, options);
  }

  /** Three nodes of another version; null for the version of the tests. */
  static ClusterProcesses from(@Nullable String classPath, String name, Path directory)
      throws Exception {
    return new ClusterProcesses(classPath, name, directory, 3, new String[0]);
  }

  private ClusterProcesses(
      @Nullable String classPath, String name, Path directory, int size, String[] options)
      throws Exception {
    this.directory = directory;
    List<Integer> ports = freePorts(2 * size);
    adminPorts = freePorts(size);
    List<Integer> raftPorts = ports.subList(size, 2 * size);
    List<String> peers = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      peers.add("n" + (i + 1) + "=127.0.0.1:" + raftPorts.get(i));
    }
    logs = Files.createDirectories(Path.of("target", "node-logs", name));
    String[] all = Arrays.copyOf(options, options.length + 1);
    all[options.length] = "--peers=" + String.join(",", peers);
    for (int i = 0; i < size; i++) {
      String port = Integer.toString(adminPorts.get(i));
      String[] own =
          Stream.of(all).map(option -> option.replace(ADMIN_PORT, port)).toArray(String[]::new);
      newNode("n" + (i + 1), ports.get(i), raftPorts.get(i), own);
    }
    nodes.forEach(node -> node.runFrom(classPath));
    try {
      startAll();
    } catch (Exception | Error e) {
      close();
      throw e;
    }
  }

  private NodeProcess newNode(String id, int clientPort, int raftPort, String... options) {
    String[] own = Stream.of(options).map(option -> option.replace(ID, id)).toArray(String[]::new);
    NodeProcess node =
        new NodeProcess(
            id, directory.resolve(id), logs.resolve(id + ".log"), clientPort, raftPort, own);
    nodes.add(node);
    clientPorts.add(clientPort);
    return node;
  }

  /** A node, not started yet, that will ask this cluster to be added. */
  NodeProcess joining(String id, String... options) throws IOException {
    List<Integer> ports = freePorts(2);
    String[] all = Arrays.copyOf(options, options.length + 1);
    all[options.length] = "--join=" + url("");
    return newNode(id, ports.get(0), ports.get(1), all);
  }

  /** Ends a node for good. */
  void forget(NodeProcess node) {
    node.close();
    clientPorts.remove(nodes.indexOf(node));
    nodes.remove(node);
  }

  private static List<Integer> freePorts(int count) throws IOException {
    List<Integer> ports = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      ports.add(Ports.free());
    }
    return ports;
  }

  /** Starts the nodes that do not run, and waits until they are ready. */
  void startAll() throws Exception {
    List<CompletableFuture<String>> ready = new ArrayList<>();
    for (NodeProcess node : nodes) {
      if (!node.isAlive()) {
        ready.add(node.start());
      }
    }
    NodeProcess.awaitAll(ready);
  }

  /**
   * Kills all nodes, and starts those of another cluster under the same addresses.
   *
   * @param directories has a directory for each node, which is moved to where the node had its own
   */
  void replaceBy(Path directories) throws Exception {
    for (NodeProcess node : nodes) {
      node.kill();
    }
    for (NodeProcess node : nodes) {
      Files.move(node.data(), directory.resolve("former-" + node.id()));
      Files.move(directories.resolve(node.id()), node.data());
    }
    startAll();
  }

  NodeProcess node(String id) {
    return nodes.stream().filter(node -> node.id().equals(id)).findFirst().orElseThrow();
  }

  public List<NodeProcess> nodes() {
    return nodes;
  }

  /** The URL with all nodes. */
  public String url(String properties) {
    return clientPorts.stream()
            .map(port -> "127.0.0.1:" + port)
            .collect(Collectors.joining(",", "jdbc:tollgate://", "/"))
        + (properties.isEmpty() ? "" : "?" + properties);
  }

  /** The URL of one node, which answers queries itself. */
  String urlOf(NodeProcess node) {
    return "jdbc:tollgate://127.0.0.1:"
        + clientPorts.get(nodes.indexOf(node))
        + "/?readConsistency=any";
  }

  int clientPort(NodeProcess node) {
    return clientPorts.get(nodes.indexOf(node));
  }

  /** The ports of the admin addresses of the first nodes, if {@link #ADMIN_PORT} was an option. */
  List<Integer> adminPorts() {
    return adminPorts;
  }

  public Connection connect(String properties) throws SQLException {
    return DriverManager.getConnection(url(properties));
  }

  /** The node that leads now. */
  public NodeProcess leader() {
    String id =
        await()
            .atMost(DEADLINE)
            .ignoreExceptions()
            .until(
                () -> {
                  try (Connection connection = connect("");
                      Statement statement = connection.createStatement();
                      ResultSet row =
                          statement.executeQuery(
                              "SELECT NODE_ID FROM TOLLGATE.NODES WHERE NODE_ROLE = 'LEADER'")) {
                    return row.next() ? row.getString(1) : null;
                  }
                },
                found -> found != null);
    return node(id);
  }

  /** Waits until clients have done so much more, or one of them has ended. */
  public static void awaitProgress(
      IntSupplier done, int more, Collection<? extends Future<?>> clients) {
    int enough = done.getAsInt() + more;
    await()
        .atMost(DEADLINE)
        .until(() -> done.getAsInt() >= enough || clients.stream().anyMatch(Future::isDone));
  }

  /** All rows of a query as this node alone sees them. */
  public List<String> rowsAt(NodeProcess node, String query) throws SQLException {
    try (Connection connection = DriverManager.getConnection(urlOf(node));
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(query)) {
      List<String> text = new ArrayList<>();
      int columns = rows.getMetaData().getColumnCount();
      while (rows.next()) {
        StringBuilder row = new StringBuilder();
        for (int i = 1; i <= columns; i++) {
          row.append(rows.getString(i)).append('|');
        }
        text.add(row.toString());
      }
      return text;
    }
  }

  @Override
  public void close() {
    nodes.forEach(NodeProcess::close);
  }
}
