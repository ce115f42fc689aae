package dev.tollgate.distribution;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/** The manifests fit together: what one part names, another part has. */
class KubernetesManifestsTest {
  private static final Path FILE = Path.of("kubernetes", "tollgate.yaml");
  private static final Pattern REFERENCE = Pattern.compile("\\$\\((\\w+)\\)");

  private static final Map<String, Map<?, ?>> BY_KIND = new TreeMap<>();

  @BeforeAll
  static void read() throws IOException {
    LoaderOptions options = new LoaderOptions();
    options.setAllowDuplicateKeys(false);
    try (Reader in = Files.newBufferedReader(FILE)) {
      for (Object document : new Yaml(new SafeConstructor(options)).loadAll(in)) {
        Map<?, ?> manifest = (Map<?, ?>) document;
        assertEquals(null, BY_KIND.put((String) manifest.get("kind"), manifest));
      }
    }
    assertEquals(Set.of("Service", "PodDisruptionBudget", "StatefulSet"), BY_KIND.keySet());
  }

  /** What a path such as {@code spec.ports.0.name} leads to. */
  private static Object at(Object node, String path) {
    Object found = node;
    for (String step : path.split("\\.", -1)) {
      found =
          found instanceof List<?> list
              ? list.get(Integer.parseInt(step))
              : ((Map<?, ?>) assertNotNullAt(found, path)).get(step);
    }
    return assertNotNullAt(found, path);
  }

  private static Object assertNotNullAt(Object found, String path) {
    assertNotNull(found, path);
    return found;
  }

  private static Object pod(String path) {
    return at(BY_KIND.get("StatefulSet"), "spec.template.spec." + path);
  }

  private static Object container(String path) {
    return pod("containers.0." + path);
  }

  /** The names of the maps in a list. */
  private static List<String> names(Object list) {
    return ((List<?>) list).stream().map(each -> (String) ((Map<?, ?>) each).get("name")).toList();
  }

  private static Map<String, String> environment() {
    Map<String, String> environment = new LinkedHashMap<>();
    for (Object each : (List<?>) container("env")) {
      Map<?, ?> variable = (Map<?, ?>) each;
      Object value = variable.get("value");
      String text = value == null ? at(variable, "valueFrom.fieldRef.fieldPath") + "" : "" + value;
      assertEquals(null, environment.put((String) variable.get("name"), text));
    }
    return environment;
  }

  @Test
  void versionsAreStable() {
    assertEquals("v1", BY_KIND.get("Service").get("apiVersion"));
    assertEquals("policy/v1", BY_KIND.get("PodDisruptionBudget").get("apiVersion"));
    assertEquals("apps/v1", BY_KIND.get("StatefulSet").get("apiVersion"));
  }

  @Test
  void everySelectorFindsThePods() {
    Object labels = at(BY_KIND.get("StatefulSet"), "spec.template.metadata.labels");
    assertEquals(labels, at(BY_KIND.get("StatefulSet"), "spec.selector.matchLabels"));
    assertEquals(labels, at(BY_KIND.get("Service"), "spec.selector"));
    assertEquals(labels, at(BY_KIND.get("PodDisruptionBudget"), "spec.selector.matchLabels"));
    assertEquals(labels, pod("topologySpreadConstraints.0.labelSelector.matchLabels"));
  }

  @Test
  void serviceIsHeadlessAndNamesNodesThatAreNotReady() {
    assertEquals("None", at(BY_KIND.get("Service"), "spec.clusterIP"));
    assertEquals(true, at(BY_KIND.get("Service"), "spec.publishNotReadyAddresses"));
    assertEquals(
        at(BY_KIND.get("Service"), "metadata.name"),
        at(BY_KIND.get("StatefulSet"), "spec.serviceName"));
  }

