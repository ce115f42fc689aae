package dev.tollgate.distribution.containers;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The namespace of a cluster: a network in which each pod gets an address that no pod has had
 * before, a name server, the headless service, and the secrets.
 */
final class Namespace implements AutoCloseable {
  private static final String NAME = "default";
  private static final String DOMAIN = "cluster.local";
  private static final String NETWORK = "tollgate-pods";
  private static final String SUBNET = "10.213.79.";
  private static final int FIRST_HOST = 11;

  /** What a controller and the name server need to learn of a new pod. */
  private static final Duration UNTIL_PUBLISHED = Duration.ofSeconds(1);

  private final Volumes volumes;
  private final Path logs;
  private final Map<String, Path> secrets;
  private final String service;
  private final Map<String, String> selector;
  private final boolean publishesAll;
  private final Map<String, String> targetPorts = new LinkedHashMap<>();
  private final Map<String, Placed> pods = new ConcurrentHashMap<>();
  private final List<String> events = new ArrayList<>();
  private final ClusterDns dns;
  private int placed;

  private record Placed(
      Pod pod, PodTemplate template, String subdomain, Map<String, Path> directories) {}

  /**
   * @param directory of claims, volumes and logs
   * @param service the manifest of the headless service
   * @param secrets directories of their files, by their names
   */
  Namespace(Path directory, Fields service, Map<String, Path> secrets) throws IOException {
    this.volumes = new Volumes(directory);
    this.logs = Files.createDirectories(directory.resolve("logs"));
    this.secrets = Map.copyOf(secrets);
    Fields metadata = service.part("metadata");
    // nobody here looks for services by labels
    metadata.passOver("labels");
    this.service = metadata.text("name");
    Fields spec = service.part("spec");
    if (!spec.text("clusterIP").equals("None")) {
      throw new IllegalStateException("nothing here gives an address to a service");
    }
    this.publishesAll = spec.flag("publishNotReadyAddresses", false);
    this.selector = spec.map("selector");
    for (Fields port : spec.list("ports")) {
      port.passOver("name", "port");
      targetPorts.put(port.text("name"), port.text("targetPort"));
    }
    removeNetwork();
    Docker.run(
        "network", "create", "--subnet=" + SUBNET + "0/24", "--gateway=" + SUBNET + "1", NETWORK);
    this.dns = new ClusterDns(SUBNET + "1", this::addresses);
  }

  /** Of a run that was killed. */
  private static void removeNetwork() {
    String left = Docker.run("ps", "--all", "--quiet", "--filter=network=" + NETWORK);
    left.lines().forEach(container -> Docker.run("rm", "--force", container));
    if (!Docker.run("network", "ls", "--quiet", "--filter=name=^" + NETWORK + "$").isEmpty()) {
      Docker.run("network", "rm", NETWORK);
    }
  }

  private Set<InetAddress> addresses(String name) {
    String suffix = "." + NAME + ".svc." + DOMAIN;
    Set<InetAddress> found = new LinkedHashSet<>();
    for (Placed each : pods.values()) {
      String ofService = service + suffix;
      boolean named = name.equals(ofService) || name.equals(each.pod().name() + "." + ofService);
      if (named && publishes(each)) {
        found.add(address(each.pod().address()));
      }
    }
    return found;
  }

  private boolean publishes(Placed each) {
    return service.equals(each.subdomain())
        && each.template().labels().entrySet().containsAll(selector.entrySet())
        && (publishesAll || each.pod().isReady())
        && each.pod().ageMillis() >= UNTIL_PUBLISHED.toMillis();
  }

  private static InetAddress address(String text) {
    try {
      return InetAddress.getByName(text);
    } catch (UnknownHostException e) {
      throw new IllegalStateException(text, e);
    }
  }

  /** The name under which others of the cluster reach a pod. */
  String host(String pod) {
    return pod + "." + service + "." + NAME + ".svc." + DOMAIN;
  }

  /** The name of the service's ports, and those ports of the container to which they lead. */
  Map<String, String> targetPorts() {
    return targetPorts;
  }

