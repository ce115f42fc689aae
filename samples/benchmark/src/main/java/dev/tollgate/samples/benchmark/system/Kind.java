package dev.tollgate.samples.benchmark.system;

import java.util.Locale;

/** The systems, and how their clients are opened from the addresses of their servers. */
public enum Kind {
  TOLLGATE(Tollgate::new, true),
  ETCD(Etcd::new, false),
  ZOOKEEPER(ZooKeeper::new, true),
  HAZELCAST(Hazelcast::new, true),
  POSTGRES(Postgres::new, false),
  SHEDLOCK(ShedLock::new, false),
  REDIS(Redis::new, false);

  private interface Opening {
    LockSystem open(String endpoints) throws Exception;
  }

  @SuppressWarnings("ImmutableEnumChecker") // method references
  private final Opening opening;

  private final boolean inJava;

  Kind(Opening opening, boolean inJava) {
    this.opening = opening;
    this.inJava = inJava;
  }

  /** Whether its servers become faster while they run. */
  public boolean isInJava() {
    return inJava;
  }

  /** Its name in options and tables. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * @param endpoints as {@link Ensemble#endpoints} gives them
   */
  public LockSystem open(String endpoints) throws Exception {
    return opening.open(endpoints);
  }
}
