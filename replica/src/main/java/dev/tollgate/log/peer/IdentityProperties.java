package dev.tollgate.log.peer;

import dev.tollgate.core.command.ClusterIdentity;
import dev.tollgate.core.command.ClusterKey;
import dev.tollgate.core.command.UniqueId;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Properties;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** What the file of a {@link NodeIdentity} has of the cluster. */
final class IdentityProperties {
  private static final String CLUSTER = "cluster";
  private static final String KEY = "cluster-key";
  private static final String INCARNATION = "incarnation.";
  private static final String REMOVED = "removed.";

  private IdentityProperties() {}

  static void write(Properties properties, ClusterIdentity cluster) {
    UniqueId id = cluster.clusterId();
    ClusterKey key = cluster.key();
    if (id != null && key != null) {
      properties.setProperty(CLUSTER, id.toString());
      properties.setProperty(KEY, HexFormat.of().formatHex(key.toBytes()));
    }
    cluster
        .incarnations()
        .forEach(
            (node, incarnation) ->
                properties.setProperty(INCARNATION + node, incarnation.toString()));
    for (int i = 0; i < cluster.removed().size(); i++) {
      properties.setProperty(REMOVED + i, cluster.removed().get(i));
    }
  }

  /**
   * Reads what {@link #write} has written.
   *
   * @param file where the properties are from
   */
  static ClusterIdentity read(Path file, Properties properties) throws IOException {
    SortedMap<String, UniqueId> incarnations = new TreeMap<>();
    for (String name : properties.stringPropertyNames()) {
      UniqueId incarnation =
          name.startsWith(INCARNATION) ? id(file, properties.getProperty(name)) : null;
      if (incarnation != null) {
        incarnations.put(name.substring(INCARNATION.length()), incarnation);
      }
    }
    List<String> removed = new ArrayList<>();
    for (int i = 0; properties.containsKey(REMOVED + i); i++) {
      removed.add(properties.getProperty(REMOVED + i));
    }
    UniqueId cluster = id(file, properties.getProperty(CLUSTER));
    ClusterKey key = key(file, properties.getProperty(KEY));
    if ((cluster == null) != (key == null)) {
      throw new IOException(file + " is damaged: it has the id of a cluster or its key, not both");
    }
    return new ClusterIdentity(cluster, key, incarnations, removed);
  }

  static @Nullable UniqueId id(Path file, @Nullable String text) throws IOException {
    if (text == null) {
      return null;
    }
    try {
      UUID id = UUID.fromString(text);
      return new UniqueId(id.getMostSignificantBits(), id.getLeastSignificantBits());
    } catch (IllegalArgumentException e) {
      throw new IOException(file + " is damaged: '" + text + "' is no UUID", e);
    }
  }

  private static @Nullable ClusterKey key(Path file, @Nullable String text) throws IOException {
    if (text == null) {
      return null;
    }
    byte[] bytes;
    try {
      bytes = HexFormat.of().parseHex(text);
    } catch (IllegalArgumentException e) {
      // not as the cause: its message quotes the text
      bytes = new byte[0];
    }
    if (bytes.length != ClusterKey.BYTES) {
      throw new IOException(file + " is damaged: it has no key of a cluster");
    }
    return new ClusterKey(bytes);
  }
}
