package dev.tollgate.cli;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.RaftSettings;
import dev.tollgate.log.RaftTransport;
import dev.tollgate.log.RemovedException;
import dev.tollgate.log.StrangerException;
import dev.tollgate.log.entry.LoggedError;
import dev.tollgate.node.Descriptors;
import dev.tollgate.node.Node;
import dev.tollgate.node.NodeSettings;
import dev.tollgate.node.NodeTls;
import dev.tollgate.node.UserSettings;
import dev.tollgate.wire.SqlState;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Runs a node until it is told to stop. */
@Command(
    name = "server",
    description = "Runs a node of a cluster until SIGTERM.",
    mixinStandardHelpOptions = true,
    showDefaultValues = true)
final class ServerCommand implements Callable<Integer> {
  private static final Logger LOG = LoggerFactory.getLogger(ServerCommand.class);

  /** Exit status of a node whose replica stopped: a supervisor should start the node again. */
  private static final int REPLICA_FAILED = 70;

  /**
   * Exit status of a node whose data directory does not fit: starting the node again will not help.
   */
  private static final int STRANGER = 78;

  private static final Duration END_WITHIN = Duration.ofSeconds(10);

  /** How long a node that the cluster takes for a member waits for the entry that says so. */
  private static final Duration MEMBER_WITHIN = Duration.ofSeconds(3);

  /** For a node that may be writing the snapshot with which another Java runtime begins. */
  private static final Duration SNAPSHOT_WITHIN = Duration.ofSeconds(70);

  private static final int LEAST_ELECTION_MILLIS = 50;
  private static final int MOST_ELECTION_MILLIS = 60_000;

  /** A node without data starts with less, and fails with its first larger statement. */
  private static final int LEAST_HEAP_MIB = 100;

  private static final Pattern NODE_ID = Pattern.compile("[\\p{L}\\p{N}._-]{1,64}");

  private static final Duration READY_POLL = Duration.ofMillis(20);

  @Spec private CommandSpec spec;

  @Option(
      names = "--id",
      required = true,
      defaultValue = "${env:TOLLGATE_ID}",
      description = "Name of this node in the cluster. [TOLLGATE_ID]")
  private String id;

  @Option(
      names = "--data",
      required = true,
      defaultValue = "${env:TOLLGATE_DATA}",
      description = "Directory of this node's log; created if it does not exist. [TOLLGATE_DATA]")
  private Path data;

  @Option(
      names = "--client-address",
      defaultValue = "${env:TOLLGATE_CLIENT_ADDRESS:-127.0.0.1:7400}",
      description = "host:port at which clients reach this node. [TOLLGATE_CLIENT_ADDRESS]")
  private String clientAddress;

  @Option(
      names = "--client-listen",
      defaultValue = "${env:TOLLGATE_CLIENT_LISTEN}",
      description =
          "host:port to listen on for clients, if it differs from --client-address; 0.0.0.0:PORT"
              + " for every interface. [TOLLGATE_CLIENT_LISTEN]")
  private @Nullable String clientListen;

  @Option(
      names = "--raft-address",
      defaultValue = "${env:TOLLGATE_RAFT_ADDRESS}",
      description =
          "host:port at which the other nodes reach this one; if not given, what --peers says of"
              + " it. Without either, the node stays alone. [TOLLGATE_RAFT_ADDRESS]")
  private @Nullable String raftAddress;

  @Option(
      names = "--peers",
      split = ",",
      defaultValue = "${env:TOLLGATE_PEERS}",
      description =
          "Every node of a new cluster, this one too: id=host:port,... with the Raft addresses."
              + " Without it, the node is a cluster of its own. What --data knows goes before it."
              + " [TOLLGATE_PEERS]")
  private @Nullable List<String> peers;

  @Option(
      names = "--join",
      defaultValue = "${env:TOLLGATE_JOIN}",
      description =
          "jdbc:tollgate://host:port,.../ of a running cluster that this node asks to be added to,"
              + " unless it belongs to it already. [TOLLGATE_JOIN]")
  private @Nullable String join;

  @Mixin private final LoginOptions login = new LoginOptions();

  @Option(
      names = "--election-timeout",
      defaultValue = "${env:TOLLGATE_ELECTION_TIMEOUT:-200}",
      description =
          "Milliseconds of silence after which the leader is replaced; at most twice that."
              + " [TOLLGATE_ELECTION_TIMEOUT]")
  private long electionTimeoutMillis;

  @Option(
      names = "--raft-transport",
      defaultValue = "${env:TOLLGATE_RAFT_TRANSPORT:-tcp}",
      description =
          "How nodes talk with each other: tcp, or grpc as versions up to 0.1 did. The same for all"
              + " nodes. [TOLLGATE_RAFT_TRANSPORT]")
  private RaftTransport raftTransport = RaftTransport.TCP;

