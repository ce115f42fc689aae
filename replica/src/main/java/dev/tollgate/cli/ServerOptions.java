package dev.tollgate.cli;

import dev.tollgate.log.RaftSettings;
import dev.tollgate.log.RaftTransport;
import dev.tollgate.node.ConnectionSettings;
import dev.tollgate.node.Descriptors;
import dev.tollgate.node.NodeSettings;
import dev.tollgate.node.NodeTls;
import dev.tollgate.node.UserSettings;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The settings of a node, as options of the commands that start or check one. {@code Configuration}
 * reads each of them from the environment and from the configuration file too.
 */
final class ServerOptions {
  private static final Logger LOG = LoggerFactory.getLogger(ServerOptions.class);

  private static final int LEAST_ELECTION_MILLIS = 50;
  private static final int MOST_ELECTION_MILLIS = 60_000;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  @Option(
      names = "--id",
      required = true,
      description = "Name of this node in the cluster. [TOLLGATE_ID]")
  private String id;

  @Option(
      names = "--data",
      required = true,
      description = "Directory of this node's log; created if it does not exist. [TOLLGATE_DATA]")
  private Path data;

  @Option(
      names = "--client-address",
      defaultValue = "127.0.0.1:7400",
      description = "host:port at which clients reach this node. [TOLLGATE_CLIENT_ADDRESS]")
  private String clientAddress;

  @Option(
      names = "--client-listen",
      description =
          "host:port to listen on for clients, if it differs from --client-address; 0.0.0.0:PORT"
              + " for every interface. [TOLLGATE_CLIENT_LISTEN]")
  private @Nullable String clientListen;

  @Option(
      names = "--raft-address",
      description =
          "host:port at which the other nodes reach this one; if not given, what --peers says of"
              + " it. Without either, the node stays alone. [TOLLGATE_RAFT_ADDRESS]")
  private @Nullable String raftAddress;

  @Option(
      names = "--peers",
      split = ",",
      description =
          "Every node of a new cluster, this one too: id=host:port,... with the Raft addresses."
              + " Without it, the node is a cluster of its own. What --data knows goes before it."
              + " [TOLLGATE_PEERS]")
  private @Nullable List<String> peers;

  @Option(
      names = "--join",
      description =
          "jdbc:tollgate://host:port,.../ of a running cluster that this node asks to be added to,"
              + " unless it belongs to it already. [TOLLGATE_JOIN]")
  private @Nullable String join;

  @Mixin private final LoginOptions login = new LoginOptions();

  @Option(
      names = "--election-timeout",
      defaultValue = "200",
      description =
          "Milliseconds of silence after which the leader is replaced; at most twice that."
              + " [TOLLGATE_ELECTION_TIMEOUT]")
  private long electionTimeoutMillis;

  @Option(
      names = "--raft-transport",
      defaultValue = "tcp",
      description =
          "How nodes talk with each other: tcp, or grpc as versions up to 0.1 did. The same for all"
              + " nodes. [TOLLGATE_RAFT_TRANSPORT]")
  private RaftTransport raftTransport = RaftTransport.TCP;

  @Option(
      names = "--snapshot-log-mib",
      defaultValue = "64",
      description =
          "Mebibytes by which the log grows between two snapshots; may be a fraction."
              + " [TOLLGATE_SNAPSHOT_LOG_MIB]")
  private double snapshotLogMib;

  @Option(
      names = "--max-connections",
      defaultValue = "20000",
      description = "Clients that may be connected at a time. [TOLLGATE_MAX_CONNECTIONS]")
  private int maxConnections;

  @Mixin private final ConnectionOptions connectionOptions = new ConnectionOptions();

  @Option(
      names = "--verify-minutes",
      defaultValue = "10",
      description =
          "Minutes between two comparisons of the replicas with each other; 0 for none but CALL"
              + " verify_replicas(). [TOLLGATE_VERIFY_MINUTES]")
  private long verifyMinutes;

  @Option(
      names = "--rehearsal",
      converter = RehearsalLimit.class,
      paramLabel = "TIME|off",
      defaultValue = "off",
      description =
          "How long the node works with a throw-away cluster in its own process before it starts,"
              + " so that its code is compiled when clients come: 5s, 500ms, or off."
              + " [TOLLGATE_REHEARSAL]")
  private Duration rehearsal;

