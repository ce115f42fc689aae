package dev.tollgate.seal;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import javax.crypto.SecretKey;
import org.jspecify.annotations.Nullable;

/**
 * The data keys of a node, or none: then nothing is sealed, and what is sealed cannot be opened.
 * Thread-safe.
 */
public final class DataKeys {
  static final int SALT_BYTES = 16;

  /** Derived keys that are kept for opening; one for each start and each key that the log knows. */
  private static final int MOST_DERIVED = 64;

  private static final SecureRandom RANDOM = new SecureRandom();

  private static final DataKeys OFF = new DataKeys();

  private final @Nullable KeySource source;

  /** Guarded by itself. Only of entries: a file is opened once. */
  private final Map<DerivedId, SecretKey> derived =
      new LinkedHashMap<>(MOST_DERIVED, 0.75f, /* accessOrder= */ true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<DerivedId, SecretKey> eldest) {
          return size() > MOST_DERIVED;
        }
      };

  private volatile @Nullable Keys keys;

  /** What is used together: which keys there are, and with what entries are sealed. */
  private record Keys(KeyRing ring, EntryKey sealing) {}

  private record DerivedId(String keyId, String salt) {}

  /** What became of a look at the source. */
  public enum Reload {
    SAME,
    CHANGED
  }

  /**
   * The key that seals entries, and how many it has sealed. It is derived with a random salt when a
   * process starts, and when another key becomes the first one: a count is a nonce that never comes
   * again.
   */
  static final class EntryKey {
    private final DataKey of;
    private final byte[] salt;
    private final SecretKey key;
    private final AtomicLong sealed = new AtomicLong();

    EntryKey(DataKey of) {
      this.of = of;
      this.salt = newSalt();
      this.key = of.derive(salt, EntrySeal.PURPOSE);
    }

    DataKey of() {
      return of;
    }

    byte[] salt() {
      return salt;
    }

    SecretKey key() {
      return key;
    }

    long next() {
      return sealed.getAndIncrement();
    }
  }

  private DataKeys() {
    source = null;
  }

  private DataKeys(KeySource source) throws IOException {
    this.source = requireNonNull(source, "source");
    KeyRing ring = KeyRing.parse(source.read(), source.describe());
    keys = new Keys(ring, new EntryKey(ring.first()));
  }

  /** Returns the keys of a node that encrypts nothing. */
  public static DataKeys off() {
    return OFF;
  }

  /**
   * Reads the keys.
   *
   * @throws IOException if the source does not give any, or what is none
   */
  public static DataKeys read(KeySource source) throws IOException {
    return new DataKeys(source);
  }

  static byte[] newSalt() {
    byte[] salt = new byte[SALT_BYTES];
    RANDOM.nextBytes(salt);
    return salt;
  }

  /** True if there are keys, so that this node seals what it writes. */
  public boolean isOn() {
    return keys != null;
  }

  /** Where the keys are from; null if there are none. */
  public @Nullable KeySource source() {
    return source;
  }

  /** Returns the names of the keys; the first one seals. */
  public List<String> ids() {
    Keys now = keys;
    return now == null ? List.of() : now.ring().keys().stream().map(DataKey::id).toList();
  }

  /**
   * Reads the keys again. If they cannot be taken, the former ones stay.
   *
   * @param inUse names of keys with which something on the disk is sealed
   * @throws IOException if the source gives no keys, or lacks one that is in use
   */
  public synchronized Reload reload(Set<String> inUse) throws IOException {
    Keys before = keys;
    if (source == null || before == null) {
      return Reload.SAME;
    }
    KeyRing ring = KeyRing.parse(source.read(), source.describe());
    if (ring.isSameAs(before.ring())) {
      return Reload.SAME;
    }
    for (DataKey key : before.ring().keys()) {
      DataKey now = ring.find(key.id());
      if (now == null && inUse.contains(key.id())) {
        throw new IOException(
            source.describe()
                + " lacks the key '"
                + key.id()
                + "', with which files of this node are still encrypted: add its line again, until"
                + " no file uses the key");
      }
      if (now != null && !now.isSameAs(key)) {
        throw new IOException(
            source.describe()
                + " gives another key under the name '"
                + key.id()
                + "': give a new key a name of its own");
      }
    }
    boolean sameFirst = ring.first().isSameAs(before.ring().first());
    keys = new Keys(ring, sameFirst ? before.sealing() : new EntryKey(ring.first()));
    return Reload.CHANGED;
  }

  /**
   * The key with which entries are sealed.
   *
   * @throws IllegalStateException if there are no keys
   */
  EntryKey sealing() {
    return on().sealing();
  }

  /** The key with which files are sealed. */
  DataKey first() {
    return on().ring().first();
  }

  private Keys on() {
    Keys now = keys;
    if (now == null) {
      throw new IllegalStateException("there are no data keys");
    }
    return now;
  }

  /**
   * Checks that this process has a key.
   *
   * @param what is sealed with it, for the message
   * @throws KeyMissingException if it has not
   */
  DataKey require(String what, String keyId, int fingerprint) throws KeyMissingException {
    Keys now = keys;
    if (now == null) {
      throw KeyMissingException.off(what, keyId);
    }
    DataKey key = now.ring().find(keyId);
    if (key == null) {
      throw KeyMissingException.unknown(what, keyId, now.ring());
    }
    if (key.fingerprint() != fingerprint) {
      throw KeyMissingException.other(what, keyId);
    }
    return key;
  }

  /** Derives a key for opening, or returns it if it was derived lately. */
  SecretKey derived(DataKey key, byte[] salt, String purpose) {
    DerivedId id = new DerivedId(key.id(), Arrays.toString(salt));
    synchronized (derived) {
      return derived.computeIfAbsent(id, unused -> key.derive(salt, purpose));
    }
  }

  /** The names alone. */
  @Override
  public String toString() {
    return ids().toString();
  }
}
