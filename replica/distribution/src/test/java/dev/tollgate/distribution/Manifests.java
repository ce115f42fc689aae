package dev.tollgate.distribution;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/** The manifests for Kubernetes, as maps and lists. */
final class Manifests {
  private static final Path FILE = Path.of("kubernetes", "tollgate.yaml");

  private Manifests() {}

  /** Returns each manifest by its kind, of which there is one. */
  static Map<String, Map<?, ?>> read() throws IOException {
    Map<String, Map<?, ?>> byKind = new TreeMap<>();
    LoaderOptions options = new LoaderOptions();
    options.setAllowDuplicateKeys(false);
    try (Reader in = Files.newBufferedReader(FILE)) {
      for (Object document : new Yaml(new SafeConstructor(options)).loadAll(in)) {
        Map<?, ?> manifest = (Map<?, ?>) document;
        assertEquals(null, byKind.put((String) manifest.get("kind"), manifest));
      }
    }
    return byKind;
  }

  /** What a path such as {@code spec.ports.0.name} leads to. */
  static Object at(Object node, String path) {
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

  /** Returns the variables of a node, in their order; a field of the pod stands for its value. */
  static Map<String, String> environment(Map<String, Map<?, ?>> byKind) {
    Map<String, String> environment = new LinkedHashMap<>();
    Object variables = at(byKind.get("StatefulSet"), "spec.template.spec.containers.0.env");
    for (Object each : (List<?>) variables) {
      Map<?, ?> variable = (Map<?, ?>) each;
      Object value = variable.get("value");
      String text = value == null ? at(variable, "valueFrom.fieldRef.fieldPath") + "" : "" + value;
      assertEquals(null, environment.put((String) variable.get("name"), text));
    }
    return environment;
  }
}
