package dev.tollgate.distribution.containers;

import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The template of a StatefulSet's pods, as options of a container engine. */
final class PodTemplate {
  private static final Pattern REFERENCE = Pattern.compile("\\$(\\$\\([^)]*\\)|\\(([^)]*)\\))");
  private static final int SHARES_OF_A_PROCESSOR = 1024;

  private final Map<String, String> labels;
  private final String image;
  private final List<String> command;
  private final List<String> arguments;
  private final Map<String, Fields> environment = new LinkedHashMap<>();
  private final Map<String, Integer> ports = new LinkedHashMap<>();
  private final List<Mount> mounts = new ArrayList<>();
  private final Map<String, Fields> volumes = new HashMap<>();
  private final List<String> hook;
  private final Optional<Probe> startup;
  private final Optional<Probe> liveness;
  private final Optional<Probe> readiness;
  private final int graceSeconds;
  private final List<String> confinement = new ArrayList<>();
  private final int group;
  private final boolean groupOnlyOnMismatch;

  /**
   * A mount.
   *
   * @param below what of the volume is mounted; empty for all of it
   */
  private record Mount(String volume, String below, String path, boolean readOnly) {}

  PodTemplate(Fields template) {
    Fields metadata = template.part("metadata");
    Fields pod = template.part("spec");
    labels = metadata.map("labels");
    graceSeconds = pod.number("terminationGracePeriodSeconds", 30);
    // one machine has no others to spread to, and nothing here has accounts or adds variables
    pod.passOver("topologySpreadConstraints", "automountServiceAccountToken", "enableServiceLinks");
    pod.list("volumes").forEach(volume -> volumes.put(volume.text("name"), volume));
    if (pod.list("containers").size() != 1) {
      throw new IllegalStateException("not one container");
    }
    Fields container = pod.list("containers").get(0);
    // the image is where the engine finds it
    container.passOver("name", "imagePullPolicy");
    image = container.text("image");
    command = container.texts("command");
    arguments = container.texts("args");
    container.list("env").forEach(each -> environment.put(each.text("name"), each));
    for (Fields port : container.list("ports")) {
      ports.put(port.text("name"), port.number("containerPort"));
    }
    for (Fields mount : container.list("volumeMounts")) {
      mounts.add(
          new Mount(
              mount.text("name"),
              mount.optionalText("subPathExpr").orElse(""),
              mount.text("mountPath"),
              mount.flag("readOnly", false)));
    }
    hook = container.part("lifecycle").part("preStop").part("exec").texts("command");
    startup = Probe.of(container, "startupProbe", ports);
    liveness = Probe.of(container, "livenessProbe", ports);
    readiness = Probe.of(container, "readinessProbe", ports);
    limit(container.part("resources"));
    Fields security = pod.part("securityContext");
    group = security.number("fsGroup", Volumes.NO_GROUP);
    groupOnlyOnMismatch =
        security.optionalText("fsGroupChangePolicy").equals(Optional.of("OnRootMismatch"));
    confine(security, container.part("securityContext"));
  }

  private void limit(Fields resources) {
    Fields limits = resources.part("limits");
    limits
        .optionalText("memory")
        .map(PodTemplate::quantity)
        .ifPresent(bytes -> option("--memory=" + bytes, "--memory-swap=" + bytes));
    limits.optionalText("cpu").map(PodTemplate::cores).ifPresent(cores -> option("--cpus", cores));
    Fields requests = resources.part("requests");
    // what is requested matters where a pod is placed, and memory nowhere else
    requests.passOver("memory");
    requests
        .optionalText("cpu")
        .map(PodTemplate::cores)
        .map(cores -> new BigDecimal(cores).multiply(BigDecimal.valueOf(SHARES_OF_A_PROCESSOR)))
        .ifPresent(shares -> option("--cpu-shares=" + shares.intValue()));
  }

  private void confine(Fields pod, Fields container) {
    int user = container.number("runAsUser", pod.number("runAsUser", -1));
    int ofGroup = container.number("runAsGroup", pod.number("runAsGroup", 0));
    boolean notRoot = container.flag("runAsNonRoot", pod.flag("runAsNonRoot", false));
    if (notRoot && user == 0) {
      throw new IllegalStateException("the user of the pod is root, and must not be");
    }
    if (user >= 0) {
      option("--user=" + user + ":" + ofGroup);
    }
    if (group != Volumes.NO_GROUP) {
      option("--group-add=" + group);
    }
    // the profile of the engine is what it gives where nothing is said
    String profile = pod.part("seccompProfile").text("type");
    if (!profile.equals("RuntimeDefault")) {
      throw new IllegalStateException("the profile " + profile + " is not known here");
    }
    if (!container.flag("allowPrivilegeEscalation", true)) {
      option("--security-opt=no-new-privileges");
    }
    if (container.flag("readOnlyRootFilesystem", false)) {
      option("--read-only");
    }
    container.part("capabilities").texts("drop").forEach(each -> option("--cap-drop=" + each));
  }

  private void option(String... options) {
    confinement.addAll(List.of(options));
  }

  private static long quantity(String text) {
    Matcher matcher = Pattern.compile("(\\d+)(Ki|Mi|Gi)").matcher(text);
    if (!matcher.matches()) {
      throw new IllegalStateException("no quantity of memory: " + text);
    }
    int shift = 10 * (1 + List.of("Ki", "Mi", "Gi").indexOf(matcher.group(2)));
    return Long.parseLong(matcher.group(1)) << shift;
  }

