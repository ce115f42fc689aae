package dev.tollgate.shedlock;

import static java.util.Objects.requireNonNull;

import dev.tollgate.lock.HeldLock;
import dev.tollgate.lock.LockClient;
import dev.tollgate.lock.LockOptions;
import java.util.Optional;
import javax.sql.DataSource;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.support.LockException;

/**
 * ShedLock's locks in a cluster of Tollgate. No table is needed. Thread-safe.
 *
 * <p>A lock ends after {@code lockAtMostFor} by the clock of the cluster, also if this process
 * dies: heartbeats do not renew it. {@code lockAtLeastFor} is kept by the cluster, too. The longest
 * time for both is 24 h.
 */
public final class TollgateLockProvider implements ExtensibleLockProvider, AutoCloseable {
  private final LockClient client;
  private final boolean ownsClient;

  /**
   * @param client stays open when this provider is closed
   */
  public TollgateLockProvider(LockClient client) {
    this.client = requireNonNull(client, "client");
    this.ownsClient = false;
  }

  /**
   * @param dataSource of Tollgate; each request takes a connection for as long as it takes
   */
  public TollgateLockProvider(DataSource dataSource) {
    this.client = LockClient.of(requireNonNull(dataSource, "dataSource"));
    this.ownsClient = true;
  }

  /**
   * Asks for a lock, without waiting.
   *
   * @return empty if another lease has the lock, or if it is kept by {@code lockAtLeastFor}
   * @throws LockException if the cluster does not answer, or refuses the request
   * @throws IllegalArgumentException if Tollgate has no such name or time
   */
  @Override
  public Optional<SimpleLock> lock(LockConfiguration configuration) {
    long askedNanos = System.nanoTime();
    return ask(configuration)
        .map(
            held ->
                new TollgateSimpleLock(configuration, ActiveLock.onThisThread(held), askedNanos));
  }

  private Optional<HeldLock> ask(LockConfiguration configuration) {
    String name = configuration.getName();
    try {
      return client.tryAcquire(
          name, LockOptions.DEFAULT.fixedTerm(configuration.getLockAtMostFor()));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "lock '" + name + "' is not asked for: " + e.getMessage(), e);
    } catch (dev.tollgate.lock.LockException e) {
      throw new LockException("lock '" + name + "': " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new LockException("interrupted while asking for lock '" + name + "'", e);
    }
  }

  /** Locks that are held stay locked until their {@code lockAtMostFor} is over. */
  @Override
  public void close() {
    if (ownsClient) {
      client.close();
    }
  }
}