  /** The pods that the service, or anything else with a selector, is about. */
  List<Pod> selected(Map<String, String> labels) {
    return pods.values().stream()
        .filter(each -> each.template().labels().entrySet().containsAll(labels.entrySet()))
        .map(Placed::pod)
        .toList();
  }

  Map<String, String> selector() {
    return selector;
  }

  /** Options for the names and networks of a container. */
  private List<String> where(String host, Optional<String> subdomain, String address) {
    List<String> options =
        new ArrayList<>(
            List.of(
                "--network=" + NETWORK,
                "--ip=" + address,
                "--hostname=" + host,
                "--dns=" + SUBNET + "1",
                "--dns-option=ndots:5"));
    // so the engine writes it into /etc/hosts of the pod, as a kubelet does
    subdomain.ifPresent(
        name -> options.add("--domainname=" + name + "." + NAME + ".svc." + DOMAIN));
    for (String search : List.of(NAME + ".svc." + DOMAIN, "svc." + DOMAIN, DOMAIN)) {
      options.add("--dns-search=" + search);
    }
    return options;
  }

  private synchronized int place() {
    return placed++;
  }

  /**
   * Starts a pod.
   *
   * @param subdomain the service whose names it has
   * @param claims the claims of its volumes, by the names of the volumes
   */
  Pod start(String name, PodTemplate template, String subdomain, Map<String, String> claims)
      throws IOException {
    int number = place();
    String address = SUBNET + (FIRST_HOST + number);
    String container = name + "." + number;
    Map<String, Path> directories = template.directories(volumes, container, secrets);
    for (Map.Entry<String, String> claim : claims.entrySet()) {
      directories.put(claim.getKey(), template.claim(volumes, claim.getValue()));
    }
    Pod pod =
        new Pod(
            name,
            address,
            container,
            template,
            where(name, Optional.of(subdomain), address),
            template.toRun(name, NAME, address, directories),
            logs.resolve(container + ".log"));
    pods.put(name, new Placed(pod, template, subdomain, directories));
    return pod;
  }

  Pod.Stopped delete(Pod pod, Optional<Duration> grace) throws IOException {
    Pod.Stopped stopped = grace.isPresent() ? pod.delete(grace.get()) : pod.delete();
    forget(pod);
    return stopped;
  }

  private synchronized void forget(Pod pod) {
    pods.remove(pod.name());
    events.addAll(pod.events());
  }

  /** Returns where the data of a claim are now; the next pod with the claim gets a new volume. */
  Path moveAway(String claim) throws IOException {
    Path volume = volumes.ofClaim(claim);
    return Files.move(volume, volume.resolveSibling(claim + ".kept"));
  }

  /** Undoes that, and drops the new volume. */
  void bringBack(String claim, Path kept) throws IOException {
    Volumes.deleteAll(volumes.ofClaim(claim));
    Files.move(kept, volumes.ofClaim(claim));
  }

  /** Writes the files of a secret anew in all pods that have it, as a kubelet does in time. */
  void update(String secret) throws IOException {
    for (Placed each : pods.values()) {
      each.template().update(volumes, each.directories(), secret, secrets.get(secret));
    }
  }

  /** Returns the command that runs a program in a container of its own in this network. */
  List<String> client(String name, String image, List<String> options, List<String> arguments) {
    List<String> run =
        new ArrayList<>(
            List.of("docker", "run", "--rm", "--interactive", "--name=" + NETWORK + "." + name));
    run.addAll(where(name, Optional.empty(), SUBNET + (FIRST_HOST + place())));
    run.addAll(options);
    run.add(image);
    run.addAll(arguments);
    return run;
  }

  /** What has happened to the pods, those that are gone first. */
  synchronized List<String> events() {
    List<String> all = new ArrayList<>(events);
    pods.values().forEach(each -> all.addAll(each.pod().events()));
    return all;
  }

  @Override
  public void close() throws IOException {
    for (Placed each : pods.values()) {
      each.pod().remove();
      forget(each.pod());
    }
    dns.close();
    removeNetwork();
  }
}
