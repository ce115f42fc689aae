package dev.tollgate.sql;

import static java.util.stream.Collectors.toUnmodifiableMap;

import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The SQL functions that work on leases and locks. */
public enum LockFunction {
  CREATE_LEASE("ttl[, owner]", 1, 2, Effect.CHANGES_STATE),
  /** Must stand alone: a renewal is not a log entry, so it cannot be a part of one. */
  RENEW_LEASE("lease", 1, 1, Effect.MUST_STAND_ALONE),
  REVOKE_LEASE("lease", 1, 1, Effect.CHANGES_STATE),
  /** Waits, so it stands alone. */
  ACQUIRE_LOCK("name[, lease[, wait]]", 1, 3, Effect.MUST_STAND_ALONE),
  TRY_ACQUIRE_LOCK("name[, lease]", 1, 2, Effect.CHANGES_STATE),
  /** Waits, so it stands alone. */
  ACQUIRE_SHARED_LOCK("name[, lease[, wait]]", 1, 3, Effect.MUST_STAND_ALONE),
  TRY_ACQUIRE_SHARED_LOCK("name[, lease]", 1, 2, Effect.CHANGES_STATE),
  /** Waits, so it stands alone. */
  ACQUIRE_LOCKS("names[, lease[, wait]]", 1, 3, Effect.MUST_STAND_ALONE),
  TRY_ACQUIRE_LOCKS("names[, lease]", 1, 2, Effect.CHANGES_STATE),
  /** Waits, so it stands alone. */
  ACQUIRE_TRANSACTION_LOCK("name[, wait]", 1, 2, Effect.MUST_STAND_ALONE),
  RELEASE_LOCK("name[, lease[, keep]]", 1, 3, Effect.CHANGES_STATE),
  TRANSFER_LOCK("name, from_lease, to_lease", 3, 3, Effect.CHANGES_STATE),
  FORCE_RELEASE_LOCK("name", 1, 1, Effect.CHANGES_STATE),
  HOLDS_LOCK("name, token", 2, 2, Effect.READS),
  LOCK_TOKEN("name", 1, 1, Effect.READS);

  private enum Effect {
    READS,
    CHANGES_STATE,
    MUST_STAND_ALONE
  }

  private static final Map<String, LockFunction> BY_NAME =
      Arrays.stream(values()).collect(toUnmodifiableMap(LockFunction::name, function -> function));

  private final String parameters;
  private final int minArguments;
  private final int maxArguments;
  private final Effect effect;

  LockFunction(String parameters, int minArguments, int maxArguments, Effect effect) {
    this.parameters = parameters;
    this.minArguments = minArguments;
    this.maxArguments = maxArguments;
    this.effect = effect;
  }

  public int minArguments() {
    return minArguments;
  }

  public int maxArguments() {
    return maxArguments;
  }

  /**
   * Whether a call changes leases or locks. A call that does not may stand in a query that runs
   * locally.
   */
  public boolean changesState() {
    return effect != Effect.READS;
  }

  /** Whether a call must be the whole of its statement. */
  public boolean mustStandAlone() {
    return effect == Effect.MUST_STAND_ALONE;
  }

  /** Name and parameters, for messages: {@code acquire_lock(name[, lease[, wait]])}. */
  public String signature() {
    return name().toLowerCase(Locale.ROOT) + "(" + parameters + ")";
  }

  /** Whether the first argument is the name of a lock, or an array of such names. */
  boolean takesLockName() {
    return parameters.startsWith("name");
  }

  static @Nullable LockFunction named(String name) {
    return BY_NAME.get(name);
  }
}
