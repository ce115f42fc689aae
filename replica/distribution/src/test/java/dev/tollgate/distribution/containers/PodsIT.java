package dev.tollgate.distribution.containers;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The manifests, run by a container engine as Kubernetes would run them. `.ci/image` runs this; it
 * is skipped without the image of the distribution that `-Dtollgate.image` names.
 */
@Timeout(600)
class PodsIT {
  private static final String IMAGE = System.getProperty("tollgate.image", "");
  private static final Path DIRECTORY = Path.of("target", "pods").toAbsolutePath();
  private static final String PASSWORD = "correct horse battery staple";
  private static final String CLIENT_FILES = "/client";
  private static final String LOAD_CLASSES = "/classes";

  /** Less than the 30 s for which a JVM keeps a name unless it is told otherwise. */
  private static final long READY_AGAIN_MILLIS = 20_000;

  private static final int CONNECT_MILLIS = 2_000;
  private static final Pattern TOKEN = Pattern.compile("(?m)^ *[1-9]\\d* *$");
  private static final Pattern RESULT =
      Pattern.compile("statements=(\\d+) failures=(\\d+) slowest=(\\d+)");

  private static DocumentedCommands commands;
  private static Map<String, Fields> manifests;
  private static Namespace namespace;
  private static StatefulSet set;
  private static Map<String, String> budgetSelector;
  private static int budgetMaxUnavailable;
  private static long createdMillis;

  @BeforeAll
  static void createPods() throws Exception {
    Optional<String> missing =
        IMAGE.isEmpty() ? Optional.of(".ci/image runs it") : Docker.missing(IMAGE);
    missing.ifPresent(what -> System.out.println("PodsIT IS SKIPPED: " + what));
    assumeTrue(missing.isEmpty(), () -> missing.orElse(""));
    Volumes.deleteAll(DIRECTORY);
    Path home = Path.of(System.getProperty("tollgate.home")).toAbsolutePath();
    commands = new DocumentedCommands(Files.createDirectories(DIRECTORY), home, PASSWORD);
    manifests = Fields.read(commands.applied());
    namespace = new Namespace(DIRECTORY, manifests.get("Service"), commands.secrets());
    set = new StatefulSet(manifests.get("StatefulSet"), namespace);
    Fields budget = manifests.get("PodDisruptionBudget");
    // the engine's network enforces no policies
    manifests.get("NetworkPolicy").passOver("metadata", "spec");
    // nobody here looks for budgets by their names
    budget.passOver("metadata");
    budgetSelector = budget.part("spec").part("selector").map("matchLabels");
    budgetMaxUnavailable = budget.part("spec").number("maxUnavailable");
    assertEquals(IMAGE, set.template().image());
    Path files = Files.createDirectory(DIRECTORY.resolve("client"));
    // of root, and the client is not root
    Files.writeString(
        files.resolve("ca.crt"),
        Files.readString(commands.secrets().get("tollgate-0-tls").resolve("ca.crt")));
    Files.writeString(files.resolve("password"), PASSWORD);
    long start = System.nanoTime();
    try {
      set.create();
    } catch (RuntimeException | Error e) {
      deletePods();
      throw e;
    }
    createdMillis = Duration.ofNanos(System.nanoTime() - start).toMillis();
  }

  @AfterAll
  static void deletePods() throws IOException {
    if (namespace != null) {
      namespace.close();
      namespace.events().forEach(System.out::println);
    }
  }

  @BeforeEach
  void awaitPods() {
    set.awaitAllReady();
  }

  private static String url() {
    String nodes =
        IntStream.range(0, set.replicas())
            .mapToObj(i -> namespace.host(set.podName(i)) + ":7400")
            .collect(Collectors.joining(","));
    return "jdbc:tollgate://"
        + nodes
        + "/?sslMode=verify-full&sslRootCert="
        + CLIENT_FILES
        + "/ca.crt&user=ADMIN&passwordFile="
        + CLIENT_FILES
        + "/password";
  }

  private static List<String> files() {
    return List.of(
        "--mount=type=bind,src=" + DIRECTORY.resolve("client") + ",dst=" + CLIENT_FILES,
        "--mount=type=bind,src="
            + Path.of("target", "test-classes").toAbsolutePath()
            + ",dst="
            + LOAD_CLASSES);
  }

