package dev.tollgate.samples.benchmark;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.Lease;
import io.etcd.jetcd.Lock;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutionException;

/** etcd through jetcd: Lock.lock on a lease that is there already, Lock.unlock. */
final class Etcd implements Contender {
  private static final long LEASE_SECONDS = 600;

  private final Client client;

  /**
   * @param endpoints http://host:port,...
   */
  Etcd(String endpoints) {
    client = Client.builder().endpoints(endpoints.split(",")).build();
  }

  @Override
  public String name() {
    return "etcd";
  }

  @Override
  public LockClient connect() throws Exception {
    Lease leases = client.getLeaseClient();
    return new EtcdClient(
        client.getLockClient(), leases, leases.grant(LEASE_SECONDS).get().getID());
  }

  @Override
  public void close() {
    client.close();
  }

  private static final class EtcdClient implements LockClient {
    private final Lock locks;
    private final Lease leases;
    private final long lease;
    private ByteSequence held = ByteSequence.EMPTY;

    EtcdClient(Lock locks, Lease leases, long lease) {
      this.locks = locks;
      this.leases = leases;
      this.lease = lease;
    }

    @Override
    public void acquire(String lock) throws InterruptedException, ExecutionException {
      ByteSequence name = ByteSequence.from(lock, StandardCharsets.UTF_8);
      held = locks.lock(name, lease).get().getKey();
    }

    @Override
    public void release(String lock) throws InterruptedException, ExecutionException {
      locks.unlock(held).get();
    }

    @Override
    public void disconnect() throws InterruptedException, ExecutionException {
      leases.revoke(lease).get();
    }
  }
}
