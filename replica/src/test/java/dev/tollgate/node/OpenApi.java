package dev.tollgate.node;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/**
 * What docs/openapi.yaml says, as far as it uses OpenAPI: objects with members that are all named,
 * and values whose types are checked.
 */
final class OpenApi {
  private final Map<String, Object> root;

  private OpenApi(Map<String, Object> root) {
    this.root = root;
  }

  static OpenApi read(Path file) throws IOException {
    Map<String, Object> root =
        new Yaml(new SafeConstructor(new LoaderOptions())).load(Files.readString(file));
    return new OpenApi(root);
  }

  /** A request that is described. */
  record Operation(String method, String path, Map<String, Object> description) {
    /** The statuses that it may answer. */
    SortedSet<String> statuses() {
      TreeSet<String> statuses = new TreeSet<>();
      statuses.addAll(map(description.get("responses")).keySet());
      return statuses;
    }
  }

  /** All requests by method and path. */
  Map<String, Operation> operations() {
    Map<String, Operation> operations = new TreeMap<>();
    map(root.get("paths"))
        .forEach(
            (path, item) ->
                map(item)
                    .forEach(
                        (key, description) -> {
                          if (!key.equals("parameters")) {
                            String method = key.toUpperCase(Locale.ROOT);
                            operations.put(
                                method + " " + path, new Operation(method, path, map(description)));
                          }
                        }));
    return operations;
  }

  /** The parameters of the query, in order. */
  SortedSet<String> queryOf(Operation operation) {
    TreeSet<String> names = new TreeSet<>();
    Object parameters = operation.description().getOrDefault("parameters", List.of());
    for (Object parameter : (List<?>) parameters) {
      if ("query".equals(map(parameter).get("in"))) {
        names.add((String) requireNonNull(map(parameter).get("name")));
      }
    }
    return names;
  }

  /** The members of the body, in order; null without a body. */
  @Nullable SortedSet<String> bodyOf(Operation operation) {
    Object body = operation.description().get("requestBody");
    return body == null ? null : new TreeSet<>(properties(schemaIn(map(body))).keySet());
  }

  /** The types of the members of the body, or of the parameters of the query; "time" for a time. */
  Map<String, String> typesOf(Operation operation) {
    Map<String, String> types = new TreeMap<>();
    Object body = operation.description().get("requestBody");
    if (body != null) {
      properties(schemaIn(map(body)))
          .forEach((name, schema) -> types.put(name, typeOf(resolved(schema))));
    }
    for (Object parameter :
        (List<?>) operation.description().getOrDefault("parameters", List.of())) {
      Map<String, Object> each = map(parameter);
      types.put((String) requireNonNull(each.get("name")), typeOf(resolved(each.get("schema"))));
    }
    return types;
  }

  private static String typeOf(Map<String, Object> schema) {
    return schema.containsKey("oneOf") ? "time" : (String) requireNonNull(schema.get("type"));
  }

  /** How the answer with a status is described; null if it is not. */
  @Nullable Map<String, Object> answer(Operation operation, int status) {
    Object response = map(operation.description().get("responses")).get(String.valueOf(status));
    return response == null ? null : schemaIn(resolved(response));
  }

  private Map<String, Object> schemaIn(Map<String, Object> described) {
    Map<String, Object> json = map(map(described.get("content")).get("application/json"));
    return resolved(json.get("schema"));
  }

  private Map<String, Object> resolved(@Nullable Object node) {
    Object reference = map(node).get("$ref");
    if (reference == null) {
      return map(node);
    }
    Object found = root;
    for (String step : ((String) reference).substring("#/".length()).split("/", -1)) {
      found = map(found).get(step);
    }
    return map(found);
  }

  private static Map<String, Object> properties(Map<String, Object> schema) {
    return map(schema.getOrDefault("properties", Map.of()));
  }

  /**
   * Returns what a value has that its schema does not allow.
   *
   * @param seen gets the paths of all members that are there
   */
  List<String> complaints(
      Map<String, Object> schema, @Nullable Object value, String at, SortedSet<String> seen) {
    List<String> complaints = new ArrayList<>();
    List<?> choices = (List<?>) schema.get("oneOf");
    if (choices != null) {
      boolean fits =
          choices.stream()
              .anyMatch(each -> complaints(resolved(each), value, at, new TreeSet<>()).isEmpty());
      if (!fits) {
        complaints.add(at + " fits none of the choices: " + value);
      }
      for (Object each : choices) {
        if (complaints(resolved(each), value, at, new TreeSet<>()).isEmpty()) {
          complaints(resolved(each), value, at, seen);
        }
      }
      return complaints;
    }
    if (value == null) {
      if (!Boolean.TRUE.equals(schema.get("nullable"))) {
        complaints.add(at + " is null");
      }
      return complaints;
    }
    Object type = schema.get("type");
    boolean right =
        type == null
            || switch ((String) type) {
              case "object" -> value instanceof Map;
              case "array" -> value instanceof List;
              case "string" -> value instanceof String;
              case "boolean" -> value instanceof Boolean;
              case "integer" -> value instanceof Long || value instanceof Integer;
              default -> throw new AssertionError("type " + type);
            };
    if (!right) {
      complaints.add(at + " is no " + type + ": " + value);
    } else if ("object".equals(type)) {
      objectComplaints(schema, map(value), at, seen, complaints);
    } else if ("array".equals(type)) {
      for (Object element : (List<?>) value) {
        complaints.addAll(complaints(resolved(schema.get("items")), element, at + "[]", seen));
      }
    }
    return complaints;
  }

  private void objectComplaints(
      Map<String, Object> schema,
      Map<String, Object> value,
      String at,
      SortedSet<String> seen,
      List<String> complaints) {
    for (Object name : (List<?>) schema.getOrDefault("required", List.of())) {
      if (!value.containsKey(name)) {
        complaints.add(at + " lacks " + name);
      }
    }
    value.forEach(
        (name, member) -> {
          String path = at + "." + name;
          Object property = properties(schema).get(name);
          seen.add(path);
          if (property == null) {
            complaints.add(path + " is not described");
          } else {
            complaints.addAll(complaints(resolved(property), member, path, seen));
          }
        });
  }

  /** The paths of all members that an answer may have. */
  SortedSet<String> members(Map<String, Object> schema, String at) {
    TreeSet<String> members = new TreeSet<>();
    for (Object each : (List<?>) schema.getOrDefault("oneOf", List.of())) {
      members.addAll(members(resolved(each), at));
    }
    properties(schema)
        .forEach(
            (name, property) -> {
              members.add(at + "." + name);
              members.addAll(members(resolved(property), at + "." + name));
            });
    if (schema.get("items") != null) {
      members.addAll(members(resolved(schema.get("items")), at + "[]"));
    }
    return members;
  }

  @SuppressWarnings("unchecked")
  static Map<String, Object> map(@Nullable Object node) {
    assertTrue(node instanceof Map, () -> "no object: " + node);
    return (Map<String, Object>) requireNonNull(node);
  }
}