  /** Runs statements by a client in the network of the pods, and returns what it prints. */
  private static String sql(String statements) throws Exception {
    try (ClientPod client =
        new ClientPod(namespace.client("sql", IMAGE, files(), List.of("sql", "--url=" + url())))) {
      return client.end(statements);
    }
  }

  private static void assertToken(String printed) {
    assertTrue(TOKEN.matcher(printed).find(), printed);
  }

  private static ClientPod load() throws Exception {
    List<String> options = new ArrayList<>(files());
    options.add("--entrypoint=java");
    ClientPod client =
        new ClientPod(
            namespace.client(
                "load",
                IMAGE,
                options,
                List.of(
                    "-Xmx200m",
                    "-cp",
                    "/opt/tollgate/lib/*:" + LOAD_CLASSES,
                    Load.class.getName(),
                    url())));
    client.awaitLine("runs");
    return client;
  }

  /** Ends the load, which must not have seen a failure. */
  private static void end(ClientPod load, String during) throws Exception {
    String printed = load.end("");
    System.out.println("PodsIT: " + during + ": " + printed.strip());
    Matcher result = RESULT.matcher(printed);
    assertTrue(result.find(), printed);
    assertTrue(Integer.parseInt(result.group(1)) > 0, printed);
    assertEquals("0", result.group(2), printed);
  }

  private static int leader() throws Exception {
    String printed =
        sql("SELECT 'leads=' || NODE_ID AS L FROM TOLLGATE.NODES WHERE NODE_ROLE = 'LEADER';");
    return IntStream.range(0, set.replicas())
        .filter(i -> printed.contains("leads=" + set.podName(i)))
        .findFirst()
        .orElseThrow(() -> new AssertionError(printed));
  }

  private static void assertEqualReplicas() {
    await()
        .atMost(Duration.ofMinutes(1))
        .until(
            () -> sql("CALL verify_replicas();"),
            printed -> printed.split("\\bEQUAL\\b", -1).length == set.replicas() + 1);
  }

  /** What is not obeyed here is named, with its reason, where manifests are read. */
  @Test
  void everyFieldIsObeyed() {
    List<String> unread = new ArrayList<>();
    manifests.values().forEach(manifest -> unread.addAll(manifest.unread()));
    assertEquals(List.of(), unread);
  }

  @Test
  void podsWereReadyInTurn() throws Exception {
    System.out.println("PodsIT: all pods were ready " + createdMillis + " ms after the first");
    assertEquals(3, set.pods().size());
    assertToken(sql("SELECT acquire_lock('first');"));
  }

  @Test
  void servicePortsAreServed() throws IOException {
    Map<String, Integer> ports = set.template().ports();
    assertEquals(set.pods().size(), namespace.selected(namespace.selector()).size());
    for (String target : namespace.targetPorts().values()) {
      for (Pod pod : set.pods()) {
        try (Socket socket = new Socket()) {
          socket.connect(new InetSocketAddress(pod.address(), ports.get(target)), CONNECT_MILLIS);
        }
      }
    }
  }

  @Test
  void budgetIsAboutThePodsAndLeavesAMajority() {
    List<Pod> guarded = namespace.selected(budgetSelector);
    assertEquals(set.pods().size(), guarded.size());
    int left = guarded.size() - budgetMaxUnavailable;
    assertTrue(left > guarded.size() / 2 && left < guarded.size(), () -> left + " are left");
  }

  /** Not what the options of the engine are, but what the kernel says of the process. */
  @Test
  void processHasNoRights() {
    String status =
        Docker.run(
            "exec",
            set.pod(0).container(),
            "/bin/sh",
            "-c",
            "while read -r line; do echo \"$line\"; done < /proc/1/status;"
                + " (echo x > /opt/tollgate/x) 2>/dev/null && echo written || echo refused");
    String words = status.replaceAll("\\s+", " ");
    for (String expected :
        List.of(
            "Uid: 7400 7400 7400 7400",
            "Gid: 7400 7400 7400 7400",
            "CapEff: 0000000000000000",
            "CapBnd: 0000000000000000",
            "NoNewPrivs: 1",
            "Seccomp: 2",
            "refused")) {
      assertTrue(words.contains(expected), () -> expected + " in " + status);
    }
  }

