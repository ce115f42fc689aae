package dev.tollgate.transport;

import java.time.Duration;

/**
 * What the driver knows of a lease, {@link Renewal} itself, for a simulated client: from when to
 * when it is proven, and whether it is lost.
 */
public final class LeaseProof {
  private final Renewal renewal;

  private LeaseProof(Renewal renewal) {
    this.renewal = renewal;
  }

  /** Of a session with its own lease. */
  public static LeaseProof ofSession(long id, Duration session, Duration lease, long sentNanos) {
    return new LeaseProof(Renewal.ofSession(id, session, lease, sentNanos));
  }

  /** Of a lease of create_lease. */
  public static LeaseProof ofLease(long id, Duration ttl, long sentNanos) {
    return new LeaseProof(new Renewal(Renewal.Kind.LEASE, id, ttl, sentNanos, () -> {}));
  }

  public long id() {
    return renewal.id();
  }

  public boolean isSession() {
    return renewal.kind() == Renewal.Kind.SESSION;
  }

  /** How often it wants to be renewed. */
  public Duration interval() {
    return renewal.interval();
  }

  public void renewed(long sentNanos) {
    renewal.renewed(sentNanos);
  }

  public void lose() {
    renewal.lose();
  }

  public boolean isLost() {
    return renewal.isLost();
  }

  public boolean isProven(long nowNanos) {
    return renewal.isProven(nowNanos);
  }
}
