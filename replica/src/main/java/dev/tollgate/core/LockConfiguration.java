package dev.tollgate.core;

import dev.tollgate.core.command.LockDefinition;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RefusalCode;
import org.jspecify.annotations.Nullable;

/**
 * Creates, changes and drops the definitions of locks. A definition that allows fewer holders than
 * a lock has is refused, so that no lease loses a lock by it.
 */
final class LockConfiguration {
  private final CurrentCommand current;
  private final LockTable locks;
  private final LockGrants grants;
  private final Capacity capacity;

  LockConfiguration(ReplicatedState state, Capacity capacity) {
    this.current = state.current();
    this.locks = state.locks();
    this.grants = state.grants();
    this.capacity = capacity;
  }

  Outcome define(Operation.DefineLock operation) {
    LockName name = operation.definition().lock();
    LockDefinition known = locks.definitions().find(name);
    if (known != null) {
      return operation.lenient()
          ? new Outcome.Answered(false)
          : new Outcome.Refused(
              RefusalCode.LOCK_STATE,
              "lock '"
                  + name
                  + "' is defined already, with PERMITS "
                  + known.permits()
                  + ": change it with ALTER LOCK");
    }
    if (locks.definitions().size() >= capacity.lockDefinitions()) {
      return Capacity.exceeded(
          "the number of defined locks is",
          capacity.lockDefinitions(),
          "drop those that are not needed; view TOLLGATE.LOCK_DEFINITIONS names them");
    }
    return define(operation.definition());
  }

  Outcome change(Operation.ChangeLock operation) {
    LockName name = operation.definition().lock();
    return locks.definitions().find(name) == null
        ? unknown(name, operation.lenient())
        : define(operation.definition());
  }

  private Outcome define(LockDefinition definition) {
    Outcome.Refused refused = heldByMore(definition.lock(), definition.permits());
    if (refused != null) {
      return refused;
    }
    locks.definitions().put(definition);
    grants.permitsRaised(definition.lock(), current.nowMicros());
    return new Outcome.Answered(true);
  }

  Outcome drop(Operation.DropLock operation) {
    LockName name = operation.lock();
    if (locks.definitions().find(name) == null) {
      return unknown(name, operation.lenient());
    }
    Outcome.Refused refused = heldByMore(name, LockDefinitions.PERMITS_WITHOUT_DEFINITION);
    if (refused != null) {
      return refused;
    }
    locks.definitions().remove(name);
    return new Outcome.Answered(true);
  }

  private static Outcome unknown(LockName name, boolean lenient) {
    return lenient
        ? new Outcome.Answered(false)
        : new Outcome.Refused(
            RefusalCode.LOCK_STATE,
            "lock '" + name + "' has no definition: make one with CREATE LOCK");
  }

  private Outcome.@Nullable Refused heldByMore(LockName name, int permits) {
    Lock lock = locks.find(name);
    int holders = lock == null || lock.mode() == LockMode.SHARED ? 0 : lock.holders();
    return holders <= permits
        ? null
        : new Outcome.Refused(
            RefusalCode.LOCK_STATE,
            "lock '"
                + name
                + "' is held by "
                + holders
                + " leases, more than the "
                + permits
                + " that would be allowed: try again when enough of them have released it; view"
                + " TOLLGATE.LOCKS names them");
  }
}