  @Mixin private final UserOptions userOptions = new UserOptions();
  @Mixin private final TlsOptions tlsOptions = new TlsOptions();
  @Mixin private final AuditOptions audit = new AuditOptions();
  @Mixin private final AdminOptions admin = new AdminOptions();
  @Mixin private final SlowOptions slow = new SlowOptions();

  ServerOptions() {}

  /**
   * Makes the settings of a node, and reads the files that they name. Starts and writes nothing.
   *
   * @throws ParameterException if a setting makes no sense
   * @throws IOException if a file cannot be used
   */
  NodeSettings settings() throws IOException {
    requireSense();
    SortedMap<String, String> members = members();
    NodeTls tls = tlsOptions.read(command.commandLine(), NodeTls.logged(id), raftAddress != null);
    RaftSettings raft =
        new RaftSettings(
            id,
            raftAddress,
            members,
            data,
            Duration.ofMillis(electionTimeoutMillis),
            snapshotLogBytes(),
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
        .withAudit(audit.settings(command.commandLine()))
        .withAdmin(admin.address(command.commandLine()))
        .withSlow(slow.settings());
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

  /** Rejects settings that would fail later, and less clearly. */
  private void requireSense() {
    addresses().requireName("--id", id);
    addresses().requirePort("--client-address", clientAddress);
    if (raftAddress != null) {
      addresses().requirePort("--raft-address", raftAddress);
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
    require(
        join == null || !LoginOptions.hasPassword(join),
        "--join has a password in it, which others would read here: write it into a file, and name"
            + " that with --password-file");
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
      members.putAll(addresses().peers(peers));
      String stated = members.get(id);
      require(stated != null, "--peers does not name this node, " + id);
      require(
          raftAddress == null || raftAddress.equals(stated),
          "--peers says that " + id + " is at " + stated + ", --raft-address says " + raftAddress);
      raftAddress = stated;
    }
    return members;
  }

  /**
   * Rejects a node that anybody could use, and warns about one that anybody on the way can read.
   */
  void requireProtection(NodeSettings settings, UserSettings users) throws UnknownHostException {
    userOptions.requireProtection(
        settings,
        users,
        raftAddress == null ? null : addresses().parse(raftAddress),
        refusal -> require(false, refusal));
    if (UserOptions.isReadable(settings)) {
      LOG.warn(
          "{}: listens on {} without TLS, so everybody on the way to it can read and change what is"
              + " sent: --tls-certificate and --tls-key encrypt it",
          id,
          settings.listenAddress());
    }
  }

  /** Who may connect before the cluster has users. Reads the password file, if there is one. */
  UserSettings users() throws IOException {
    return userOptions.settings();
  }

  ConnectionSettings connectionSettings() {
    return connectionOptions.settings();
  }

  String id() {
    return id;
  }

  Path data() {
    return data;
  }

  String clientAddress() {
    return clientAddress;
  }

  /** Where the node listens for clients, as it was written. */
  String listensAt() {
    return clientListen == null ? clientAddress : clientListen;
  }

  InetSocketAddress listenAddress() throws UnknownHostException {
    return addresses().parse(listensAt());
  }

  /** Where other nodes reach this one, or null; known once the {@link #settings} are made. */
  @Nullable String raftAddress() {
    return raftAddress;
  }

  /** The nodes of a new cluster, as they were written; none for another node. */
  List<String> peers() {
    return peers == null ? List.of() : List.copyOf(peers);
  }

  /** The running cluster that the node joins, or null. */
  @Nullable String join() {
    return join;
  }

  LoginOptions login() {
    return login;
  }

  Duration rehearsal() {
    return rehearsal;
  }

  Duration electionTimeout() {
    return Duration.ofMillis(electionTimeoutMillis);
  }

  long snapshotLogBytes() {
    return (long) (snapshotLogMib * (1 << 20));
  }

  int maxConnections() {
    return maxConnections;
  }

  Addresses addresses() {
    return new Addresses(command.commandLine());
  }

  private void require(boolean condition, String otherwise) {
    if (!condition) {
      throw new ParameterException(command.commandLine(), otherwise);
    }
  }
}
