package dev.tollgate.distribution.containers;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/** A part of a manifest that knows which of its fields were read. */
final class Fields {
  private final Map<?, ?> values;
  private final String path;
  private final Set<String> unread = new TreeSet<>();
  private final Map<String, List<Fields>> parts = new LinkedHashMap<>();

  private Fields(Map<?, ?> values, String path) {
    this.values = requireNonNull(values, "values");
    this.path = path;
    values.keySet().forEach(name -> unread.add((String) name));
  }

  /** Returns the manifests of a file by their kinds, of which the file has one each. */
  static Map<String, Fields> read(Path file) throws IOException {
    Map<String, Fields> byKind = new LinkedHashMap<>();
    LoaderOptions options = new LoaderOptions();
    options.setAllowDuplicateKeys(false);
    try (Reader in = Files.newBufferedReader(file)) {
      for (Object document : new Yaml(new SafeConstructor(options)).loadAll(in)) {
        Map<?, ?> manifest = (Map<?, ?>) document;
        String kind = (String) manifest.get("kind");
        if (byKind.put(kind, new Fields(manifest, kind)) != null) {
          throw new IllegalStateException("two manifests of the kind " + kind);
        }
      }
    }
    byKind.values().forEach(manifest -> manifest.passOver("apiVersion", "kind"));
    return byKind;
  }

  private Optional<Object> value(String name) {
    unread.remove(name);
    return Optional.ofNullable(values.get(name));
  }

  private IllegalStateException missing(String name) {
    return new IllegalStateException(path + "." + name + " is missing");
  }

  boolean has(String name) {
    return values.containsKey(name);
  }

  String text(String name) {
    return optionalText(name).orElseThrow(() -> missing(name));
  }

  Optional<String> optionalText(String name) {
    return value(name).map(String::valueOf);
  }

  int number(String name) {
    return (Integer) value(name).orElseThrow(() -> missing(name));
  }

  int number(String name, int otherwise) {
    return has(name) ? number(name) : otherwise;
  }

  boolean flag(String name, boolean otherwise) {
    return (Boolean) value(name).orElse(otherwise);
  }

  /** Returns a part, which is empty where the manifest has none. */
  Fields part(String name) {
    return parts
        .computeIfAbsent(
            name,
            each ->
                List.of(new Fields((Map<?, ?>) value(each).orElse(Map.of()), path + "." + each)))
        .get(0);
  }

  /** Returns the parts of a list, which is empty where the manifest has none. */
  List<Fields> list(String name) {
    return parts.computeIfAbsent(
        name,
        each -> {
          List<Fields> found = new ArrayList<>();
          for (Object item : (List<?>) value(each).orElse(List.of())) {
            found.add(new Fields((Map<?, ?>) item, path + "." + each + "." + found.size()));
          }
          return List.copyOf(found);
        });
  }

  List<String> texts(String name) {
    return ((List<?>) value(name).orElse(List.of())).stream().map(String::valueOf).toList();
  }

  /** Returns a part that has texts alone, such as labels. */
  Map<String, String> map(String name) {
    Map<String, String> texts = new LinkedHashMap<>();
    ((Map<?, ?>) value(name).orElse(Map.of()))
        .forEach((key, text) -> texts.put((String) key, (String) text));
    return texts;
  }

  /** These fields are not obeyed, and the caller says why. */
  void passOver(String... names) {
    unread.removeAll(Set.of(names));
  }

  /** Returns the paths of the fields here and below that nobody has read. */
  List<String> unread() {
    List<String> paths = new ArrayList<>();
    unread.forEach(name -> paths.add(path + "." + name));
    parts.values().forEach(list -> list.forEach(part -> paths.addAll(part.unread())));
    return paths;
  }

  @Override
  public String toString() {
    return path;
  }
}
