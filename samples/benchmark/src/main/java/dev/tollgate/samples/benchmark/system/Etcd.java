package dev.tollgate.samples.benchmark.system;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KV;
import io.etcd.jetcd.Lease;
import io.etcd.jetcd.Lock;
import io.etcd.jetcd.lease.LeaseKeepAliveResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.PutOption;
import io.etcd.jetcd.support.CloseableClient;
import io.grpc.stub.StreamObserver;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;

/**
 * etcd through jetcd: one client object, and for each client a lease that is kept alive. Locks use
 * Lock.lock with that lease, and Lock.unlock. The lock service cannot try a lock without waiting: a
 * transaction does that, which puts the key if it is not there.
 */
public final class Etcd implements LockSystem {
  private final Client client;

  /** Idle leases. */
  private final List<Long> kept = new CopyOnWriteArrayList<>();

  /**
   * @param endpoints http://host:port,...
   */
  Etcd(String endpoints) {
    client = Client.builder().endpoints(endpoints.split(",")).build();
  }

  @Override
  public String name() {
    return Kind.ETCD.word();
  }

  @Override
  public Set<Ability> abilities() {
    return EnumSet.allOf(Ability.class);
  }

  @Override
  public EtcdClient connect(Duration lease) throws Exception {
    return new EtcdClient(client, grant(lease));
  }

  /**
   * Reads a key: if serializable, from a member that may be behind, else what a majority confirms.
   */
  public long read(String key, boolean serializable)
      throws InterruptedException, ExecutionException {
    return client
        .getKVClient()
        .get(
            ByteSequence.from(key, StandardCharsets.UTF_8),
            GetOption.builder().withSerializable(serializable).build())
        .get()
        .getCount();
  }

  public void write(String key) throws InterruptedException, ExecutionException {
    ByteSequence bytes = ByteSequence.from(key, StandardCharsets.UTF_8);
    client.getKVClient().put(bytes, bytes).get();
  }

  @Override
  public void keepLeases(int count, Duration lease) throws Exception {
    InParallel.run(
        count,
        number -> {
          long id = grant(lease);
          client.getLeaseClient().keepAlive(id, new KeepAliveObserver());
          kept.add(id);
        });
  }

  private long grant(Duration lease) throws InterruptedException, ExecutionException {
    return client.getLeaseClient().grant(lease.toSeconds()).get().getID();
  }

  @Override
  public void shutDown() throws Exception {
    InParallel.run(kept.size(), number -> client.getLeaseClient().revoke(kept.get(number)).get());
    client.close();
  }

  /** Reports nothing while a leader is away: a lost lease shows in what is done with it. */
  private static final class KeepAliveObserver implements StreamObserver<LeaseKeepAliveResponse> {
    @Override
    public void onNext(LeaseKeepAliveResponse value) {}

    @Override
    public void onError(Throwable failure) {}

    @Override
    public void onCompleted() {}
  }

  /** A client with a lease of its own. */
  public static final class EtcdClient implements LockClient {
    private final Lock locks;
    private final KV keys;
    private final Lease leases;
    private final long lease;
    private final CloseableClient keepAlive;
    private final Map<String, ByteSequence> held = new HashMap<>();

    EtcdClient(Client client, long lease) {
      this.locks = client.getLockClient();
      this.keys = client.getKVClient();
      this.leases = client.getLeaseClient();
      this.lease = lease;
      this.keepAlive = leases.keepAlive(lease, new KeepAliveObserver());
    }

    @Override
    public void acquire(String lock) throws InterruptedException, ExecutionException {
      held.put(lock, locks.lock(bytes(lock), lease).get().getKey());
    }

    /**
     * Acquires a lock, and returns the cluster's revision, which rises with every grant: a token.
     */
    public long acquireForToken(String lock) throws InterruptedException, ExecutionException {
      var answer = locks.lock(bytes(lock), lease).get();
      held.put(lock, answer.getKey());
      return answer.getHeader().getRevision();
    }

    @Override
    public boolean tryAcquire(String lock) throws InterruptedException, ExecutionException {
      ByteSequence key = bytes("try/" + lock);
      boolean put =
          keys.txn()
              .If(new Cmp(key, Cmp.Op.EQUAL, CmpTarget.version(0)))
              .Then(Op.put(key, key, PutOption.builder().withLeaseId(lease).build()))
              .commit()
              .get()
              .isSucceeded();
      if (put) {
        held.put(lock, key);
      }
      return put;
    }

    @Override
    public void release(String lock) throws InterruptedException, ExecutionException {
      ByteSequence key = key(lock);
      held.remove(lock);
      if (key.equals(bytes("try/" + lock))) {
        keys.delete(key).get();
      } else {
        locks.unlock(key).get();
      }
    }

    @Override
    public boolean holds(String lock) throws InterruptedException, ExecutionException {
      return keys.get(key(lock)).get().getCount() == 1;
    }

    private ByteSequence key(String lock) {
      return Objects.requireNonNull(held.get(lock), "never taken");
    }

    private static ByteSequence bytes(String text) {
      return ByteSequence.from(text, StandardCharsets.UTF_8);
    }

    @Override
    public void disconnect() throws InterruptedException, ExecutionException {
      keepAlive.close();
      leases.revoke(lease).get();
    }
  }
}
