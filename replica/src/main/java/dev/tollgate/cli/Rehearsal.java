package dev.tollgate.cli;

import static java.util.Objects.requireNonNull;

import ch.qos.logback.classic.Level;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.node.Node;
import dev.tollgate.node.NodeSettings;
import dev.tollgate.node.slow.SlowSettings;
import dev.tollgate.wire.SqlState;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has the JVM load and compile the code of a leader, of followers and of client connections before
 * a node serves: a throw-away cluster of three nodes works in this process, on loopback and in a
 * temporary directory, for a bounded time. Nothing of the cluster is left afterwards.
 */
final class Rehearsal {
  private static final Logger LOG = LoggerFactory.getLogger(Rehearsal.class);

  private static final int NODES = 3;
  private static final int CLIENTS = 8;

  /** After so many locks of the first client another node takes over, and the sessions move. */
  private static final int TURNS_OF_A_LEADER = 20;

  private static final int FIRST_HAND_OVER = 2;

  /** Short, so that clients renew their leases several times during a rehearsal. */
  private static final Duration LEASE = Duration.ofSeconds(2);

  /** How long a process that was told to stop waits until the directory is removed. */
  private static final Duration REMOVED_WITHIN = Duration.ofSeconds(5);

  private static final int MAX_CONNECTIONS = 100;

  private final Path parent;
  private final Duration limit;
  private final long mostCycles;
  private final LongSupplier nanoTime;
  private final List<Node> nodes = new ArrayList<>();
  private final AtomicLong cycles = new AtomicLong();
  private final AtomicLong handOvers = new AtomicLong();
  private final CountDownLatch over = new CountDownLatch(1);
  private volatile boolean stopped;
  private long endNanos;

  /**
   * @param parent in which the temporary directory is made
   * @param limit after which no statement begins any more
   * @param mostCycles about as many locks are acquired and released at most
   * @param nanoTime a clock as {@link System#nanoTime}
   */
  Rehearsal(Path parent, Duration limit, long mostCycles, LongSupplier nanoTime) {
    this.parent = requireNonNull(parent, "parent");
    this.limit = requireNonNull(limit, "limit");
    this.mostCycles = mostCycles;
    this.nanoTime = requireNonNull(nanoTime, "nanoTime");
  }

  /** Creates a rehearsal that takes this time, in the directory for temporary files. */
  static Rehearsal of(Duration limit) {
    Path parent = Path.of(System.getProperty("java.io.tmpdir"));
    return new Rehearsal(parent, limit, Long.MAX_VALUE, System::nanoTime);
  }

