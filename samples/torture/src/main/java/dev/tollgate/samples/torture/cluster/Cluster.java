package dev.tollgate.samples.torture.cluster;

import dev.tollgate.samples.torture.disk.RecordedDisk;
import dev.tollgate.samples.torture.history.LedgerRow;
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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Three or five nodes in processes of their own, from the source tree of this program. */
public final class Cluster implements AutoCloseable {
  private static final List<Path> FAKE_TIME =
      List.of(
          Path.of("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"),
          Path.of("/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1"),
          Path.of("/usr/lib64/faketime/libfaketimeMT.so.1"),
          Path.of("/usr/lib/faketime/libfaketimeMT.so.1"));

  /** The locks of all registers, as GRANT names them. */
  static final String LOCKS = "register-%";

  private static final String HEAP = "512m";

  /**
   * Causes a snapshot every few seconds, so that a node that was away needs what the leader has cut
   * off.
   */
  private static final double SNAPSHOT_LOG_MIB = 0.03;

  /** The same where the log grows faster, because disks are recorded. */
  private static final double LOADED_LOG_MIB = 0.3;

  /** How much longer a sync of a recorded disk takes at first: more is lost if its power is cut. */
  private static final long SYNC_MILLIS = 10;

  private static final String LEDGER =
      "SELECT position, resource, sequence, token, held, client, operation FROM ledger"
          + " ORDER BY position";

  private final Network network;
  private final Access access;
  private final Path directory;
  private final List<Node> nodes = new ArrayList<>();

  /**
   * Starts the nodes and waits until they are ready.
   *
   * @param home of the source tree
   * @param directory for data and output
   * @param fakeClocks whether wall clocks will have to jump
   * @param recordedDisks whether the power of disks will be cut, or their syncs spoiled
   */
  public Cluster(
      Path home,
      Path directory,
      Network network,
      Access access,
      int size,
      boolean fakeClocks,
      boolean recordedDisks)
      throws IOException, InterruptedException {
    this.network = network;
    this.access = access;
    this.directory = directory;
    Path recorder =
        recordedDisks
            ? RecordedDisk.compile(
                home.resolve("samples/torture/src/main/c/recorded-disk.c"), directory)
            : null;
    String peers =
        IntStream.range(0, size)
            .mapToObj(host -> name(host) + "=" + network.raftAddress(host))
            .collect(Collectors.joining(","));
    try {
      for (int host = 0; host < size; host++) {
        nodes.add(node(home, directory, host, peers, fakeClocks, recorder));
      }
      for (Node node : nodes) {
        node.awaitReady();
      }
    } catch (IOException | InterruptedException | RuntimeException e) {
      close();
      throw e;
    }
  }

  private Node node(
      Path home,
      Path directory,
      int host,
      String peers,
      boolean fakeClocks,
      @Nullable Path recorder)
      throws IOException {
    Path clock = directory.resolve(name(host) + ".clock");
    List<String> command = new ArrayList<>(network.on(host));
    command.addAll(
        List.of(
            home.resolve("replica/bin/tollgate").toString(),
            "server",
            "--id=" + name(host),
            "--data=" + directory.resolve(name(host)),
            "--client-address=" + network.clientAddress(host),
            "--raft-address=" + network.raftAddress(host),
            "--snapshot-log-mib=" + (recorder == null ? SNAPSHOT_LOG_MIB : LOADED_LOG_MIB),
            "--trace-promises=" + traceFile(name(host)),
            "--peers=" + peers));
    command.addAll(access.options(name(host)));
    Map<String, String> environment = new HashMap<>();
    environment.put("TOLLGATE_HEAP", HEAP);
    if (fakeClocks) {
      environment.put("LD_PRELOAD", fakeTime().orElseThrow().toString());
      environment.put("FAKETIME_TIMESTAMP_FILE", clock.toString());
      environment.put("FAKETIME_CACHE_DURATION", "1");
      environment.put("FAKETIME_DONT_FAKE_MONOTONIC", "1");
      // otherwise timed waits of virtual machines end at once
      environment.put("FAKETIME_FORCE_MONOTONIC_FIX", "0");
      environment.put("FAKETIME_DISABLE_SHM", "1");
      environment.put("NO_FAKE_STAT", "1");
    }
    RecordedDisk disk = null;
    if (recorder != null) {
      Path data = directory.resolve(name(host));
      disk = new RecordedDisk(data, data, recorder);
      disk.slow(SYNC_MILLIS);
      disk.environment()
          .forEach(
              (name, value) -> environment.merge(name, value, (one, other) -> one + ":" + other));
    }
    return new Node(
        name(host),
        host,
        command,
        environment,
        directory.resolve(name(host) + ".log"),
        clock,
        disk);
  }

  static String name(int host) {
    return "n" + (host + 1);
  }

  static Path auditFile(Path directory, String node) {
    return directory.resolve(node + ".audit");
  }

  private Path traceFile(String node) {
    return directory.resolve(node + ".promises");
  }

  /** Where the nodes write down what they promise each other. */
  public List<Path> traces() {
    return nodes.stream().map(node -> traceFile(node.name())).toList();
  }

