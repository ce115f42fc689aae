package dev.tollgate.core;

import dev.tollgate.core.command.LockDefinition;
import dev.tollgate.core.command.LockName;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What CREATE LOCK has defined, in order of creation. */
final class LockDefinitions {
  /** Permits of a lock that has no definition. */
  static final int PERMITS_WITHOUT_DEFINITION = 1;

  private final Map<LockName, LockDefinition> definitions = new LinkedHashMap<>();

  int size() {
    return definitions.size();
  }

  @Nullable LockDefinition find(LockName lock) {
    return definitions.get(lock);
  }

  /** How many leases may hold the lock exclusively at a time. */
  int permitsOf(LockName lock) {
    LockDefinition definition = definitions.get(lock);
    return definition == null ? PERMITS_WITHOUT_DEFINITION : definition.permits();
  }

  /** Adds a definition, or replaces the one of the same lock in its place. */
  void put(LockDefinition definition) {
    definitions.put(definition.lock(), definition);
  }

  void remove(LockName lock) {
    definitions.remove(lock);
  }

  List<LockDefinition> all() {
    return new ArrayList<>(definitions.values());
  }
}
