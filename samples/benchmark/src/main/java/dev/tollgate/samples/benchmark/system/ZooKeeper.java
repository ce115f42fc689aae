package dev.tollgate.samples.benchmark.system;

import java.time.Duration;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryNTimes;

/** ZooKeeper through Curator, a session for each client: InterProcessMutex, one object a lock. */
public final class ZooKeeper implements LockSystem {
  private static final int RETRIES = 1_000;
  private static final int RETRY_MILLIS = 10;

  private final String addresses;

  /**
   * @param addresses host:port,...
   */
  ZooKeeper(String addresses) {
    this.addresses = addresses;
  }

  @Override
  public String name() {
    return Kind.ZOOKEEPER.word();
  }

  @Override
  public Set<Ability> abilities() {
    return EnumSet.complementOf(EnumSet.of(Ability.KEEP_LEASES));
  }

  @Override
  public LockClient connect(Duration lease) throws InterruptedException {
    CuratorFramework curator =
        CuratorFrameworkFactory.builder()
            .connectString(addresses)
            .sessionTimeoutMs((int) lease.toMillis())
            .connectionTimeoutMs(5_000)
            .retryPolicy(new RetryNTimes(RETRIES, RETRY_MILLIS))
            .build();
    curator.start();
    if (!curator.blockUntilConnected(30, TimeUnit.SECONDS)) {
      curator.close();
      throw new IllegalStateException("no session with ZooKeeper at " + addresses + " in 30 s");
    }
    return new CuratorClient(curator);
  }

  @Override
  public void shutDown() {}

  private static final class CuratorClient implements LockClient {
    private final CuratorFramework curator;
    private final Map<String, InterProcessMutex> mutexes = new HashMap<>();

    CuratorClient(CuratorFramework curator) {
      this.curator = curator;
    }

    @Override
    public void acquire(String lock) throws Exception {
      mutex(lock).acquire();
    }

    @Override
    public boolean tryAcquire(String lock) throws Exception {
      return mutex(lock).acquire(0, TimeUnit.MILLISECONDS);
    }

    @Override
    public void release(String lock) throws Exception {
      mutex(lock).release();
    }

    @Override
    public boolean holds(String lock) throws Exception {
      return !mutex(lock).getParticipantNodes().isEmpty();
    }

    private InterProcessMutex mutex(String lock) {
      return mutexes.computeIfAbsent(lock, name -> new InterProcessMutex(curator, "/" + name));
    }

    @Override
    public void disconnect() {
      curator.close();
    }
  }
}
