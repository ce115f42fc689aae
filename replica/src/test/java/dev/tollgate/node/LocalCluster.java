package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.cluster.Ports;
import dev.tollgate.core.command.Environment;
import dev.tollgate.core.command.FeatureLevels;
import dev.tollgate.log.LogStatus;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.log.peer.NodeIdentity;
import dev.tollgate.log.trace.PromiseFiles;
import dev.tollgate.node.audit.AuditSettings;
import dev.tollgate.seal.DataKeys;
import dev.tollgate.store.LocalEnvironment;
import dev.tollgate.store.SqlDatabase;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Clock;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A cluster whose nodes, n1, n2 and so on, all run in this process and sync to a directory. */
final class LocalCluster implements AutoCloseable {
  private static final Duration DEADLINE = Duration.ofSeconds(40);

  private final Path directory;
  private final Duration verifyInterval;
  private final long snapshotLogBytes;
  private final SortedMap<String, String> peers = new TreeMap<>();

  /** Where nodes listen that were not there from the beginning. */
  private final SortedMap<String, String> joined = new TreeMap<>();

  private final Map<String, Integer> clientPorts = new TreeMap<>();
  private final Map<String, SqlDatabase> databases = new TreeMap<>();
  private final Map<String, Node> nodes = new TreeMap<>();
  private int maxConnections = 100;
  private Supplier<SqlDatabase> fresh = SqlDatabase::new;
  private Function<String, @Nullable NodeTls> tls = id -> null;
  private Function<String, FeatureLevels> versions = id -> FeatureLevels.STANDARD;
  private Function<String, Clock> clocks = id -> Clock.systemUTC();
  private Function<String, DataKeys> keys = id -> DataKeys.off();
  private @Nullable Path auditFiles;
  private @Nullable InetAddress administered;

  /** Chooses addresses, and starts no node yet. */
  LocalCluster(Path directory, int size, Duration verifyInterval, long snapshotLogBytes)
      throws IOException {
    this.directory = directory;
    this.verifyInterval = verifyInterval;
    this.snapshotLogBytes = snapshotLogBytes;
    peers.putAll(Ports.peers(size));
    for (String id : peers.keySet()) {
      clientPorts.put(id, Ports.free());
    }
  }

  private LocalCluster(LocalCluster other, Path directory) {
    this.directory = directory;
    this.verifyInterval = other.verifyInterval;
    this.snapshotLogBytes = other.snapshotLogBytes;
    peers.putAll(other.peers);
    clientPorts.putAll(other.clientPorts);
  }

  /**
   * Starts a cluster that is compared only when a test asks, and takes no snapshot by itself. Waits
   * until each node has some of the log: the vote of a node that has nothing does not count, so the
   * others could elect nobody if the test stopped the leader.
   */
  static LocalCluster started(Path directory, int size) throws IOException {
    LocalCluster cluster =
        new LocalCluster(directory, size, Duration.ZERO, RaftSettings.SNAPSHOT_LOG_BYTES);
    cluster.startAllAndAwait();
    return cluster;
  }

  /** As {@link #started}, for a cluster with other settings. */
  void startAllAndAwait() throws IOException {
    startAll();
    for (Node node : nodes.values()) {
      await().atMost(DEADLINE).until(() -> node.status().lastAppliedIndex() > 0);
    }
  }

  /** Gives every node that is started from now on such a database. */
  void useDatabases(Supplier<SqlDatabase> databases) {
    fresh = databases;
  }

  /** Lets nodes that are started from now on have so many clients at a time. */
  void allowConnections(int most) {
    maxConnections = most;
  }

  /** Gives nodes that are started from now on TLS. */
  void encrypt(Function<String, @Nullable NodeTls> settings) {
    tls = settings;
  }

  /** Gives nodes that are started from now on keys for their data directories. */
  void useKeys(Function<String, DataKeys> chosen) {
    keys = chosen;
  }

  /** Gives nodes that are started from now on other versions of the product. */
  void useVersions(Function<String, FeatureLevels> known) {
    versions = known;
  }

  /** Gives nodes that are started from now on other clocks. */
  void useClocks(Function<String, Clock> others) {
    clocks = others;
  }

  /** Has every node that is started from now on write its audit lines there, in files by node. */
  void audit(Path directory) {
    auditFiles = directory;
  }

  /** Gives every node that is started from now on an admin address. */
  void administer() {
    administer(InetAddress.getLoopbackAddress());
  }

  /** Gives every node that is started from now on an admin address on this one. */
  void administer(InetAddress address) {
    administered = address;
  }

  void startAll() throws IOException {
    for (String id : peers.keySet()) {
      start(id);
    }
  }

  void start(String id) throws IOException {
    start(id, LocalEnvironment.get());
  }

