package dev.tollgate.transport;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A lease that was created by a call and that this process keeps alive, also after the session that
 * created the lease has ended. Thread-safe.
 */
public final class KeptLease implements AutoCloseable {
  private final Renewal renewal;
  private final Timekeeping environment;
  private final Runnable stop;
  private final Runnable forget;
  private final AtomicBoolean closed = new AtomicBoolean();

  KeptLease(Renewal renewal, Timekeeping environment, Runnable stop, Runnable forget) {
    this.renewal = renewal;
    this.environment = environment;
    this.stop = stop;
    this.forget = forget;
  }

  /** True if it is certain, without asking the cluster, that the lease is alive. */
  public boolean isProven() {
    return renewal.isProven(environment.nanos());
  }

  /** How long {@link #isProven} stays true if no further heartbeat succeeds. */
  public Duration remaining() {
    return renewal.remaining(environment.nanos());
  }

  /** Sends no more heartbeats; from now on only {@link #renewed} moves the end of the proof. */
  public void stopHeartbeats() {
    stop.run();
  }

  /**
   * Records that a call has renewed the lease.
   *
   * @param age time since that call began
   */
  public void renewed(Duration age) {
    renewal.renewed(environment.nanos() - age.toNanos());
  }

  /** Stops keeping the lease alive; the lease expires after its ttl. */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      forget.run();
    }
  }
}
