package dev.tollgate.samples.benchmark.system;

import dev.tollgate.lock.HeldLock;
import dev.tollgate.lock.LockOptions;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/** Tollgate through its Java lock API, a client object for each client. */
public final class TollgateJava implements LockClient {
  private final dev.tollgate.lock.LockClient client;
  private final LockOptions options;
  private final Map<String, HeldLock> held = new HashMap<>();

  /**
   * @param wait zero to ask on the calling thread
   */
  public TollgateJava(String url, Duration lease, Duration wait) {
    client = dev.tollgate.lock.LockClient.connect(url);
    options = LockOptions.DEFAULT.ttl(lease).waitFor(wait);
  }

  @Override
  public void acquire(String lock) throws InterruptedException {
    if (!tryAcquire(lock)) {
      throw new IllegalStateException("lock " + lock + " was not granted");
    }
  }

  @Override
  public boolean tryAcquire(String lock) throws InterruptedException {
    client.tryAcquire(lock, options).ifPresent(granted -> held.put(lock, granted));
    return held.containsKey(lock);
  }

  @Override
  public void release(String lock) {
    Objects.requireNonNull(held.remove(lock), "never taken").close();
  }

  @Override
  public void disconnect() {
    client.close();
  }
}
