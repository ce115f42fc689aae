package dev.tollgate.distribution;

import static dev.tollgate.distribution.Manifests.at;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The manifests fit together: what one part names, another part has. */
class KubernetesManifestsTest {
  private static final Pattern REFERENCE = Pattern.compile("\\$\\((\\w+)\\)");

  private static final Map<String, Map<?, ?>> BY_KIND = new TreeMap<>();

  @BeforeAll
  static void read() throws IOException {
    BY_KIND.putAll(Manifests.read());
    assertEquals(
        Set.of("Service", "PodDisruptionBudget", "NetworkPolicy", "StatefulSet"), BY_KIND.keySet());
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
    return Manifests.environment(BY_KIND);
  }

  @Test
  void versionsAreStable() {
    assertEquals("v1", BY_KIND.get("Service").get("apiVersion"));
    assertEquals("policy/v1", BY_KIND.get("PodDisruptionBudget").get("apiVersion"));
    assertEquals("networking.k8s.io/v1", BY_KIND.get("NetworkPolicy").get("apiVersion"));
    assertEquals("apps/v1", BY_KIND.get("StatefulSet").get("apiVersion"));
  }

  @Test
  void everySelectorFindsThePods() {
    Object labels = at(BY_KIND.get("StatefulSet"), "spec.template.metadata.labels");
    assertEquals(labels, at(BY_KIND.get("StatefulSet"), "spec.selector.matchLabels"));
    assertEquals(labels, at(BY_KIND.get("Service"), "spec.selector"));
    assertEquals(labels, at(BY_KIND.get("PodDisruptionBudget"), "spec.selector.matchLabels"));
    assertEquals(labels, at(BY_KIND.get("NetworkPolicy"), "spec.podSelector.matchLabels"));
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

  /** A port that the policy does not name is closed; only nodes reach the port of the log. */
  @Test
  void policyNamesThePortsOfTheContainer() {
    Map<?, ?> policy = BY_KIND.get("NetworkPolicy");
    List<Object> open = new ArrayList<>();
    for (Object rule : (List<?>) at(policy, "spec.ingress")) {
      open.add(at(rule, "ports.0.port"));
    }
    assertEquals(names(container("ports")), open);
    assertEquals(
        at(policy, "spec.podSelector.matchLabels"),
        at(policy, "spec.ingress.1.from.0.podSelector.matchLabels"));
    assertEquals(
        at(policy, "spec.podSelector.matchLabels"),
        at(policy, "spec.egress.0.to.0.podSelector.matchLabels"));
  }

  /** A pod sees the directory that has its name, and in it the files that the node is told of. */
  @Test
  void podSeesItsOwnKeyAlone() {
    Map<String, String> environment = environment();
    Map<String, List<String>> files = new TreeMap<>();
    for (Object source : (List<?>) projected("sources")) {
      for (Object item : (List<?>) at(source, "secret.items")) {
        String[] path = ((String) at(item, "path")).split("/", -1);
        assertEquals(path[0] + "-tls", at(source, "secret.name"));
        assertEquals(path[1], at(item, "key"));
        files.computeIfAbsent(path[0], node -> new ArrayList<>()).add(path[1]);
      }
    }
    List<String> told =
        Stream.of("TOLLGATE_TLS_TRUST", "TOLLGATE_TLS_CERTIFICATE", "TOLLGATE_TLS_KEY")
            .map(variable -> environment.get(variable).replace("/etc/tollgate/tls/", ""))
            .toList();
    assertEquals(Map.of("tollgate-0", told, "tollgate-1", told, "tollgate-2", told), files);
    Object mount =
        ((List<?>) container("volumeMounts"))
            .stream().filter(each -> "tls".equals(at(each, "name"))).findFirst().orElseThrow();
    assertEquals("$(TOLLGATE_ID)", at(mount, "subPathExpr"));
  }

  private static Object projected(String path) {
    return ((List<?>) pod("volumes"))
        .stream()
            .filter(volume -> "tls".equals(at(volume, "name")))
            .map(volume -> at(volume, "projected." + path))
            .findFirst()
            .orElseThrow();
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
