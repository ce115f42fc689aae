package dev.tollgate.core.command;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/**
 * A right that the database knows nothing of. Rights on tables and schemas are in the database.
 *
 * @param schema of the sequence; null for the other kinds
 * @param object a pattern of lock names, see {@link #covers}, or the name of the sequence; {@link
 *     #ALL} for a right on everything
 * @param grantee a user, a role or PUBLIC
 */
public record Right(Kind kind, @Nullable String schema, String object, String grantee)
    implements Comparable<Right> {
  /** What the right allows. */
  public enum Kind {
    /** To acquire the locks whose names fit. */
    LOCK,
    /** To take the locks whose names fit from their holders. */
    FORCE,
    /** To draw numbers from the sequence. */
    SEQUENCE,
    /** To see the state of the whole cluster, but neither rows nor tokens. */
    AUDIT,
    /** To do with all locks and leases what administrators may. */
    MANAGE;

    /** True for a right on everything that there is of its kind. */
    public boolean isOnAll() {
      return this == AUDIT || this == MANAGE;
    }
  }

  /** The object of a right on everything. */
  public static final String ALL = "%";

  private static final char ANY = '%';
  private static final String ESCAPED = "\\%";

  public Right {
    requireNonNull(kind, "kind");
    requireNonNull(object, "object");
    requireNonNull(grantee, "grantee");
    if ((kind == Kind.SEQUENCE) != (schema != null)) {
      throw new IllegalArgumentException(kind + " with schema " + schema);
    }
    if (kind.isOnAll() && !object.equals(ALL)) {
      throw new IllegalArgumentException(kind + " on " + object);
    }
    if (!isPattern(object)) {
      throw new IllegalArgumentException("an object of " + object.length() + " characters");
    }
  }

  /** Returns true if a right may have this pattern, or be on a sequence of this name. */
  public static boolean isPattern(String object) {
    return !object.isEmpty()
        && object.length() <= 2 * Limits.LOCK_NAME_CHARS
        && Text.isWellFormed(object);
  }

  /**
   * Returns true if the pattern fits the name of a lock: {@code %} stands for any characters, also
   * for none, and {@code \\%} for the character itself.
   */
  public boolean covers(LockName lock) {
    String name = lock.value();
    int at = 0;
    int in = 0;
    int anyAt = -1;
    int triedTo = 0;
    while (in < name.length()) {
      boolean escaped = object.startsWith(ESCAPED, at);
      if (at < object.length() && object.charAt(at) == ANY) {
        anyAt = at++;
        triedTo = in;
      } else if (at < object.length() && object.charAt(escaped ? at + 1 : at) == name.charAt(in)) {
        at += escaped ? 2 : 1;
        in++;
      } else if (anyAt >= 0) {
        at = anyAt + 1;
        in = ++triedTo;
      } else {
        return false;
      }
    }
    while (at < object.length() && object.charAt(at) == ANY) {
      at++;
    }
    return at == object.length();
  }

  /** Returns true for a right with which a user may learn who holds this lock, and its token. */
  public boolean isOn(LockName lock) {
    return switch (kind) {
      case LOCK, FORCE, MANAGE -> covers(lock);
      case SEQUENCE, AUDIT -> false;
    };
  }

  @Override
  public int compareTo(Right other) {
    int order = grantee.compareTo(other.grantee);
    order = order == 0 ? kind.compareTo(other.kind) : order;
    order = order == 0 ? object.compareTo(other.object) : order;
    return order == 0 && schema != null && other.schema != null
        ? schema.compareTo(other.schema)
        : order;
  }

  /** What the right is on, for messages. */
  public String what() {
    return switch (kind) {
      case LOCK -> "LOCK ON '" + object + "'";
      case FORCE -> "FORCE ON '" + object + "'";
      case SEQUENCE -> "USAGE ON SEQUENCE " + schema + "." + object;
      case AUDIT -> "AUDIT ON CLUSTER";
      case MANAGE -> "MANAGE ON LOCKS";
    };
  }
}
