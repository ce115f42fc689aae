package dev.tollgate.cli;

import dev.tollgate.log.RaftSettings;
import dev.tollgate.node.Node;
import dev.tollgate.node.NodeSettings;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
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

  /** Exit status of a node whose replica stopped: a supervisor should start it again. */
  private static final int REPLICA_FAILED = 70;

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
          "host:port to listen on for clients, if it differs from --client-address; 0.0.0.0:PORT for"
              + " every interface. [TOLLGATE_CLIENT_LISTEN]")
  private @Nullable String clientListen;

  @Option(
      names = "--raft-address",
      defaultValue = "${env:TOLLGATE_RAFT_ADDRESS:-127.0.0.1:7500}",
      description = "host:port at which the other nodes reach this one. [TOLLGATE_RAFT_ADDRESS]")
  private String raftAddress;

  @Option(
      names = "--peers",
      split = ",",
      defaultValue = "${env:TOLLGATE_PEERS}",
      description =
          "Every node of the cluster, this one too: id=host:port,... with the Raft addresses. Without"
              + " it, the node is a cluster of its own. [TOLLGATE_PEERS]")
  private @Nullable Map<String, String> peers;

  @Option(
      names = "--election-timeout",
      defaultValue = "${env:TOLLGATE_ELECTION_TIMEOUT:-200}",
      description =
          "Milliseconds of silence after which the leader is replaced; at most twice that."
              + " [TOLLGATE_ELECTION_TIMEOUT]")
  private long electionTimeoutMillis;

  @Option(
      names = "--snapshot-log-mib",
      defaultValue = "${env:TOLLGATE_SNAPSHOT_LOG_MIB:-64}",
      description =
          "Mebibytes by which the log grows between two snapshots. [TOLLGATE_SNAPSHOT_LOG_MIB]")
  private long snapshotLogMib;

  @Option(
      names = "--max-connections",
      defaultValue = "${env:TOLLGATE_MAX_CONNECTIONS:-20000}",
      description = "Clients that may be connected at a time. [TOLLGATE_MAX_CONNECTIONS]")
  private int maxConnections;

  ServerCommand() {}

  @Override
  public Integer call() throws Exception {
    NodeSettings settings = settings();
    warnIfOpen(settings);
    requireFreeRaftPort(settings);
    Node node = new Node(settings);
    Runtime.getRuntime().addShutdownHook(new Thread(node::close, "tollgate-" + id + "-stop"));
    node.start();
    reportReadiness(node);
    node.awaitEnd();
    Throwable failure = node.failure();
    if (failure == null) {
      return 0;
    }
    LOG.error("{}: stopped serving: {}", id, failure.toString());
    return REPLICA_FAILED;
  }

  private NodeSettings settings() throws UnknownHostException {
    SortedMap<String, String> members = new TreeMap<>();
    if (peers == null || peers.isEmpty()) {
      members.put(id, raftAddress);
    } else {
      members.putAll(peers);
      String stated = members.get(id);
      if (!raftAddress.equals(stated)) {
        throw new ParameterException(
            spec.commandLine(),
            stated == null
                ? "--peers does not name this node, " + id
                : "--peers says that "
                    + id
                    + " is at "
                    + stated
                    + ", --raft-address says "
                    + raftAddress);
      }
    }
    RaftSettings raft =
        new RaftSettings(
            id,
            members,
            data,
            Duration.ofMillis(electionTimeoutMillis),
            Math.multiplyExact(snapshotLogMib, 1L << 20));
    return new NodeSettings(
        id,
        raft,
        clientAddress,
        socketAddress(clientListen == null ? clientAddress : clientListen),
        maxConnections);
  }

  private InetSocketAddress socketAddress(String text) throws UnknownHostException {
    int colon = text.lastIndexOf(':');
    try {
      String host = text.substring(0, Math.max(colon, 0)).replaceAll("^\\[|]$", "");
      int port = Integer.parseInt(text.substring(colon + 1));
      if (host.isEmpty() || port < 0 || port > 65_535) {
        throw new NumberFormatException(text);
      }
      return new InetSocketAddress(InetAddress.getByName(host), port);
    } catch (NumberFormatException e) {
      throw new ParameterException(
          spec.commandLine(), "'" + text + "' is no address: write host:port", e);
    }
  }

  private void warnIfOpen(NodeSettings settings) throws UnknownHostException {
    warnIfOpen(settings.listenAddress());
    RaftSettings raft = settings.raft();
    if (raft != null && raft.peers().size() > 1) {
      warnIfOpen(socketAddress(raftAddress));
    }
  }

  private void warnIfOpen(@Nullable InetSocketAddress listen) {
    if (listen != null && !listen.getAddress().isLoopbackAddress()) {
      LOG.warn(
          "{}: listens on {}, which other hosts can reach. This version knows no passwords and no"
              + " encryption: whoever reaches the port can read and change everything",
          id,
          listen);
    }
  }

  /** Ratis ends the process without a word if its port is taken. */
  private void requireFreeRaftPort(NodeSettings settings) throws IOException {
    RaftSettings raft = settings.raft();
    if (raft != null && raft.peers().size() > 1) {
      InetSocketAddress address = socketAddress(raftAddress);
      try (ServerSocket probe = new ServerSocket()) {
        probe.setReuseAddress(true);
        probe.bind(address);
      } catch (IOException e) {
        throw new IOException("cannot listen on " + raftAddress + ": " + e.getMessage(), e);
      }
    }
  }

  /** One line on standard output, for scripts and supervisors that wait for it. */
  private void reportReadiness(Node node) throws InterruptedException {
    while (!node.isReady() && node.failure() == null) {
      Thread.sleep(READY_POLL.toMillis());
    }
    if (node.failure() == null) {
      System.out.printf(
          "tollgate %s ready: clients at %s, leader %s%n",
          id, clientAddress, node.status().leaderId());
      System.out.flush();
    }
  }
}
