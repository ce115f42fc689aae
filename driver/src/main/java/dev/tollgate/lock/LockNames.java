package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Checks the names of a request before anything is asked. */
final class LockNames {
  private static final int LONGEST = 255;

  private LockNames() {}

  static List<String> checked(List<String> names, LockOptions options) {
    requireNonNull(options, "options");
    List<String> copy = List.copyOf(names);
    if (copy.isEmpty()) {
      throw new IllegalArgumentException("no lock is named: name at least one");
    }
    if (copy.size() > LockLimits.NAMES_AT_ONCE) {
      throw new IllegalArgumentException(
          copy.size()
              + " locks are named: at most "
              + LockLimits.NAMES_AT_ONCE
              + " at once (LockLimits.NAMES_AT_ONCE)");
    }
    if (copy.size() > 1 && options.isShared()) {
      throw new IllegalArgumentException("several locks at once are exclusive: not shared");
    }
    Set<String> seen = new HashSet<>();
    for (String name : copy) {
      if (name.isEmpty() || name.length() > LONGEST) {
        throw new IllegalArgumentException(
            "the name of a lock has " + name.length() + " characters: 1 to " + LONGEST);
      }
      if (!seen.add(name)) {
        throw new IllegalArgumentException("lock '" + name + "' is named twice");
      }
    }
    return copy;
  }
}