  @Option(
      names = "--snapshot-log-mib",
      defaultValue = "${env:TOLLGATE_SNAPSHOT_LOG_MIB:-64}",
      description =
          "Mebibytes by which the log grows between two snapshots; may be a fraction."
              + " [TOLLGATE_SNAPSHOT_LOG_MIB]")
  private double snapshotLogMib;

  @Option(
      names = "--max-connections",
      defaultValue = "${env:TOLLGATE_MAX_CONNECTIONS:-20000}",
      description = "Clients that may be connected at a time. [TOLLGATE_MAX_CONNECTIONS]")
  private int maxConnections;

  @Mixin private final ConnectionOptions connectionOptions = new ConnectionOptions();

  @Option(
      names = "--verify-minutes",
      defaultValue = "${env:TOLLGATE_VERIFY_MINUTES:-10}",
      description =
          "Minutes between two comparisons of the replicas with each other; 0 for none but CALL"
              + " verify_replicas(). [TOLLGATE_VERIFY_MINUTES]")
  private long verifyMinutes;

  @Option(
      names = "--rehearsal",
      converter = RehearsalLimit.class,
      paramLabel = "TIME|off",
      defaultValue = "${env:TOLLGATE_REHEARSAL:-off}",
      description =
          "How long the node works with a throw-away cluster in its own process before it starts,"
              + " so that its code is compiled when clients come: 5s, 500ms, or off."
              + " [TOLLGATE_REHEARSAL]")
  private Duration rehearsal;

  @Mixin private final UserOptions userOptions = new UserOptions();
  @Mixin private TlsOptions tlsOptions = new TlsOptions();
  @Mixin private final AuditOptions audit = new AuditOptions();
  @Mixin private final AdminOptions admin = new AdminOptions();

  ServerCommand() {}

  @Override
  public Integer call() throws Exception {
    NodeSettings settings = settings();
    stopIfClassesAreLost();
    openClassPath();
    // takes some tenths of a second, and is needed when the node becomes the leader or applies
    startDaemon("tollgate-environment", NodeSettings::localEnvironment);
    reportStart();
    UserSettings users = userOptions.settings();
    requireProtection(settings, users);
    requireFreeRaftPort();
    Node node;
    try {
      node = new Node(settings, connectionOptions.settings(), users);
    } catch (RemovedException e) {
      LOG.info("{}: {}", id, e.getMessage());
      return 0;
    } catch (StrangerException e) {
      LOG.error("{}: does not start: {}", id, e.getMessage());
      return STRANGER;
    }
    Runtime.getRuntime().addShutdownHook(new Thread(node::close, "tollgate-" + id + "-stop"));
    if (!rehearsal.isZero() && !Rehearsal.of(rehearsal).runBefore(id)) {
      return 0;
    }
    node.start();
    if (join != null && !node.isMember()) {
      join(node, join);
    }
    reportReadiness(node);
    node.ended().get();
    Throwable failure = node.failure();
    if (failure == null || failure instanceof RemovedException) {
      return 0;
    }
    LOG.error("{}: stopped serving: {}", id, LoggedError.text(failure));
    int status = failure instanceof StrangerException ? STRANGER : REPLICA_FAILED;
    haltIfItDoesNotEnd(status, node.isOnAnotherRuntime() ? SNAPSHOT_WITHIN : END_WITHIN);
    return status;
  }

  /** Returns when the cluster has added this node, or when this node has failed meanwhile. */
  private void join(Node node, String cluster) throws Exception {
    Joining joining =
        new Joining(
            cluster,
            login.properties(cluster),
            id,
            requireNonNull(raftAddress),
            clientAddress,
            NodeSettings.localEnvironment());
    CompletableFuture<@Nullable Void> joined = new CompletableFuture<>();
    startDaemon(
        "tollgate-join",
        () -> {
          try {
            joining.run();
            joined.complete(null);
          } catch (SQLException e) {
            if (becomesMember(node, e)) {
              joined.complete(null);
            } else {
              joined.completeExceptionally(e);
            }
          } catch (RuntimeException | Error e) {
            joined.completeExceptionally(e);
          }
        });
    try {
      CompletableFuture.anyOf(joined, node.ended()).get();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception refused ? refused : e;
    }
    if (!node.ended().isDone()) {
      node.announce();
    }
  }

  /**
   * Returns true if the cluster has refused to add this node and the node is a member all the same:
   * the request of an earlier start has had its effect.
   */
  private static boolean becomesMember(Node node, SQLException refused) {
    if (!SqlState.ADMINISTRATION.state().equals(refused.getSQLState())) {
      return false;
    }
    long end = System.nanoTime() + MEMBER_WITHIN.toNanos();
    while (!node.isMember() && System.nanoTime() < end) {
      LockSupport.parkNanos(MEMBER_WITHIN.toNanos() / 100);
    }
    return node.isMember();
  }

