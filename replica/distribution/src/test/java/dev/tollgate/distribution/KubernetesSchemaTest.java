package dev.tollgate.distribution;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonDeserializer;
import com.google.gson.JsonElement;
import io.kubernetes.client.custom.IntOrString;
import io.kubernetes.client.custom.Quantity;
import io.kubernetes.client.openapi.models.V1NetworkPolicy;
import io.kubernetes.client.openapi.models.V1PodDisruptionBudget;
import io.kubernetes.client.openapi.models.V1Service;
import io.kubernetes.client.openapi.models.V1StatefulSet;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.OffsetDateTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/**
 * The manifests have the fields that Kubernetes knows, and those that it demands, by the checks
 * that are generated from its own description of its API.
 */
class KubernetesSchemaTest {
  private static final Path FILE = Path.of("kubernetes", "tollgate.yaml");

  /** For types that are no plain JSON objects. */
  private static final Gson TYPES =
      new GsonBuilder()
          .registerTypeAdapter(
              IntOrString.class,
              (JsonDeserializer<IntOrString>)
                  (json, type, context) ->
                      json.getAsJsonPrimitive().isNumber()
                          ? new IntOrString(json.getAsInt())
                          : new IntOrString(json.getAsString()))
          .registerTypeAdapter(
              Quantity.class,
              (JsonDeserializer<Quantity>)
                  (json, type, context) -> Quantity.fromString(json.getAsString()))
          .registerTypeAdapter(
              OffsetDateTime.class,
              (JsonDeserializer<OffsetDateTime>)
                  (json, type, context) -> OffsetDateTime.parse(json.getAsString()))
          .create();

  /** Checks all documents; the number of them. */
  private static int check(String yaml) throws IOException {
    int count = 0;
    Gson gson = new Gson();
    for (Object document : new Yaml(new SafeConstructor(new LoaderOptions())).loadAll(yaml)) {
      JsonElement manifest = gson.toJsonTree(document);
      String kind = manifest.getAsJsonObject().get("kind").getAsString();
      switch (kind) {
        case "Service" -> {
          V1Service.validateJsonElement(manifest);
          requireNonNull(TYPES.fromJson(manifest, V1Service.class));
        }
        case "PodDisruptionBudget" -> {
          V1PodDisruptionBudget.validateJsonElement(manifest);
          requireNonNull(TYPES.fromJson(manifest, V1PodDisruptionBudget.class));
        }
        case "NetworkPolicy" -> {
          V1NetworkPolicy.validateJsonElement(manifest);
          requireNonNull(TYPES.fromJson(manifest, V1NetworkPolicy.class));
        }
        case "StatefulSet" -> {
          V1StatefulSet.validateJsonElement(manifest);
          requireNonNull(TYPES.fromJson(manifest, V1StatefulSet.class));
        }
        default -> throw new IOException("no check for " + kind);
      }
      count++;
    }
    return count;
  }

  @Test
  void kubernetesKnowsEveryField() throws IOException {
    String yaml = Files.readString(FILE);
    assertEquals(4, assertDoesNotThrow(() -> check(yaml)));
  }

  @ParameterizedTest
  @CsvSource({
    "serviceName: tollgate, servicename: tollgate",
    "periodSeconds: 10, seconds: 10",
    "mountPath: /tmp, path: /tmp",
    "replicas: 3, replicas: three",
    "topologyKey: kubernetes.io/hostname, key: kubernetes.io/hostname",
    "memory: 2560Mi, memory: a lot",
    "publishNotReadyAddresses: true, publishNotReadyAddresses: [maybe]",
    "maxUnavailable: 1, maxGone: 1",
    "podSelector:, pods:",
    "sources:, secrets:",
  })
  void mistakeIsNoticed(String right, String wrong) throws IOException {
    String yaml = Files.readString(FILE);
    assertTrue(yaml.contains(right), right);
    String changed = yaml.replace(right, wrong);
    assertThrows(RuntimeException.class, () -> check(changed));
  }
}
