package dev.tollgate.log.peer;

import dev.tollgate.core.command.ClusterIdentity;
import dev.tollgate.core.command.ClusterKey;
import dev.tollgate.core.command.UniqueId;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What nodes of a cluster know of it. */
final class ClusterKeys {
  static final UniqueId CLUSTER = new UniqueId(7, 7);

  private ClusterKeys() {}

  /** A key of equal bytes. */
  static ClusterKey of(int value) {
    byte[] bytes = new byte[ClusterKey.BYTES];
    Arrays.fill(bytes, (byte) value);
    return new ClusterKey(bytes);
  }

  /** A cluster with this key that knows these nodes by their directories. */
  static ClusterIdentity identity(int key, Map<String, UniqueId> recorded) {
    return new ClusterIdentity(CLUSTER, of(key), new TreeMap<>(recorded), List.of());
  }
}
