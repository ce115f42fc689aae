package dev.tollgate.core.command;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What the results of statements depend on besides the log: the tables of a Java runtime, as
 * fingerprints of what the tables do. Two runtimes with equal fingerprints give equal results,
 * whatever their versions.
 *
 * @param fingerprints by the name of the part of the runtime, such as "time zones"
 * @param runtime the runtime's name for people, such as its version; not compared
 */
public record Environment(SortedMap<String, String> fingerprints, String runtime) {
  public Environment {
    fingerprints = Collections.unmodifiableSortedMap(new TreeMap<>(fingerprints));
    requireNonNull(runtime, "runtime");
    if (fingerprints.isEmpty() || fingerprints.size() > Limits.ENVIRONMENT_PARTS) {
      throw new IllegalArgumentException("an environment of " + fingerprints.size() + " parts");
    }
    fingerprints.forEach(Environment::requireShort);
    requireShort("runtime", runtime);
  }

  private static void requireShort(String part, String text) {
    if (part.length() > Limits.ENVIRONMENT_CHARS || text.length() > Limits.ENVIRONMENT_CHARS) {
      throw new IllegalArgumentException(
          "an environment with a text of more than " + Limits.ENVIRONMENT_CHARS + " characters");
    }
  }

  /** Returns true if statements give the same results in both environments. */
  public boolean computesLike(Environment other) {
    return fingerprints.equals(other.fingerprints);
  }

  /** Returns the names of the parts that differ, in order. */
  public List<String> differences(Environment other) {
    SortedMap<String, String> all = new TreeMap<>(fingerprints);
    all.putAll(other.fingerprints);
    List<String> differing = new ArrayList<>();
    for (String part : all.keySet()) {
      String mine = fingerprints.get(part);
      if (mine == null || !mine.equals(other.fingerprints.get(part))) {
        differing.add(part);
      }
    }
    return differing;
  }
}
