package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Slows down guessing: counts the failed logins of each user from each address, and spaces the next
 * ones. The user can log in from other addresses meanwhile. Many failures from one address slow all
 * its logins, but refuse none, because many users may share an address. Thread-safe.
 *
 * <p>What is counted is bounded. The counters that are forgotten first are those whose last failure
 * is the longest ago, so it takes as many other failures as there are places to be forgotten.
 */
final class LoginDelays {
  /** Failures that cost nothing: people mistype. */
  static final int FREE_FAILURES = 3;

  /** Failures from one address, whatever their users, that slow no login from there. */
  static final int FREE_OF_ADDRESS = 20;

  /** The time until the next login after one failure more than these; it doubles each time. */
  static final Duration FIRST_DELAY = Duration.ofMillis(250);

  /** No user waits longer than this after its last failure. */
  static final Duration LONGEST_DELAY = Duration.ofSeconds(30);

  /** A login that would have to wait longer is refused, and does not count. */
  static final Duration LONGEST_HELD = Duration.ofSeconds(2);

  /** Failures older than this do not count. */
  static final Duration REMEMBERED = Duration.ofMinutes(10);

  private static final int MOST_DOUBLINGS = 10;

  /** Failures that count together. */
  private static final class Counter {
    int failures;
    long lastNanos;
    long nextNanos;
  }

  /** Counters, in the order of their last failures. */
  private static final class Counters<K> {
    private final int most;
    private final Map<K, Counter> counters = new LinkedHashMap<>();

    Counters(int most) {
      this.most = most;
    }

    @Nullable Counter of(K key) {
      return counters.get(key);
    }

    Counter failed(K key) {
      Counter counter = counters.remove(key);
      if (counter == null) {
        counter = new Counter();
      }
      counters.put(key, counter);
      if (counters.size() > most) {
        counters.remove(counters.keySet().iterator().next());
      }
      return counter;
    }
  }

  /** A digest takes the place of the name, which may be long and is chosen by strangers. */
  private record UserAt(String address, long user) {}

  private final LongSupplier nanos;
  private final Counters<UserAt> users;
  private final Counters<String> addresses;

  LoginDelays(ClientLimits limits, LongSupplier nanos) {
    this.nanos = requireNonNull(nanos, "nanos");
    this.users = new Counters<>(limits.loginUsers());
    this.addresses = new Counters<>(limits.loginAddresses());
  }

  /**
   * Returns when a login may be checked, and has later ones wait for their turn after it.
   *
   * @return the time to wait; if that is longer than {@link #LONGEST_HELD}, the login has no turn
   */
  synchronized Duration enter(String user, String address) {
    Duration own = turnOf(users.of(new UserAt(address, keyOf(user))));
    Duration shared = slowed(addresses.of(address));
    return own.compareTo(shared) < 0 ? shared : own;
  }

  private Duration turnOf(@Nullable Counter counter) {
    if (counter == null || isOver(counter) || counter.failures <= FREE_FAILURES) {
      return Duration.ZERO;
    }
    long now = nanos.getAsLong();
    Duration wait = Duration.ofNanos(Math.max(0, counter.nextNanos - now));
    if (wait.compareTo(LONGEST_HELD) <= 0) {
      counter.nextNanos = now + wait.toNanos() + delayNanos(counter);
    }
    return wait;
  }

  private Duration slowed(@Nullable Counter counter) {
    int more = counter == null || isOver(counter) ? 0 : counter.failures - FREE_OF_ADDRESS;
    if (more <= 0) {
      return Duration.ZERO;
    }
    Duration delay = FIRST_DELAY.multipliedBy(more);
    return delay.compareTo(LONGEST_HELD) < 0 ? delay : LONGEST_HELD;
  }

  /** Counts a login whose proof was wrong, or whose user does not exist. */
  synchronized void failed(String user, String address) {
    count(users.failed(new UserAt(address, keyOf(user))));
    count(addresses.failed(address));
  }

  private void count(Counter counter) {
    if (isOver(counter)) {
      counter.failures = 0;
    }
    counter.failures++;
    counter.lastNanos = nanos.getAsLong();
    counter.nextNanos = Math.max(counter.nextNanos, counter.lastNanos + delayNanos(counter));
  }

  /** Forgets the failures of a user at this address; those of the address stay. */
  synchronized void succeeded(String user, String address) {
    users.counters.remove(new UserAt(address, keyOf(user)));
  }

  private boolean isOver(Counter counter) {
    return counter.failures > 0 && nanos.getAsLong() - counter.lastNanos > REMEMBERED.toNanos();
  }

  private static long delayNanos(Counter counter) {
    int doublings = counter.failures - FREE_FAILURES - 1;
    if (doublings < 0) {
      return 0;
    }
    long delay = FIRST_DELAY.toNanos() << Math.min(doublings, MOST_DOUBLINGS);
    return Math.min(delay, LONGEST_DELAY.toNanos());
  }

  private static long keyOf(String user) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(user.getBytes(StandardCharsets.UTF_8));
      return ByteBuffer.wrap(digest).getLong();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java runtime has SHA-256", e);
    }
  }
}
