package dev.tollgate.lock;

/** What one {@link LockClient} may have at most. What exceeds a limit is refused by its name. */
public final class LockLimits {
  /** Requests that wait for locks at the same time: each has a connection. */
  public static final int WAITING_REQUESTS = 128;

  /** Waiting requests of a lock that {@link LockClient#waiters} names. */
  public static final int WAITERS_SHOWN = 1_000;

  /** Connections for what does not wait, on a client that was made with a URL. */
  public static final int SHORT_REQUESTS = 4;

  /**
   * Works of {@link HeldLock#run} at the same time, on a client that was made with a URL: each has
   * a connection.
   */
  public static final int WORKS = 128;

  /** Leases that are alive at the same time; a lock that brings its own lease counts too. */
  public static final int LEASES = 10_000;

  /** Leases of locks that are released, kept alive for the next locks. */
  static final int SPARE_LEASES = 16;

  /** Locks that are asked for at once. */
  public static final int NAMES_AT_ONCE = 100;

  /** Listeners of one lease, or of one watched election. */
  public static final int LISTENERS = 100;

  /**
   * Leases, locks, terms of leaders, watches and observers that have listeners, candidates, and
   * requests of {@link LockClient#acquireAsync(String)}: the listeners, or the interrupt, of each
   * have a thread of their own while they do not return.
   */
  public static final int LISTENER_LANES = 1_000;

  /** Calls that wait until an earlier call of the same listeners has returned. */
  static final int LISTENER_CALLS = 1_000;

  /** Threads that call listeners while listeners return. */
  static final int LISTENER_THREADS = 4;

  /** Threads that clean up after requests whose caller has left. */
  static final int CHORE_THREADS = 2;

  private LockLimits() {}
}
