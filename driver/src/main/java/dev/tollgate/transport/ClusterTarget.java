package dev.tollgate.transport;

import static java.util.Objects.requireNonNull;

import dev.tollgate.tls.TlsSettings;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The cluster that a URL names. Equal targets share a control connection, and embedded nodes. */
public sealed interface ClusterTarget {
  /** Nodes of other processes; any reachable node names the rest. */
  record Remote(List<NodeAddress> seeds, TlsSettings tls) implements ClusterTarget {
    public Remote {
      seeds = List.copyOf(seeds);
      requireNonNull(tls, "tls");
      if (seeds.isEmpty()) {
        throw new IllegalArgumentException("no host");
      }
    }

    /** Nodes that are reached without TLS. */
    public Remote(List<NodeAddress> seeds) {
      this(seeds, TlsSettings.OFF);
    }

    @Override
    public String toString() {
      return seeds.stream().map(NodeAddress::toString).collect(Collectors.joining(","));
    }
  }

  /**
   * One durable node in this JVM; it closes with the last connection.
   *
   * @param dataKeyFile the keys that encrypt the directory; null if it is not encrypted
   */
  record Embedded(Path directory, @Nullable Path dataKeyFile) implements ClusterTarget {
    public Embedded {
      directory = requireNonNull(directory, "directory").toAbsolutePath().normalize();
      dataKeyFile = dataKeyFile == null ? null : dataKeyFile.toAbsolutePath().normalize();
    }

    @Override
    public String toString() {
      return "embedded:" + directory;
    }
  }

  /**
   * One node in this JVM without storage.
   *
   * @param name a node with a name lives until the JVM ends; a node without one (empty) is private
   *     and closes with its connection
   */
  record InMemory(String name) implements ClusterTarget {
    public InMemory {
      requireNonNull(name, "name");
    }

    /** True if no two connections share the node. */
    public boolean isPrivate() {
      return name.isEmpty();
    }

    @Override
    public String toString() {
      return "mem:" + name;
    }
  }
}