  /** As an update does: highest number first, the hook, SIGTERM, and the next once it is ready. */
  @Test
  void noStatementFailsWhilePodsAreUpdated() throws Exception {
    List<String> before = set.pods().stream().map(Pod::address).toList();
    int leader = leader();
    try (ClientPod load = load()) {
      Map<String, Pod.Stopped> stopped = set.restart();
      end(load, "an update, pod " + leader + " led at first");
      for (Map.Entry<String, Pod.Stopped> each : stopped.entrySet()) {
        Pod.Stopped how = each.getValue();
        System.out.println("PodsIT: " + each.getKey() + " was stopped: " + how);
        assertEquals(Optional.of(0), how.hook(), how::hookOut);
        assertEquals(143, how.status(), how::toString);
      }
      assertMovedLeadership(stopped.get(set.podName(leader)));
    }
    assertTrue(set.pods().stream().noneMatch(pod -> before.contains(pod.address())));
    assertTrue(set.pods().stream().allMatch(pod -> pod.restarts() == 0));
    assertEqualReplicas();
  }

  private static void assertMovedLeadership(Pod.Stopped stopped) {
    assertTrue(stopped.hookOut().contains("LEADER"), stopped::hookOut);
  }

  /** By force, so that no hook runs and nothing is handed over; under a new address. */
  @Test
  void leaderComesBackElsewhereWithItsVolume() throws Exception {
    int leader = leader();
    String before = set.pod(leader).address();
    try (ClientPod load = load()) {
      set.deleteByForce(leader);
      end(load, "the leader was deleted by force");
    }
    set.start(leader);
    set.awaitReady(leader);
    assertNotEquals(before, set.pod(leader).address());
    long millis = set.pod(leader).millisUntilReady();
    System.out.println("PodsIT: ready again after " + millis + " ms");
    assertTrue(millis < READY_AGAIN_MILLIS, () -> millis + " ms");
    assertEqualReplicas();
  }

  @Test
  void containerThatEndsIsStartedAgainInItsPod() throws Exception {
    Pod pod = set.pod(leader());
    pod.kill();
    await().atMost(Duration.ofMinutes(1)).until(() -> pod.restarts() == 1);
    set.awaitAllReady();
    assertEqualReplicas();
  }

  /** All addresses that the nodes know of each other are wrong afterwards. */
  @Test
  void allPodsAtOnceComeBackElsewhere() throws Exception {
    try (ClientPod load = load()) {
      end(load, "before all pods were deleted");
    }
    String counts = sql("SELECT SUM(n) FROM counts;");
    List<CompletableFuture<?>> deletions = new ArrayList<>();
    for (int i = 0; i < set.replicas(); i++) {
      int ordinal = i;
      deletions.add(
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  return set.delete(ordinal);
                } catch (IOException e) {
                  throw new IllegalStateException(e);
                }
              }));
    }
    for (CompletableFuture<?> deletion : deletions) {
      deletion.get();
    }
    set.create();
    assertEquals(counts, sql("SELECT SUM(n) FROM counts;"));
    assertEqualReplicas();
  }

  /** The page: if you change the password of the first administrator, change the secret too. */
  @Test
  void hookLogsInWithAChangedPassword() throws Exception {
    String changed = "another " + PASSWORD;
    sql("ALTER USER ADMIN SET PASSWORD '" + changed + "';");
    Files.writeString(DIRECTORY.resolve("client").resolve("password"), changed);
    Files.writeString(commands.secrets().get("tollgate-admin").resolve("password"), changed);
    namespace.update("tollgate-admin");
    int leader = leader();
    Pod.Stopped stopped = set.delete(leader);
    set.start(leader);
    assertEquals(Optional.of(0), stopped.hook(), stopped::hookOut);
    assertMovedLeadership(stopped);
  }

  /** The page: such a pod must not come back under its name. It does not, and others serve. */
  @Test
  void podWithoutItsVolumeStaysAway() throws Exception {
    int follower = (leader() + 1) % set.replicas();
    set.delete(follower);
    Path kept = namespace.moveAway(set.claim(follower));
    set.start(follower);
    Pod pod = set.pod(follower);
    try {
      await()
          .atMost(Duration.ofMinutes(1))
          .until(() -> pod.events().stream().anyMatch(event -> event.endsWith("with status 78")));
      assertToken(sql("SELECT acquire_lock('without');"));
    } finally {
      set.deleteByForce(follower);
      namespace.bringBack(set.claim(follower), kept);
      set.start(follower);
    }
    set.awaitReady(follower);
    assertEqualReplicas();
  }
}