  /** The audit files by the name of their node; empty if nodes write none. */
  public Map<String, Path> auditFiles() {
    Map<String, Path> files = new TreeMap<>();
    if (access.isAudited()) {
      nodes.forEach(node -> files.put(node.name(), auditFile(directory, node.name())));
    }
    return files;
  }

  private static Optional<Path> fakeTime() {
    return FAKE_TIME.stream().filter(Files::isReadable).findFirst();
  }

  /** Why clocks cannot jump on this machine; empty if they can. */
  public static Optional<String> obstacleToClocks() {
    return fakeTime().isPresent()
        ? Optional.empty()
        : Optional.of("libfaketime is not installed (Debian: apt-get install faketime)");
  }

  /** Why disks cannot be filled on this machine; empty if they can. */
  public static Optional<String> obstacleToDisks() {
    return Shell.find("prlimit").isPresent()
        ? Optional.empty()
        : Optional.of("prlimit is not installed (util-linux)");
  }

  public List<Node> nodes() {
    return List.copyOf(nodes);
  }

  public Network network() {
    return network;
  }

  public Access access() {
    return access;
  }

  /** How many nodes can be away while the others go on. */
  public int minority() {
    return (nodes.size() - 1) / 2;
  }

  /** What all nodes together reported of their snapshots. */
  public Snapshots snapshots() {
    return nodes.stream().map(Node::snapshots).reduce(Snapshots.NONE, Snapshots::plus);
  }

  /** The JDBC URL with the addresses of all nodes. */
  public String url(String properties) {
    return nodes.stream()
        .map(node -> network.clientAddress(node.host()))
        .collect(Collectors.joining(",", "jdbc:tollgate://", "/?" + properties));
  }

  private Connection administrator() throws SQLException {
    return DriverManager.getConnection(url("applicationName=torture" + access.administrator()));
  }

  /** The name of the leader, as the cluster itself reports it. */
  public static String leader(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                "SELECT node_id FROM tollgate.nodes WHERE node_role = 'LEADER'")) {
      return row.next() ? row.getString(1) : "";
    }
  }

  /**
   * Creates the register that clients write to, and the tables of the probe and of the load; admits
   * clients.
   *
   * @param writers how many rows the load has
   */
  public void createTables(int writers) throws SQLException {
    try (Connection connection = administrator();
        Statement statement = connection.createStatement()) {
      statement.execute(
          "CREATE TABLE ledger("
              + "position BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
              + " resource VARCHAR(20) NOT NULL, sequence BIGINT NOT NULL,"
              + " token BIGINT NOT NULL, held BIGINT,"
              + " client VARCHAR(20) NOT NULL, operation INT NOT NULL)"
              + " FENCED BY LOCK ('register-' || resource)");
      statement.execute("CREATE INDEX ledger_resource ON ledger(resource, sequence)");
      statement.execute("CREATE TABLE beat(n BIGINT NOT NULL)");
      statement.execute("INSERT INTO beat VALUES(0)");
      statement.execute("CREATE TABLE load(writer INT PRIMARY KEY, n BIGINT NOT NULL)");
      for (int writer = 0; writer < writers; writer++) {
        statement.execute("INSERT INTO load VALUES(" + writer + ", 0)");
      }
      access.admitClients(connection);
    }
  }

  /** All rows of the ledger, as the cluster returns them. */
  public List<LedgerRow> ledger() throws SQLException {
    try (Connection connection = administrator()) {
      return ledger(connection);
    }
  }

  /** Returns the ledger of this node alone, once it has as many rows or the limit has passed. */
  public List<LedgerRow> ledgerAt(Node node, int rows, Duration limit)
      throws SQLException, InterruptedException {
    long end = System.nanoTime() + limit.toNanos();
    while (true) {
      List<LedgerRow> found = List.of();
      try (Connection connection =
          DriverManager.getConnection(
              "jdbc:tollgate://"
                  + network.clientAddress(node.host())
                  + "/?readConsistency=any&applicationName=torture"
                  + access.administrator())) {
        found = ledger(connection);
      } catch (SQLException e) {
        if (System.nanoTime() > end) {
          throw e;
        }
      }
      if (found.size() >= rows || System.nanoTime() > end) {
        return found;
      }
      TimeUnit.MILLISECONDS.sleep(100);
    }
  }

  private static List<LedgerRow> ledger(Connection connection) throws SQLException {
    List<LedgerRow> ledger = new ArrayList<>();
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(LEDGER)) {
      while (rows.next()) {
        ledger.add(
            new LedgerRow(
                rows.getLong(1),
                rows.getString(2),
                rows.getLong(3),
                rows.getLong(4),
                rows.getLong(5),
                rows.getString(6),
                rows.getInt(7)));
      }
    }
    return ledger;
  }

  /** The verdict of the comparison of all replicas on each node. */
  public Map<String, String> verifyReplicas() throws SQLException {
    Map<String, String> verdicts = new TreeMap<>();
    try (Connection connection = administrator();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("CALL verify_replicas()")) {
      while (rows.next()) {
        verdicts.put(rows.getString("NODE_ID"), rows.getString("VERDICT"));
      }
    }
    return verdicts;
  }

  @Override
  public void close() {
    for (Node node : nodes) {
      node.kill();
    }
  }
}