  private static String cores(String text) {
    return text.endsWith("m")
        ? new BigDecimal(text.substring(0, text.length() - 1)).movePointLeft(3).toPlainString()
        : text;
  }

  /** Returns the options, the image and the arguments with which the engine runs a pod. */
  List<String> toRun(String pod, String namespace, String address, Map<String, Path> directories)
      throws IOException {
    List<String> run = new ArrayList<>(confinement);
    labels.forEach((name, value) -> run.add("--label=" + name + "=" + value));
    Map<String, String> variables = variables(pod, namespace, address);
    variables.forEach((name, value) -> run.add("--env=" + name + "=" + value));
    for (Mount mount : mounts) {
      run.add(
          "--mount=type=bind,src="
              + mounted(mount, variables, directories)
              + ",dst="
              + mount.path()
              + (mount.readOnly() ? ",readonly" : ""));
    }
    if (!command.isEmpty()) {
      run.add("--entrypoint=" + command.get(0));
    }
    run.add(image);
    command.stream().skip(1).forEach(run::add);
    run.addAll(arguments);
    return run;
  }

  /** What is below a volume is bound where it is when the pod starts, and stays that. */
  private static Path mounted(
      Mount mount, Map<String, String> variables, Map<String, Path> directories)
      throws IOException {
    Path volume = directories.get(mount.volume());
    return mount.below().isEmpty()
        ? volume
        : volume.resolve(substitute(mount.below(), variables)).toRealPath();
  }

  private Map<String, String> variables(String pod, String namespace, String address) {
    Map<String, String> values = new LinkedHashMap<>();
    environment.forEach(
        (name, variable) -> {
          Optional<String> value = variable.optionalText("value");
          values.put(
              name,
              value.isPresent()
                  ? substitute(value.get(), values)
                  : field(variable.part("valueFrom").part("fieldRef"), pod, namespace, address));
        });
    return values;
  }

  private static String field(Fields reference, String pod, String namespace, String address) {
    String path = reference.text("fieldPath");
    return switch (path) {
      case "metadata.name" -> pod;
      case "metadata.namespace" -> namespace;
      case "status.podIP" -> address;
      default -> throw new IllegalStateException("the field " + path + " is not known here");
    };
  }

  /** Replaces $(NAME) where the variable comes before, and takes one $ from $$(NAME). */
  private static String substitute(String text, Map<String, String> before) {
    return REFERENCE
        .matcher(text)
        .replaceAll(
            found ->
                Matcher.quoteReplacement(
                    found.group(2) == null
                        ? found.group(1)
                        : before.getOrDefault(found.group(2), found.group())));
  }

  /** Makes the directories of a pod's volumes, but for those of its claims. */
  Map<String, Path> directories(Volumes made, String pod, Map<String, Path> secrets)
      throws IOException {
    Map<String, Path> directories = new HashMap<>();
    for (Map.Entry<String, Fields> each : volumes.entrySet()) {
      String name = each.getKey();
      Fields volume = each.getValue();
      if (volume.has("secret")) {
        Fields secret = volume.part("secret");
        directories.put(
            name,
            made.secret(
                pod,
                name,
                files(secrets, secret.text("secretName")),
                secret.number("defaultMode", 0644),
                group));
      } else if (volume.has("projected")) {
        Fields projected = volume.part("projected");
        directories.put(
            name,
            made.projected(
                pod,
                name,
                projection(projected, secrets),
                projected.number("defaultMode", 0644),
                group));
      } else {
        // nobody is evicted here who writes more
        volume.part("emptyDir").passOver("sizeLimit");
        directories.put(name, made.empty(pod, name, group));
      }
    }
    return directories;
  }

  private static Path files(Map<String, Path> secrets, String secret) {
    Path files = secrets.get(secret);
    if (files == null) {
      throw new IllegalStateException("there is no secret " + secret);
    }
    return files;
  }

  /** The files of a projected volume, by their paths in it. */
  private static Map<String, Path> projection(Fields projected, Map<String, Path> secrets) {
    Map<String, Path> projection = new TreeMap<>();
    for (Fields source : projected.list("sources")) {
      Fields secret = source.part("secret");
      Path files = files(secrets, secret.text("name"));
      for (Fields item : secret.list("items")) {
        projection.put(item.text("path"), files.resolve(item.text("key")));
      }
    }
    return projection;
  }

  /** Writes the files of a secret anew in the directory that a pod has of it. */
  void update(Volumes made, Map<String, Path> directories, String name, Path files)
      throws IOException {
    for (Map.Entry<String, Fields> each : volumes.entrySet()) {
      Fields secret = each.getValue().part("secret");
      if (secret.optionalText("secretName").equals(Optional.of(name))) {
        made.updateSecret(
            directories.get(each.getKey()), files, secret.number("defaultMode", 0644), group);
      }
    }
  }

  Path claim(Volumes made, String name) throws IOException {
    return made.claim(name, group, groupOnlyOnMismatch);
  }

  Map<String, String> labels() {
    return labels;
  }

  String image() {
    return image;
  }

  Map<String, Integer> ports() {
    return ports;
  }

  List<String> hook() {
    return hook;
  }

  Optional<Probe> startup() {
    return startup;
  }

  Optional<Probe> liveness() {
    return liveness;
  }

  Optional<Probe> readiness() {
    return readiness;
  }

  int graceSeconds() {
    return graceSeconds;
  }
}
