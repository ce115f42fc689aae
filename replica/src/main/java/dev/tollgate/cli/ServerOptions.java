package dev.tollgate.cli;

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
import java.util.SortedMap;
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

  @Mixin private final RaftOptions raft = new RaftOptions();

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
  @Mixin private final DataKeyOptions dataKeys = new DataKeyOptions();

  ServerOptions() {}

  /**
   * Makes the settings of a node, and reads the files that they name. Starts and writes nothing.
   *
   * @throws ParameterException if a setting makes no sense
   * @throws IOException if a file cannot be used
   */
  NodeSettings settings() throws IOException {
    requireSense();
    SortedMap<String, String> members = raft.members(id, addresses(), this::require);
    NodeTls tls =
        tlsOptions.read(command.commandLine(), NodeTls.logged(id), raft.address() != null);
    NodeSettings settings =
        new NodeSettings(
            id,
            raft.settings(id, members, data, tls).withKeys(dataKeys.read(command.commandLine())),
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
    raft.requireSense(addresses(), this::require);
    require(maxConnections > 0, "--max-connections has to be more than 0: " + maxConnections);
    connectionOptions.requireSense(this::require);
    userOptions.requireSense(this::require);
    require(verifyMinutes >= 0, "--verify-minutes cannot be less than 0: " + verifyMinutes);
  }

  /**
   * Rejects a node that anybody could use, and warns about one that anybody on the way can read.
   */
  void requireProtection(NodeSettings settings, UserSettings users) throws UnknownHostException {
    userOptions.requireProtection(
        settings,
        users,
        raft.address() == null ? null : addresses().parse(raft.address()),
        refusal -> require(false, refusal));
    if (UserOptions.isReadable(settings)) {
      LOG.warn(
          "{}: listens on {} without TLS, so everybody on the way to it can read and change what is"
              + " sent: --tls-certificate and --tls-key encrypt it",
          id,
          settings.listenAddress());
    }
    NodeTls tls = settings.tls();
    if (tls != null && tls.trustsOneCaForAll()) {
      LOG.warn(
          "{}: the CAs of --tls-trust issue certificates of nodes and of users whose certificates"
              + " are logins: give the CA of the nodes to --peer-tls-trust, so that no other CA can"
              + " make a node",
          id);
    }
  }

  /** Who may connect before the cluster has users. Reads the password file, if there is one. */
  UserSettings users() throws IOException {
    return userOptions.settings(NodeTls.logged(id));
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

  RaftOptions raft() {
    return raft;
  }

  Duration rehearsal() {
    return rehearsal;
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
