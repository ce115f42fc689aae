package dev.tollgate.cli;

import static java.util.Objects.requireNonNull;

import dev.tollgate.cli.configuration.EffectiveValue;
import dev.tollgate.cli.doctor.Doctor;
import dev.tollgate.log.RemovedException;
import dev.tollgate.log.StrangerException;
import dev.tollgate.log.entry.LoggedError;
import dev.tollgate.node.Node;
import dev.tollgate.node.NodeSettings;
import dev.tollgate.node.UserSettings;
import dev.tollgate.wire.SqlState;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.LockSupport;
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

  private static final Duration READY_POLL = Duration.ofMillis(20);

  @Spec private CommandSpec spec;

  @Mixin private final ServerOptions options = new ServerOptions();
  @Mixin private final ConfigurationOption configuration = new ConfigurationOption();

  @Option(
      names = "--check-config",
      description =
          "Print every setting with its value and where that comes from, check the settings and the"
              + " files that they name, and end: with 0, or with 2 if the node would not start with"
              + " them.")
  private boolean checkConfig;

  ServerCommand() {}

  @Override
  public Integer call() throws Exception {
    if (checkConfig) {
      return check();
    }
    requireHeap();
    NodeSettings settings = options.settings();
    String id = options.id();
    stopIfClassesAreLost(id);
    openClassPath();
    // takes some tenths of a second, and is needed when the node becomes the leader or applies
    startDaemon("tollgate-environment", NodeSettings::localEnvironment);
    reportStart();
    UserSettings users = options.users();
    options.requireProtection(settings, users);
    requireFreeRaftPort();
    Node node;
    try {
      node = new Node(settings, options.connectionSettings(), users);
    } catch (RemovedException e) {
      LOG.info("{}: {}", id, e.getMessage());
      return 0;
    } catch (StrangerException e) {
      return refused(id, e);
    }
    Runtime.getRuntime().addShutdownHook(new Thread(node::close, "tollgate-" + id + "-stop"));
    Duration rehearsal = options.rehearsal();
    if (!rehearsal.isZero() && !Rehearsal.of(rehearsal).runBefore(id)) {
      return 0;
    }
    try {
      node.start();
    } catch (StrangerException e) {
      return refused(id, e);
    }
    String join = options.raft().join();
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

  private static int refused(String id, StrangerException why) {
    LOG.error("{}: does not start: {}", id, why.getMessage());
    return STRANGER;
  }

  /** Prints the settings and checks them, without starting or writing anything. */
  private int check() {
    configuration.print(spec);
    try {
      requireHeap();
      NodeSettings settings = options.settings();
      options.requireProtection(settings, options.users());
    } catch (IOException e) {
      throw new ParameterException(spec.commandLine(), Main.reason(e), e);
    }
    spec.commandLine().getOut().println("The settings are valid.");
    return 0;
  }

  private void requireHeap() {
    long heapMib = Runtime.getRuntime().maxMemory() >> 20;
    if (heapMib < Doctor.LEAST_HEAP_MIB) {
      throw new ParameterException(
          spec.commandLine(),
          "a heap of "
              + heapMib
              + " MiB is too small for a node: set TOLLGATE_HEAP, to 1g for example");
    }
  }

  /** Returns when the cluster has added this node, or when this node has failed meanwhile. */
  private void join(Node node, String cluster) throws Exception {
    Joining joining =
        new Joining(
            cluster,
            options.raft().login().properties(cluster),
            options.id(),
            requireNonNull(options.raft().address()),
            options.clientAddress(),
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

  /** Opens every jar by searching for a resource that is in none of them; the jars stay open. */
  private static void openClassPath() {
    ClassLoader.getSystemResource("dev/tollgate/in/no/jar");
  }

  /** Nothing else reports an error that ends a thread of a library. */
  private static void stopIfClassesAreLost(String id) {
    Thread.setDefaultUncaughtExceptionHandler(
        (thread, error) -> {
          LOG.error("{}: thread {} has ended", id, thread.getName(), LoggedError.of(error));
          if (error instanceof LinkageError) {
            Runtime.getRuntime().halt(REPLICA_FAILED);
          }
        });
  }

  /** Ratis ends the process without a message if its port is taken. */
  private void requireFreeRaftPort() throws IOException {
    String raftAddress = options.raft().address();
    if (raftAddress != null) {
      InetSocketAddress address = options.addresses().parse(raftAddress);
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
  private void reportStart() {
    String raftAddress = options.raft().address();
    String join = options.raft().join();
    List<String> peers = options.raft().peers();
    LOG.info(
        "{}: Tollgate {} starts: process {}, Java {} ({}), heap {} MiB, data in {}, clients at {},"
            + " listens on {}, other nodes at {}, {}",
        options.id(),
        Main.Version.ofTollgate(),
        ProcessHandle.current().pid(),
        Runtime.version(),
        System.getProperty("java.vendor"),
        Runtime.getRuntime().maxMemory() >> 20,
        options.data().toAbsolutePath(),
        options.clientAddress(),
        options.listensAt(),
        raftAddress == null ? "none" : raftAddress,
        join == null
            ? "peers " + (peers.isEmpty() ? "none" : peers)
            : "joins " + EffectiveValue.withoutSecrets(join));
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
              options.id(), options.clientAddress(), node.status().leaderId()));
    }
  }
}
