package dev.tollgate.samples.benchmark.system;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The systems that can be requested besides Tollgate. */
public enum Peer {
  ETCD,
  ZOOKEEPER,
  HAZELCAST,
  POSTGRES,
  REDIS;

  /** Its name in options. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Why the system cannot be started here, and what to do about it; empty if it can. */
  public Optional<String> obstacle(int nodes) throws IOException {
    return switch (this) {
      case ETCD -> missing("etcd", List.of(), "etcd-server");
      case ZOOKEEPER -> Optional.empty();
      case HAZELCAST ->
          nodes >= HazelcastMembers.FEWEST
              ? Optional.empty()
              : Optional.of("its CP subsystem needs " + HazelcastMembers.FEWEST + " members");
      case POSTGRES -> missing("initdb", PostgresServer.usualDirectories(), "postgresql");
      case REDIS -> missing("redis-server", List.of(), "redis-server");
    };
  }

  private static Optional<String> missing(String program, List<Path> places, String packageName) {
    return Ground.program(program, places).isPresent()
        ? Optional.empty()
        : Optional.of("not installed: run with --install, or apt-get install " + packageName);
  }

  /** Starts its servers, and returns when they serve. */
  public Ensemble start(Ground ground, int nodes) throws Exception {
    return switch (this) {
      case ETCD -> new EtcdMembers(ground, installed("etcd", List.of()), nodes);
      case ZOOKEEPER -> new ZooKeeperServers(ground, nodes);
      case HAZELCAST -> new HazelcastMembers(ground, nodes);
      case POSTGRES ->
          new PostgresServer(
              ground,
              Optional.ofNullable(
                      installed("initdb", PostgresServer.usualDirectories()).getParent())
                  .orElseThrow());
      case REDIS -> new RedisServer(ground, installed("redis-server", List.of()));
    };
  }

  private static Path installed(String program, List<Path> places) {
    return Ground.program(program, places).orElseThrow();
  }
}