  @Test
  void portsAreThoseOfTheContainer() {
    List<String> ports = names(container("ports"));
    for (Object port : (List<?>) at(BY_KIND.get("Service"), "spec.ports")) {
      assertTrue(ports.contains(at(port, "targetPort")), port::toString);
      Object same = ((List<?>) container("ports")).get(ports.indexOf(at(port, "targetPort")));
      assertEquals(at(same, "containerPort"), at(port, "port"));
    }
    for (String probe : List.of("startupProbe", "livenessProbe", "readinessProbe")) {
      assertEquals("admin", container(probe + ".httpGet.port"));
    }
    assertEquals("/health/live", container("startupProbe.httpGet.path"));
    assertEquals("/health/live", container("livenessProbe.httpGet.path"));
    assertEquals("/health/ready", container("readinessProbe.httpGet.path"));
    Map<String, String> environment = environment();
    Object numbers = container("ports");
    assertEquals(
        List.of(
            environment.get("TOLLGATE_CLIENT_LISTEN").replaceAll(".*:", ""),
            environment.get("TOLLGATE_RAFT_ADDRESS").replaceAll(".*:", ""),
            environment.get("TOLLGATE_ADMIN_ADDRESS").replaceAll(".*:", "")),
        ((List<?>) numbers).stream().map(port -> "" + at(port, "containerPort")).toList());
  }

  @Test
  void mountsHaveVolumes() {
    Set<String> volumes = new HashSet<>(names(pod("volumes")));
    for (Object claim : (List<?>) at(BY_KIND.get("StatefulSet"), "spec.volumeClaimTemplates")) {
      volumes.add((String) at(claim, "metadata.name"));
    }
    assertEquals(volumes, new HashSet<>(names(container("volumeMounts"))));
    for (Map.Entry<String, String> variable : environment().entrySet()) {
      if (variable.getValue().startsWith("/")) {
        assertTrue(
            ((List<?>) container("volumeMounts"))
                .stream()
                    .anyMatch(
                        mount -> variable.getValue().startsWith(at(mount, "mountPath") + "/")),
            variable::toString);
      }
    }
  }

  @Test
  void everyNodeIsAPeerWhereItSaysThatItIs() {
    Map<String, String> environment = environment();
    int replicas = (int) at(BY_KIND.get("StatefulSet"), "spec.replicas");
    List<String> peers = new ArrayList<>();
    for (int i = 0; i < replicas; i++) {
      String node = at(BY_KIND.get("StatefulSet"), "metadata.name") + "-" + i;
      peers.add(
          node + "=" + environment.get("TOLLGATE_RAFT_ADDRESS").replace("$(TOLLGATE_ID)", node));
    }
    assertEquals(String.join(",", peers), environment.get("TOLLGATE_PEERS"));
    assertEquals("metadata.name", environment.get("TOLLGATE_ID"));
    int away = (int) at(BY_KIND.get("PodDisruptionBudget"), "spec.maxUnavailable");
    assertTrue(replicas - away > replicas / 2, "a majority is left");
    assertEquals("Parallel", at(BY_KIND.get("StatefulSet"), "spec.podManagementPolicy"));
  }

  /** Kubernetes replaces only references to variables that come before. */
  @Test
  void variablesAreDefinedBeforeTheyAreNamed() {
    Set<String> before = new HashSet<>();
    environment()
        .forEach(
            (name, value) -> {
              Stream<String> named =
                  REFERENCE.matcher(value).results().map((MatchResult found) -> found.group(1));
              named.forEach(each -> assertTrue(before.contains(each), name + " names " + each));
              before.add(name);
            });
  }

  @Test
  void nodeHandsLeadershipOverBeforeItIsStopped() {
    assertEquals(
        List.of("/bin/sh", "-c", "tollgate nodes lead --from $TOLLGATE_ID"),
        container("lifecycle.preStop.exec.command"));
    // the hook, five seconds for the hand-over, and the snapshot of a node that is alone
    assertEquals(120, pod("terminationGracePeriodSeconds"));
  }

  @Test
  void podHasNoRights() {
    assertEquals(true, pod("securityContext.runAsNonRoot"));
    assertEquals(true, container("securityContext.readOnlyRootFilesystem"));
    assertEquals(false, container("securityContext.allowPrivilegeEscalation"));
    assertEquals(List.of("ALL"), container("securityContext.capabilities.drop"));
    assertEquals(false, pod("automountServiceAccountToken"));
  }
}