  /** After a failure the rest may never close, while a supervisor waits for the process to exit. */
  private static void haltIfItDoesNotEnd(int status, Duration within) {
    startDaemon(
        "tollgate-halt",
        () -> {
          long end = System.nanoTime() + within.toNanos();
          for (long left = within.toNanos(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
          }
          Runtime.getRuntime().halt(status);
        });
  }

  private static void startDaemon(String name, Runnable work) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    thread.start();
  }

  private NodeSettings settings() throws IOException {
    requireSense();
    SortedMap<String, String> members = members();
    NodeTls tls = tlsOptions.read(NodeTls.logged(id), raftAddress != null);
    RaftSettings raft =
        new RaftSettings(
            id,
            raftAddress,
            members,
            data,
            Duration.ofMillis(electionTimeoutMillis),
            (long) (snapshotLogMib * (1 << 20)),
            raftTransport,
            tls != null && tls.peers() ? tls.credentials() : null);
    NodeSettings settings =
        new NodeSettings(
            id,
            raft,
            clientAddress,
            listenAddress(),
            connections(),
            Duration.ofMinutes(verifyMinutes));
    return settings
        .withTls(tls)
        .withAudit(audit.settings(spec.commandLine()))
        .withAdmin(admin.address(spec.commandLine()));
  }

  /**
   * As many connections as the operating system allows: a node without file descriptors is lost.
   */
  private int connections() {
    long limit = Descriptors.limit();
    int connections = Descriptors.connections(limit, maxConnections);
    String room =
        "this process may have "
            + limit
            + " files and sockets open (ulimit -n), of which the node needs "
            + Descriptors.OF_A_NODE;
    require(connections > 0, room + ": allow it more");
    if (connections < maxConnections) {
      LOG.warn(
          "{}: {}. It takes {} connections, not the {} of --max-connections: allow it {}",
          id,
          room,
          connections,
          maxConnections,
          maxConnections + Descriptors.OF_A_NODE);
    }
    return connections;
  }

  /** Opens every jar by searching for a resource that is in none of them; the jars stay open. */
  private static void openClassPath() {
    ClassLoader.getSystemResource("dev/tollgate/in/no/jar");
  }

  /** Nothing else reports an error that ends a thread of a library. */
  private void stopIfClassesAreLost() {
    Thread.setDefaultUncaughtExceptionHandler(
        (thread, error) -> {
          LOG.error("{}: thread {} has ended", id, thread.getName(), LoggedError.of(error));
          if (error instanceof LinkageError) {
            Runtime.getRuntime().halt(REPLICA_FAILED);
          }
        });
  }

  /** Rejects settings that would fail later, and less clearly. */
  private void requireSense() {
    requireName("--id", id);
    requirePort("--client-address", clientAddress);
    if (raftAddress != null) {
      requirePort("--raft-address", raftAddress);
    }
    require(
        electionTimeoutMillis >= LEAST_ELECTION_MILLIS
            && electionTimeoutMillis <= MOST_ELECTION_MILLIS,
        "--election-timeout is "
            + electionTimeoutMillis
            + " ms: it has to be from "
            + LEAST_ELECTION_MILLIS
            + " to "
            + MOST_ELECTION_MILLIS);
    require(snapshotLogMib > 0, "--snapshot-log-mib has to be more than 0: " + snapshotLogMib);
    require(maxConnections > 0, "--max-connections has to be more than 0: " + maxConnections);
    connectionOptions.requireSense(this::require);
    require(verifyMinutes >= 0, "--verify-minutes cannot be less than 0: " + verifyMinutes);
    long heapMib = Runtime.getRuntime().maxMemory() >> 20;
    require(
        heapMib >= LEAST_HEAP_MIB,
        "a heap of "
            + heapMib
            + " MiB is too small for a node: set TOLLGATE_HEAP, to 1g for example");
  }

  private void requireName(String option, String name) {
    require(
        NODE_ID.matcher(name).matches(),
        option
            + ": '"
            + name
            + "' is no name of a node: write 1 to 64 letters, digits, dots, hyphens or"
            + " underscores");
  }

  /**
   * With port 0 the port would change at each start, and no other process could know it. Does not
   * look the host up: a peer that is away may have no address at the moment.
   */
  private void requirePort(String option, String address) {
    require(
        port(address) > 0,
        option + ": '" + address + "' has port 0: write the port that others are to connect to");
  }

  private InetSocketAddress listenAddress() throws UnknownHostException {
    return socketAddress(clientListen == null ? clientAddress : clientListen);
  }

