package dev.tollgate.samples.benchmark.system;

import com.hazelcast.client.HazelcastClient;
import com.hazelcast.client.config.ClientConfig;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.cp.lock.FencedLock;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * Hazelcast's CP subsystem, FencedLock through one client object, whose session all threads share.
 * It replicates in memory: nothing is on disk when a call returns.
 */
public final class Hazelcast implements LockSystem {
  private final HazelcastInstance client;

  /**
   * @param addresses host:port,...
   */
  Hazelcast(String addresses) {
    ClientConfig config = new ClientConfig();
    config.setClusterName("benchmark");
    config.getNetworkConfig().setAddresses(Arrays.asList(addresses.split(",")));
    config.setProperty("hazelcast.logging.type", "slf4j");
    client = HazelcastClient.newHazelcastClient(config);
  }

  @Override
  public String name() {
    return Kind.HAZELCAST.word();
  }

  @Override
  public Set<Ability> abilities() {
    return EnumSet.of(Ability.WAIT, Ability.TRY);
  }

  @Override
  public LockClient connect(Duration lease) {
    return new FencedLockClient(client);
  }

  @Override
  public void shutDown() {
    client.shutdown();
  }

  private static final class FencedLockClient implements LockClient {
    private final HazelcastInstance client;
    private final Map<String, FencedLock> locks = new HashMap<>();

    FencedLockClient(HazelcastInstance client) {
      this.client = client;
    }

    @Override
    public void acquire(String lock) {
      lock(lock).lock();
    }

    @Override
    public boolean tryAcquire(String lock) {
      return lock(lock).tryLock();
    }

    @Override
    public void release(String lock) {
      lock(lock).unlock();
    }

    private FencedLock lock(String name) {
      return locks.computeIfAbsent(name, n -> client.getCPSubsystem().getLock(n));
    }

    @Override
    public void disconnect() {}
  }
}
