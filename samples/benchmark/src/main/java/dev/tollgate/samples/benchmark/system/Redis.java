package dev.tollgate.samples.benchmark.system;

import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.params.SetParams;

/**
 * Redis through Jedis, a connection for each client: SET key owner NX PX, and a script that deletes
 * the key if it is the owner's. One server; every write is on disk (appendfsync always).
 */
public final class Redis implements LockSystem {
  private static final String RELEASE =
      "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return"
          + " 0 end";

  private final HostAndPort address;

  /**
   * @param address host:port
   */
  Redis(String address) {
    this.address = HostAndPort.from(address);
  }

  @Override
  public String name() {
    return Kind.REDIS.word();
  }

  @Override
  public Set<Ability> abilities() {
    return EnumSet.of(Ability.TRY);
  }

  @Override
  public LockClient connect(Duration lease) {
    return new JedisClient(new Jedis(address), lease);
  }

  @Override
  public void shutDown() {}

  private static final class JedisClient implements LockClient {
    private final Jedis jedis;
    private final SetParams ifFree;
    private final String owner = UUID.randomUUID().toString();
    private final String release;

    JedisClient(Jedis jedis, Duration lease) {
      this.jedis = jedis;
      this.ifFree = new SetParams().nx().px(lease.toMillis());
      this.release = jedis.scriptLoad(RELEASE);
    }

    @Override
    public void acquire(String lock) {
      if (!tryAcquire(lock)) {
        throw new IllegalStateException("lock " + lock + " is not free");
      }
    }

    @Override
    public boolean tryAcquire(String lock) {
      return jedis.set(lock, owner, ifFree) != null;
    }

    @Override
    public void release(String lock) {
      if (!Long.valueOf(1).equals(jedis.evalsha(release, List.of(lock), List.of(owner)))) {
        throw new IllegalStateException("lock " + lock + " was lost");
      }
    }

    @Override
    public void disconnect() {
      jedis.close();
    }
  }
}
