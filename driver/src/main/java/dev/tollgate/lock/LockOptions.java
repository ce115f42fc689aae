package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** How a lock is asked for. Immutable; each method returns a changed copy. */
public final class LockOptions {
  /** Exclusive, without a wait, with the client's lease time, no interrupt on loss. */
  public static final LockOptions DEFAULT =
      new LockOptions(
          /* shared= */ false, null, null, /* fixed= */ false, null, /* interrupt= */ false);

  private static final Duration LONGEST_TTL = Duration.ofHours(24);
  private static final Duration LONGEST_KEEP = Duration.ofHours(24);
  private static final int LONGEST_OWNER = 255;

  /** Nobody waits for longer, and the monotonic clock can count it. */
  private static final Duration LONGEST_WAIT = Duration.ofDays(36_500);

  private static final Duration SHORTEST_TTL = Duration.ofMillis(100);

  private final boolean shared;
  private final @Nullable Duration wait;
  private final @Nullable Duration ttl;
  private final boolean fixed;
  private final @Nullable String owner;
  private final boolean interrupt;

  private LockOptions(
      boolean shared,
      @Nullable Duration wait,
      @Nullable Duration ttl,
      boolean fixed,
      @Nullable String owner,
      boolean interrupt) {
    this.shared = shared;
    this.wait = wait;
    this.ttl = ttl;
    this.fixed = fixed;
    this.owner = owner;
    this.interrupt = interrupt;
  }

  /** Together with other shared holders; a later exclusive request waits for all of them. */
  public LockOptions shared() {
    return new LockOptions(/* shared= */ true, wait, ttl, fixed, owner, interrupt);
  }

  LockOptions exclusive() {
    return new LockOptions(/* shared= */ false, wait, ttl, fixed, owner, interrupt);
  }

  /**
   * For how long a {@code tryAcquire} stands in the queue, in all.
   *
   * @param wait zero for an answer at once; more than a hundred years counts as a hundred years
   */
  public LockOptions waitFor(Duration wait) {
    return new LockOptions(shared, requireWait(wait), ttl, fixed, owner, interrupt);
  }

  /** Returns the wait, or the longest one. */
  static Duration requireWait(Duration wait) {
    if (requireNonNull(wait, "wait").isNegative()) {
      throw new IllegalArgumentException("wait is " + wait + ": it is zero or more");
    }
    return wait.compareTo(LONGEST_WAIT) < 0 ? wait : LONGEST_WAIT;
  }

  /**
   * How long the lock outlives this process. Heartbeats renew it until it is closed.
   *
   * @param ttl from 100 ms to 24 h
   */
  public LockOptions ttl(Duration ttl) {
    return new LockOptions(shared, wait, requireTtl(ttl), /* fixed= */ false, owner, interrupt);
  }

  /**
   * How long the lock is held at most, from its grant on: heartbeats do not renew it. It ends
   * earlier if it is closed, and later if it is extended with {@link HeldLock#extend}. If the
   * process dies or the client is closed, the cluster keeps the lock until the term is over.
   *
   * @param term from 100 ms to 24 h, instead of {@link #ttl}
   */
  public LockOptions fixedTerm(Duration term) {
    return new LockOptions(shared, wait, requireTtl(term), /* fixed= */ true, owner, interrupt);
  }

  static Duration requireTtl(Duration ttl) {
    if (requireNonNull(ttl, "ttl").compareTo(SHORTEST_TTL) < 0 || ttl.compareTo(LONGEST_TTL) > 0) {
      throw new IllegalArgumentException("ttl is " + ttl + ": a lease lives from 100 ms to 24 h");
    }
    return ttl;
  }

  static Duration requireKeep(Duration keep) {
    if (requireNonNull(keep, "keep").isNegative() || keep.compareTo(LONGEST_KEEP) > 0) {
      throw new IllegalArgumentException("keep is " + keep + ": a lock is kept from zero to 24 h");
    }
    return keep;
  }

  /** Who asks, for operators: the column OWNER of TOLLGATE.LOCKS. At most 255 characters. */
  public LockOptions owner(String owner) {
    return new LockOptions(shared, wait, ttl, fixed, requireOwner(owner), interrupt);
  }

  static String requireOwner(String owner) {
    if (requireNonNull(owner, "owner").length() > LONGEST_OWNER) {
      throw new IllegalArgumentException(
          "the owner of a lease has " + owner.length() + " characters: at most " + LONGEST_OWNER);
    }
    return owner;
  }

  /** Interrupts the thread that acquired the lock if the lock is lost before it is closed. */
  public LockOptions interruptOnLoss() {
    return new LockOptions(shared, wait, ttl, fixed, owner, /* interrupt= */ true);
  }

  boolean isShared() {
    return shared;
  }

  Duration waitTime() {
    return wait == null ? Duration.ZERO : wait;
  }

  /** For {@link LockClient#acquire(String, LockOptions)}, which has no end of its own. */
  LockOptions requireNoWait() {
    if (wait != null) {
      throw new IllegalArgumentException(
          "acquire waits for as long as it takes, and the options say to wait for "
              + wait
              + ": call tryAcquire(name, options), or leave waitFor out");
    }
    return this;
  }

  LockOptions withoutWait() {
    return new LockOptions(shared, null, ttl, fixed, owner, interrupt);
  }

  Optional<Duration> ttl() {
    return Optional.ofNullable(ttl);
  }

  boolean isFixedTerm() {
    return fixed;
  }

  Optional<String> owner() {
    return Optional.ofNullable(owner);
  }

  boolean interruptsOnLoss() {
    return interrupt;
  }
}