  /** The nodes of a new cluster; none if this node is to join another cluster. */
  private SortedMap<String, String> members() {
    SortedMap<String, String> members = new TreeMap<>();
    if (join != null) {
      require(
          raftAddress != null, "--join needs --raft-address: the others have to reach this node");
      require(peers == null, "--join asks a running cluster, --peers makes a new one: not both");
    } else if (peers == null || peers.isEmpty()) {
      members.put(id, raftAddress == null ? "" : raftAddress);
    } else {
      members.putAll(stated(peers));
      String stated = members.get(id);
      require(stated != null, "--peers does not name this node, " + id);
      require(
          raftAddress == null || raftAddress.equals(stated),
          "--peers says that " + id + " is at " + stated + ", --raft-address says " + raftAddress);
      raftAddress = stated;
    }
    return members;
  }

  /** Rejects a list that names a node or an address twice. */
  private Map<String, String> stated(List<String> list) {
    Map<String, String> addresses = new TreeMap<>();
    Map<String, String> ids = new TreeMap<>();
    for (String peer : list) {
      int equals = peer.indexOf('=');
      require(equals > 0, "--peers: '" + peer + "' is no node: write id=host:port,id=host:port");
      String name = peer.substring(0, equals);
      String address = peer.substring(equals + 1);
      requireName("--peers", name);
      requirePort("--peers", address);
      String before = addresses.put(name, address);
      require(before == null, "--peers has " + name + " twice: " + before + " and " + address);
      String other = ids.put(address, name);
      require(other == null, "--peers has " + other + " and " + name + " both at " + address);
    }
    return addresses;
  }

  private void require(boolean condition, String otherwise) {
    if (!condition) {
      throw new ParameterException(spec.commandLine(), otherwise);
    }
  }

  private InetSocketAddress socketAddress(String text) throws UnknownHostException {
    int port = port(text);
    String host = text.substring(0, text.lastIndexOf(':')).replaceAll("^\\[|]$", "");
    return new InetSocketAddress(InetAddress.getByName(host), port);
  }

  private int port(String text) {
    int colon = text.lastIndexOf(':');
    try {
      int port = Integer.parseInt(text.substring(colon + 1));
      if (colon <= 0 || port < 0 || port > 65_535) {
        throw new NumberFormatException(text);
      }
      return port;
    } catch (NumberFormatException e) {
      throw new ParameterException(
          spec.commandLine(), "'" + text + "' is no address: write host:port", e);
    }
  }

  /**
   * Rejects a node that anybody could use, and warns about one that anybody on the way can read.
   */
  private void requireProtection(NodeSettings settings, UserSettings users)
      throws UnknownHostException {
    userOptions.requireProtection(
        settings,
        users,
        raftAddress == null ? null : socketAddress(raftAddress),
        refusal -> require(false, refusal));
    if (UserOptions.isReadable(settings)) {
      LOG.warn(
          "{}: listens on {} without TLS, so everybody on the way to it can read and change what is"
              + " sent: --tls-certificate and --tls-key encrypt it",
          id,
          settings.listenAddress());
    }
  }

  /** Ratis ends the process without a message if its port is taken. */
  private void requireFreeRaftPort() throws IOException {
    if (raftAddress != null) {
      InetSocketAddress address = socketAddress(raftAddress);
      try (ServerSocket probe = new ServerSocket()) {
        probe.setReuseAddress(true);
        probe.bind(address);
      } catch (IOException e) {
        throw new IOException(
            "cannot listen for other nodes on " + raftAddress + ": " + e.getMessage(), e);
      }
    }
  }

  /** Logs the version, process and addresses of the node: a reader of the log needs them first. */
  private void reportStart() throws UnknownHostException {
    LOG.info(
        "{}: Tollgate {} starts: process {}, Java {} ({}), heap {} MiB, data in {}, clients at {},"
            + " listens on {}, other nodes at {}, {}",
        id,
        Main.Version.ofTollgate(),
        ProcessHandle.current().pid(),
        Runtime.version(),
        System.getProperty("java.vendor"),
        Runtime.getRuntime().maxMemory() >> 20,
        data.toAbsolutePath(),
        clientAddress,
        clientListen == null ? clientAddress : clientListen,
        raftAddress == null ? "none" : raftAddress,
        join == null ? "peers " + (peers == null ? "none" : peers) : "joins " + join);
  }

  /** Prints one line on standard output, for scripts and supervisors that wait for it. */
  private void reportReadiness(Node node) throws InterruptedException {
    while (!node.isReady() && node.failure() == null) {
      Thread.sleep(READY_POLL.toMillis());
    }
    if (node.failure() == null) {
      // printf writes piece by piece, and a line of the log could come in between
      System.out.println(
          String.format(
              "tollgate %s ready: clients at %s, leader %s",
              id, clientAddress, node.status().leaderId()));
    }
  }
}
