package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Slows down guessing: counts the failed logins of each user from each address, and spaces the next
 * ones. The user can log in from other addresses meanwhile. Thread-safe.
 *
 * <p>What is counted is bounded, and no client can make the node forget its own failures. An
 * address has counters for some users, and one counter for all others. The addresses that are
 * forgotten first are those whose last failure is the longest ago, so it takes failures from as
 * many other addresses as there are places.
 */
final class LoginDelays {
  /** Failures that cost nothing: people mistype. */
  static final int FREE_FAILURES = 3;

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

  /** The counters of an address. */
  private static final class Address {
    final Map<Long, Counter> users = new HashMap<>();
    final Counter others = new Counter();
  }

  private final LongSupplier nanos;
  private final int maxAddresses;
  private final int maxUsers;

  /** In the order of their last failures. */
  private final Map<String, Address> addresses = new LinkedHashMap<>();

  LoginDelays(ClientLimits limits, LongSupplier nanos) {
    this.nanos = requireNonNull(nanos, "nanos");
    this.maxAddresses = limits.loginAddresses();
    this.maxUsers = limits.loginUsersPerAddress();
  }

  /**
   * Returns when a login may be checked, and has later ones wait for their turn after it.
   *
   * @return the time to wait; if that is longer than {@link #LONGEST_HELD}, the login has no turn
   */
  synchronized Duration enter(String user, String address) {
    Counter counter = counterOf(user, address);
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

  /** Counts a login whose proof was wrong, or whose user does not exist. */
  synchronized void failed(String user, String address) {
    Address known = addresses.remove(address);
    if (known == null) {
      known = new Address();
    }
    addresses.put(address, known);
    if (addresses.size() > maxAddresses) {
      addresses.remove(addresses.keySet().iterator().next());
    }
    Counter counter = roomFor(user, known);
    if (isOver(counter)) {
      counter.failures = 0;
    }
    counter.failures++;
    counter.lastNanos = nanos.getAsLong();
    counter.nextNanos = Math.max(counter.nextNanos, counter.lastNanos + delayNanos(counter));
  }

  /**
   * Forgets the failures of a user at this address. The shared counter stays: it counts others too.
   */
  synchronized void succeeded(String user, String address) {
    Address known = addresses.get(address);
    if (known != null) {
      known.users.remove(keyOf(user));
    }
  }

  private @Nullable Counter counterOf(String user, String address) {
    Address known = addresses.get(address);
    if (known == null) {
      return null;
    }
    Counter own = known.users.get(keyOf(user));
    return own != null || known.users.size() < maxUsers ? own : known.others;
  }

  private Counter roomFor(String user, Address address) {
    long key = keyOf(user);
    Counter own = address.users.get(key);
    if (own == null && address.users.size() >= maxUsers) {
      address.users.values().removeIf(this::isOver);
    }
    if (own == null && address.users.size() < maxUsers) {
      own = new Counter();
      address.users.put(key, own);
    }
    return own == null ? address.others : own;
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

  /** Names may be long, and are chosen by strangers: a digest takes their place. */
  private static long keyOf(String user) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(user.getBytes(StandardCharsets.UTF_8));
      return ByteBuffer.wrap(digest).getLong();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java runtime has SHA-256", e);
    }
  }

  /** The number of addresses that are remembered. */
  synchronized int size() {
    return addresses.size();
  }
}