  /** Starts a node that says that it computes statements with this. */
  void start(String id, Environment environment) throws IOException {
    SqlDatabase database = fresh.get();
    RaftSettings raft =
        new RaftSettings(
            id,
            raftAddress(id),
            joined.containsKey(id) ? Collections.emptySortedMap() : peers,
            directory.resolve(id),
            RaftSettings.ELECTION_TIMEOUT,
            snapshotLogBytes);
    NodeTls encryption = tls.apply(id);
    NodeSettings settings =
        new NodeSettings(
            id,
            raft.withTls(encryption == null ? null : encryption.peers())
                .withClock(clocks.apply(id))
                .withPromises(PromiseFiles.of(directory, id))
                .withKeys(keys.apply(id)),
            null,
            new InetSocketAddress(InetAddress.getLoopbackAddress(), clientPorts.get(id)),
            maxConnections,
            verifyInterval,
            () -> environment);
    Node node =
        new Node(
            settings
                .withTls(encryption)
                .withLevels(versions.apply(id))
                .withAudit(
                    auditFiles == null
                        ? null
                        : new AuditSettings(auditFiles.resolve(id), AuditSettings.MAX_BYTES, 2, 2))
                .withAdmin(administered == null ? null : new InetSocketAddress(administered, 0)),
            database);
    nodes.put(id, node);
    databases.put(id, database);
    node.start();
  }

  /** Starts another node, and has it added. */
  void join(String id, Connection connection) throws IOException, SQLException {
    joined.put(id, "127.0.0.1:" + Ports.free());
    clientPorts.put(id, Ports.free());
    start(id);
    try (PreparedStatement call = connection.prepareStatement("CALL add_node(?, ?, ?)")) {
      call.setString(1, id);
      call.setString(2, raftAddress(id));
      call.setString(3, "127.0.0.1:" + clientPorts.get(id));
      call.execute();
    }
    await().atMost(DEADLINE).until(() -> node(id).isMember());
    node(id).announce();
  }

  void stop(String id) {
    nodes.remove(id).close();
  }

  /** Ends a node that hands nothing over, as if it were killed. */
  void kill(String id) {
    nodes.remove(id).closeAtOnce();
  }

  void stopAll() {
    List.copyOf(nodes.keySet()).forEach(this::stop);
  }

  /** What the data directory of a node says of itself and of the others. */
  NodeIdentity identity(String id) throws IOException {
    return NodeIdentity.open(data(id), id, data(id), DataKeys.off());
  }

  /** Waits until every node knows every other one by its directory. */
  void awaitKnown() {
    await()
        .atMost(DEADLINE)
        .until(
            () -> {
              for (String id : nodes().keySet()) {
                if (!identity(id).known().incarnations().keySet().containsAll(nodes().keySet())) {
                  return false;
                }
              }
              return true;
            });
  }

  /** Where a node has its data. */
  Path data(String id) {
    return directory.resolve(id);
  }

  /** A cluster that has the same addresses, and other data. */
  LocalCluster twin(Path directory) {
    return new LocalCluster(this, directory);
  }

  String raftAddress(String id) {
    return joined.getOrDefault(id, peers.get(id));
  }

  Node node(String id) {
    return nodes.get(id);
  }

  Map<String, Node> nodes() {
    return Collections.unmodifiableMap(nodes);
  }

  SqlDatabase database(String id) {
    return databases.get(id);
  }

  /** A client of one node, which has said hello. */
  RawClient client(String id) throws IOException {
    RawClient client = new RawClient(clientAddress(id));
    client.hello();
    return client;
  }

  InetSocketAddress clientAddress(String id) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), clientPorts.get(id));
  }

  String url() {
    List<String> addresses =
        clientPorts.values().stream().map(port -> "127.0.0.1:" + port).toList();
    return "jdbc:tollgate://" + String.join(",", addresses) + "/";
  }

  /** A connection that waits for as long as an election takes on a busy machine. */
  Connection connect() throws SQLException {
    return DriverManager.getConnection(url() + "?failoverTimeout=" + DEADLINE.toSeconds() + "s");
  }

  /** The node that leads, once there is one. */
  String leader() {
    return await()
        .atMost(DEADLINE)
        .until(
            () ->
                nodes.entrySet().stream()
                    .filter(node -> node.getValue().failure() == null)
                    .filter(node -> node.getValue().status().role() == LogStatus.Role.LEADER)
                    .map(Map.Entry::getKey)
                    .findFirst()
                    .orElse(null),
            found -> found != null);
  }

  /** A node that does not lead. */
  String follower() {
    String leader = leader();
    return nodes.keySet().stream().filter(id -> !id.equals(leader)).findFirst().orElseThrow();
  }

  /** Compares the replicas: verdicts by node. */
  static Map<String, String> verify(Connection connection) throws SQLException {
    Map<String, String> verdicts = new TreeMap<>();
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("CALL verify_replicas()")) {
      while (rows.next()) {
        verdicts.put(rows.getString("NODE_ID"), rows.getString("VERDICT"));
        assertTrue(rows.getLong("LOG_INDEX") > 0);
        assertEquals(
            rows.getString("VERDICT").equals("NO ANSWER"), rows.getString("CHECKSUM") == null);
      }
    }
    return verdicts;
  }

  /** Stops all nodes, and checks what they have promised each other. */
  @Override
  public void close() {
    nodes.values().forEach(Node::close);
    try {
      PromiseFiles.check(directory);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
