package dev.tollgate.cluster;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.model.AccessMode;
import com.github.dockerjava.api.model.Bind;
import com.github.dockerjava.api.model.ContainerNetwork;
import com.github.dockerjava.api.model.Volume;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.Network;
import org.testcontainers.utility.DockerImageName;

/**
 * A node in a container. It runs from the class path of the tests, which it sees at the same
 * places, or from the image that {@code -Dtollgate.image} names. It has an address of its own in
 * each of its networks, and keeps them while it is cut off.
 */
public final class NodeContainer implements AutoCloseable {
  static final int CLIENT_PORT = 7400;
  static final int RAFT_PORT = 7500;

  private static final Path CONFIGURATION = Path.of("conf").toAbsolutePath();
  private static final String CLASS_PATH = System.getProperty("java.class.path");

  private final String id;
  private final GenericContainer<?> container;
  private final Map<Network, String> addresses;

  /**
   * @param peers as the server takes them
   */
  NodeContainer(
      String id, Network raft, String raftAddress, Network clients, String address, String peers) {
    this.id = id;
    this.addresses = Map.of(raft, raftAddress, clients, address);
    boolean packaged = !ClusterContainers.IMAGE.equals(ClusterContainers.BASE_IMAGE);
    Stream<String> settings =
        Stream.of(
            "--id=" + id,
            "--client-address=" + address + ":" + CLIENT_PORT,
            "--insecure",
            "--raft-address=" + raftAddress + ":" + RAFT_PORT,
            // cold nodes on a busy machine do not answer each other within 200 ms
            "--election-timeout=500",
            "--peers=" + peers);
    this.container =
        new GenericContainer<>(DockerImageName.parse(ClusterContainers.IMAGE))
            .withImagePullPolicy(image -> false)
            .withNetwork(raft)
            .withEnv("TOLLGATE_RATIS_LOG_LEVEL", "INFO")
            .withEnv("TOLLGATE_HEAP", "300m")
            .withCreateContainerCmdModifier(
                command -> {
                  command.withIpv4Address(raftAddress);
                  command.getHostConfig().withBinds(packaged ? List.of() : program());
                })
            .withCommand(
                Stream.concat(packaged ? Stream.of("server") : programOptions(), settings)
                    .toArray(String[]::new));
  }

  private static Stream<String> programOptions() {
    return Stream.of(
        "-Xmx300m",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=" + System.getProperty("tollgate.node.tier", "1"),
        "-XX:+ExitOnOutOfMemoryError",
        "-Duser.language=en",
        "-Duser.timezone=UTC",
        "-Djava.util.logging.config.file=" + CONFIGURATION.resolve("jul.properties"),
        "-Dlogback.configurationFile=" + CONFIGURATION.resolve("logback.xml"),
        "-cp",
        CLASS_PATH,
        "dev.tollgate.cli.Main",
        "server",
        "--data=/tmp/data",
        "--client-listen=0.0.0.0:" + CLIENT_PORT);
  }

  private static List<Bind> program() {
    return Stream.concat(
            Stream.of(CLASS_PATH.split(File.pathSeparator, -1)),
            Stream.of(CONFIGURATION.toString()))
        .filter(place -> !place.isEmpty() && Files.exists(Path.of(place)))
        .map(place -> new Bind(place, new Volume(place), AccessMode.ro))
        .toList();
  }

  private static DockerClient docker() {
    return DockerClientFactory.instance().client();
  }

  public String id() {
    return id;
  }

  /** Starts it for the first time, in its Raft network alone. */
  void start() {
    container.start();
  }

  /** Pulls the plug of one network: nothing gets through, and nobody is told. */
  public void disconnect(Network network) {
    docker()
        .disconnectFromNetworkCmd()
        .withContainerId(container.getContainerId())
        .withNetworkId(network.getId())
        .exec();
  }

  public void connect(Network network) {
    docker()
        .connectToNetworkCmd()
        .withContainerId(container.getContainerId())
        .withNetworkId(network.getId())
        .withContainerNetwork(
            new ContainerNetwork()
                .withIpamConfig(
                    new ContainerNetwork.Ipam().withIpv4Address(addresses.get(network))))
        .exec();
  }

  /** By a signal: Docker's own pause fails on a busy machine ("unable to freeze"). */
  public void pause() {
    kill("STOP");
  }

  public void resume() {
    kill("CONT");
  }

  public void kill() {
    kill("KILL");
  }

  private void kill(String signal) {
    docker().killContainerCmd(container.getContainerId()).withSignal(signal).exec();
  }

  /** Starts it again after a kill, with its data. */
  public void restart() {
    docker().startContainerCmd(container.getContainerId()).exec();
  }

  /** What it has written since its first start, if it got so far. */
  String log() {
    return container.getContainerId() == null ? "" : container.getLogs();
  }

  @Override
  public void close() {
    container.stop();
  }
}
