package dev.tollgate.distribution.containers;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/** The controller of a StatefulSet: it makes pods, makes them again, and updates them in order. */
final class StatefulSet {
  /** From the creation of a pod until it is ready. */
  private static final Duration DEADLINE = Duration.ofMinutes(2);

  /** A pod that is started again more often in its life has something that goes on. */
  private static final int MOST_RESTARTS = 1;

  private final Namespace namespace;
  private final String name;
  private final int replicas;
  private final boolean parallel;
  private final String service;
  private final Duration minReady;
  private final PodTemplate template;
  private final List<String> claims;
  private final Map<String, String> selector;
  private final Map<Integer, Pod> pods = new LinkedHashMap<>();

  StatefulSet(Fields manifest, Namespace namespace) {
    this.namespace = namespace;
    Fields metadata = manifest.part("metadata");
    // nobody here looks for the set by labels
    metadata.passOver("labels");
    this.name = metadata.text("name");
    Fields spec = manifest.part("spec");
    this.replicas = spec.number("replicas");
    this.parallel = spec.optionalText("podManagementPolicy").equals(Optional.of("Parallel"));
    this.service = spec.text("serviceName");
    this.minReady = Duration.ofSeconds(spec.number("minReadySeconds", 0));
    String strategy = spec.part("updateStrategy").text("type");
    if (!strategy.equals("RollingUpdate")) {
      throw new IllegalStateException("the strategy " + strategy + " is not known here");
    }
    // nothing here scales or deletes the set
    spec.passOver("persistentVolumeClaimRetentionPolicy");
    this.selector = spec.part("selector").map("matchLabels");
    this.template = new PodTemplate(spec.part("template"));
    this.claims =
        spec.list("volumeClaimTemplates").stream()
            .map(
                claim -> {
                  // one directory is as good as another, and none is full
                  claim.passOver("spec");
                  return claim.part("metadata").text("name");
                })
            .toList();
    if (!template.labels().entrySet().containsAll(selector.entrySet())) {
      throw new IllegalStateException("the selector of the set does not find its own pods");
    }
  }

  PodTemplate template() {
    return template;
  }

  int replicas() {
    return replicas;
  }

  Pod pod(int ordinal) {
    return pods.get(ordinal);
  }

  List<Pod> pods() {
    return List.copyOf(pods.values());
  }

  String podName(int ordinal) {
    return name + "-" + ordinal;
  }

  String claim(int ordinal) {
    return claims.get(0) + "-" + podName(ordinal);
  }

  /** Makes all pods, each once the one before it is ready unless the manifest says otherwise. */
  void create() throws IOException {
    for (int ordinal = 0; ordinal < replicas; ordinal++) {
      start(ordinal);
      if (!parallel) {
        awaitReady(ordinal);
      }
    }
    awaitAllReady();
  }

  void start(int ordinal) throws IOException {
    Map<String, String> ofPod = new LinkedHashMap<>();
    claims.forEach(claim -> ofPod.put(claim, claim + "-" + podName(ordinal)));
    pods.put(ordinal, namespace.start(podName(ordinal), template, service, ofPod));
  }

  /** Deletes a pod, and leaves making it again to the caller. */
  Pod.Stopped delete(int ordinal) throws IOException {
    return namespace.delete(pods.get(ordinal), Optional.empty());
  }

  /** As {@code kubectl delete pod --force --grace-period=0}: no hook, no SIGTERM. */
  void deleteByForce(int ordinal) throws IOException {
    namespace.delete(pods.get(ordinal), Optional.of(Duration.ZERO));
  }

  void awaitAllReady() {
    IntStream.range(0, replicas).forEach(this::awaitReady);
  }

  void awaitReady(int ordinal) {
    awaitReadyFor(ordinal, Duration.ZERO);
  }

  private void awaitReadyFor(int ordinal, Duration time) {
    await(podName(ordinal) + " is ready")
        .atMost(DEADLINE)
        .pollInterval(Duration.ofMillis(100))
        .failFast(
            podName(ordinal) + " ends again and again",
            () -> pods.get(ordinal).restarts() > MOST_RESTARTS)
        .until(() -> pods.get(ordinal).isReadyFor(time));
  }

  /**
   * As {@code kubectl rollout restart}: the pod with the highest number first, each once the one
   * before it has been ready for a while.
   *
   * @return how each pod was stopped, in that order
   */
  Map<String, Pod.Stopped> restart() throws IOException {
    Map<String, Pod.Stopped> stopped = new LinkedHashMap<>();
    for (int ordinal = replicas - 1; ordinal >= 0; ordinal--) {
      stopped.put(podName(ordinal), delete(ordinal));
      start(ordinal);
      awaitReadyFor(ordinal, minReady);
    }
    return stopped;
  }
}