  /**
   * Runs before a node starts. The throw-away nodes log errors only. A rehearsal that fails is
   * logged, and the node starts all the same. Returns false if the process was told to end.
   */
  boolean runBefore(String nodeId) throws InterruptedException {
    Thread stop = new Thread(this::stop, "tollgate-rehearsal-stop");
    Runtime.getRuntime().addShutdownHook(stop);
    long begin = System.nanoTime();
    try {
      long done = runQuietly();
      LOG.info(
          "{}: rehearsed for {} ms with {} lock cycles and {} changes of the leader",
          nodeId,
          TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin),
          done,
          handOvers);
    } catch (IOException | SQLException | RuntimeException e) {
      LOG.warn("{}: starts without a complete rehearsal, and is slower at first", nodeId, e);
    }
    if (stopped) {
      return false;
    }
    Runtime.getRuntime().removeShutdownHook(stop);
    return true;
  }

  private long runQuietly() throws IOException, SQLException, InterruptedException {
    if (!(LoggerFactory.getLogger("dev.tollgate") instanceof ch.qos.logback.classic.Logger logs)) {
      return run();
    }
    Level before = logs.getLevel();
    logs.setLevel(Level.ERROR);
    try {
      return run();
    } finally {
      logs.setLevel(before);
    }
  }

  /**
   * Returns how many locks were acquired and released.
   *
   * @throws IOException if the temporary directory or a port cannot be used
   * @throws SQLException if a statement fails
   */
  long run() throws IOException, SQLException, InterruptedException {
    endNanos = nanoTime.getAsLong() + limit.toNanos();
    try {
      Path directory = Files.createTempDirectory(parent, "tollgate-rehearsal");
      try {
        start(directory);
        work();
      } finally {
        nodes.forEach(Node::closeAtOnce);
        delete(directory);
      }
    } finally {
      over.countDown();
    }
    return cycles.get();
  }

  /** Ends the rehearsal early, and returns when its directory is removed. */
  void stop() {
    stopped = true;
    try {
      over.await(REMOVED_WITHIN.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean goesOn() {
    return !stopped && cycles.get() < mostCycles && nanoTime.getAsLong() - endNanos < 0;
  }

  private void start(Path directory) throws IOException {
    SortedMap<String, String> peers = new TreeMap<>();
    for (int port : freePorts()) {
      peers.put("rehearsal-" + (peers.size() + 1), "127.0.0.1:" + port);
    }
    for (String id : peers.keySet()) {
      if (!goesOn()) {
        return;
      }
      RaftSettings raft =
          new RaftSettings(
              id,
              peers.get(id),
              peers,
              directory.resolve(id),
              RaftSettings.ELECTION_TIMEOUT,
              RaftSettings.SNAPSHOT_LOG_BYTES);
      InetSocketAddress clients = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
      Node node =
          new Node(
              new NodeSettings(id, raft, null, clients, MAX_CONNECTIONS, Duration.ZERO)
                  .withSlow(SlowSettings.OFF));
      nodes.add(node);
      node.start();
    }
  }

  /** Another process may take one of them before a node does; then the rehearsal fails. */
  private static List<Integer> freePorts() throws IOException {
    List<ServerSocket> probes = new ArrayList<>();
    try {
      for (int i = 0; i < NODES; i++) {
        probes.add(new ServerSocket(0, 1, InetAddress.getLoopbackAddress()));
      }
      return probes.stream().map(ServerSocket::getLocalPort).toList();
    } finally {
      for (ServerSocket probe : probes) {
        probe.close();
      }
    }
  }

  private void work() throws SQLException, InterruptedException {
    if (!goesOn()) {
      return;
    }
    List<String> addresses = new ArrayList<>();
    for (Node node : nodes) {
      addresses.add("127.0.0.1:" + requireNonNull(node.listenAddress()).getPort());
    }
    String url =
        "jdbc:tollgate://%s/?applicationName=rehearsal&lease=%dms&failoverTimeout=%dms"
            .formatted(String.join(",", addresses), LEASE.toMillis(), limit.toMillis());
    List<FutureTask<Void>> clients = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      int number = i;
      FutureTask<Void> client =
          new FutureTask<>(
              () -> {
                beClient(url, number);
                return null;
              });
      clients.add(client);
      Thread thread = new Thread(client, "tollgate-rehearsal-" + number);
      thread.setDaemon(true);
      thread.start();
    }
    for (FutureTask<Void> client : clients) {
      await(client);
    }
  }

  private static void await(FutureTask<Void> client) throws SQLException, InterruptedException {
    try {
      client.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof Error broken) {
        throw broken;
      }
      if (e.getCause() instanceof RuntimeException bug) {
        throw bug;
      }
      throw e.getCause() instanceof SQLException failure ? failure : new SQLException(e.getCause());
    }
  }

  /** Takes a lock of its own again and again, and sometimes writes and reads a row under it. */
  private void beClient(String url, int number) throws SQLException {
    String lock = "row-" + number;
    try (Connection connection = DriverManager.getConnection(url)) {
      try (Statement statement = connection.createStatement()) {
        statement.execute(
            "CREATE TABLE IF NOT EXISTS rehearsal(id INT PRIMARY KEY, turn INT)"
                + " FENCED BY LOCK ('row-' || id)");
      }
      try (PreparedStatement acquire = connection.prepareStatement("SELECT acquire_lock(?)");
          PreparedStatement attempt = connection.prepareStatement("SELECT try_acquire_lock(?)");
          PreparedStatement release = connection.prepareStatement("SELECT release_lock(?)");
          PreparedStatement write =
              connection.prepareStatement("MERGE INTO rehearsal KEY(id) VALUES (?, ?)");
          PreparedStatement read =
              connection.prepareStatement("SELECT turn FROM rehearsal WHERE id = ?")) {
        for (int turn = 0; goesOn(); turn++) {
          call(turn % 2 == 0 ? acquire : attempt, lock);
          if (turn % 4 == 0) {
            write.setInt(1, number);
            write.setInt(2, turn);
            write.executeUpdate();
          }
          call(release, lock);
          if (turn % 4 == 2) {
            call(read, Integer.toString(number));
          }
          if (number == 0 && turn % TURNS_OF_A_LEADER == FIRST_HAND_OVER) {
            handOver(connection);
          }
          cycles.incrementAndGet();
        }
      }
    }
  }

  private void handOver(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("CALL resign_leadership('" + leader(statement) + "')");
      handOvers.incrementAndGet();
    } catch (SQLException e) {
      if (!SqlState.ADMINISTRATION.state().equals(e.getSQLState())) {
        throw e;
      }
      // no other node took over in time, and the rehearsal goes on with this leader
      LOG.debug("leadership stays where it is", e);
    }
  }

  private static String leader(Statement statement) throws SQLException {
    try (ResultSet row =
        statement.executeQuery("SELECT NODE_ID FROM TOLLGATE.NODES WHERE NODE_ROLE = 'LEADER'")) {
      if (!row.next()) {
        throw new SQLException("no node is the leader");
      }
      return row.getString(1);
    }
  }

  private static void call(PreparedStatement statement, String argument) throws SQLException {
    statement.setString(1, argument);
    try (ResultSet row = statement.executeQuery()) {
      if (!row.next() || row.getObject(1) == null) {
        throw new SQLException("no result for " + argument + " of " + statement);
      }
    }
  }

  private static void delete(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
